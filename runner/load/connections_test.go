package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// C30: an open loop uses its connections in rotation, so that all rest alike.
func TestRotation(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		var mu sync.Mutex
		requests := map[string]int{}
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			requests[r.RemoteAddr]++
			mu.Unlock()
			fmt.Fprint(w, "ok")
		}))
		spec := s.spec(engine, record.Request{Method: "GET", Path: "/", WantBody: "ok"})
		spec.Kind, spec.RatePerSec, spec.Connections, spec.Warmup, spec.Window = record.Open, 200, 10, 0, 500*time.Millisecond
		if _, err := Run(t.Context(), spec, nil); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		// Ten each. A reply that is held up loses its connection a turn.
		counts := slices.Sorted(maps.Values(requests))
		if len(counts) != 10 || counts[0] < 5 {
			t.Errorf("requests by connection: %v", counts)
		}
	})
}

// C31: too few descriptors are an error of their own kind.
func TestNoDescriptors(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "GONOGO_TEST_FEW_FILES="+s.Listener.Addr().String(), "GONOGO_TEST_ENGINE="+engine)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), record.ErrFiles) || !strings.Contains(string(out), "too many open files") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// fewFiles is the other process of TestNoDescriptors.
func fewFiles(address string) {
	limit := syscall.Rlimit{Cur: 64, Max: 64}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, err := Run(context.Background(), stubWith(address, os.Getenv("GONOGO_TEST_ENGINE"), 200), nil)
	fmt.Println(classify(err), err)
	os.Exit(0)
}

// C33: microseconds are not lost, and a slow start stays outside the window.
func TestWarmupIsApart(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		address, _ := startStub(t, "-slow-first=40", "-slow-delay=100ms")
		spec := stubSpec(address, engine)
		spec.Connections, spec.Warmup = 20, 500*time.Millisecond
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Timeline[0].Start != -spec.Warmup && res.Timeline[0].Start > -spec.Warmup || res.Timeline[0].Max < 100*time.Millisecond {
			t.Errorf("first second %+v", res.Timeline[0])
		}
		if p := quantile(t, res.Service, 0.9); p >= 100*time.Millisecond || p <= 0 || res.Service.Min <= 0 {
			t.Errorf("p90 %v, minimum %v", p, res.Service.Min)
		}
	})
}

// Both engines measure the same of the same server. A busy machine delays one
// or the other, so they have several turns to agree.
func TestEnginesAgree(t *testing.T) {
	address, _ := startStub(t, "-delay=20ms")
	measure := func(engine string) []time.Duration {
		spec := stubSpec(address, engine)
		spec.Kind, spec.RatePerSec, spec.Arrivals, spec.Connections, spec.Window = record.Open, 200, poisson, 50, 500*time.Millisecond
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		return []time.Duration{quantile(t, res.Response, 0.5), quantile(t, res.Service, 0.5)}
	}
	var p50 []time.Duration
	for range 8 {
		p50 = nil
		for _, engine := range Engines() {
			p50 = append(p50, measure(engine)...)
		}
		if slices.Min(p50) >= 20*time.Millisecond && slices.Max(p50) < 25*time.Millisecond {
			return
		}
	}
	t.Errorf("medians of response and service time by engine: %v, want 20 ms and little more", p50)
}

// A request costs no memory, and a connection little.
func TestMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates, and empties pools at random")
	}
	address := startNull(t)
	onEngines(t, func(t *testing.T, engine string) {
		const requests = 20_000
		measure := func(connections int) (ready, before, after runtime.MemStats) {
			spec := stubWith(address, engine, connections)
			spec.Requests, spec.Window, spec.Count, spec.Warmup = []record.Request{getNull}, 0, requests, 50*time.Millisecond
			runtime.ReadMemStats(&ready)
			_, err := Run(t.Context(), spec, func(event string) error {
				if event == "warm" {
					runtime.ReadMemStats(&before)
				} else {
					runtime.ReadMemStats(&after)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return ready, before, after
		}
		ready, before, after := measure(100)
		// A phase starts some goroutines, on the portable path one for each connection.
		if n := after.Mallocs - before.Mallocs; n > 1000 {
			t.Errorf("%d allocations in %d requests", n, requests)
		}
		few := before.TotalAlloc - ready.TotalAlloc
		ready, before, _ = measure(600)
		if per := (before.TotalAlloc - ready.TotalAlloc - few) / 500; per > 64<<10 {
			t.Errorf("%d bytes a connection", per)
		} else {
			t.Logf("%d bytes a connection", per)
		}
	})
}

func TestStartAt(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		spec := s.spec(engine, getUser)
		at := time.Now().Add(400 * time.Millisecond)
		spec.StartAt = &at
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.Start.Before(at) {
			t.Errorf("window opened at %v, before %v", res.Start, at)
		}
		past := time.Now().Add(-time.Second)
		spec.StartAt = &past
		if _, err := Run(t.Context(), spec, nil); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "would begin without this worker") {
			t.Errorf("a start that is past: %v", err)
		}
	})
}

// The seconds of a run add up to the whole.
func TestIntervals(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		spec := s.spec(engine, getUser)
		spec.Kind, spec.RatePerSec, spec.Window, spec.Intervals = record.Open, 100, 1500*time.Millisecond, true
		var seconds atomic.Int64
		res, err := RunWatched(t.Context(), spec, Hooks{Second: func(record.Slice) { seconds.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		whole := histogram.New()
		for _, in := range res.Intervals {
			h, err := histogram.Decode(in.Response)
			if err != nil {
				t.Fatal(err)
			}
			whole.Merge(h)
		}
		if len(res.Intervals) != 2 || res.Intervals[1].Length != 500*time.Millisecond || *whole.Encode() != *res.Response {
			t.Errorf("%d intervals: %d values, want %d", len(res.Intervals), whole.Count(), res.Response.Count)
		}
		if seconds.Load() == 0 {
			t.Error("nobody was told of a second")
		}
	})
}

// A server that closes, or half-closes, whatever it accepts ends the load soon,
// in an open loop with idle connections too.
func TestServerClosesAtOnce(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		for _, kind := range []record.Kind{record.Closed, record.Open} {
			for _, half := range []bool{false, true} {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					for {
						c, err := l.Accept()
						if err != nil {
							return
						}
						if half {
							c.(*net.TCPConn).CloseWrite()
							defer c.Close()
						} else {
							c.Close()
						}
					}
				}()
				spec := stubSpec(l.Addr().String(), engine)
				spec.Kind, spec.Window = kind, time.Hour
				if kind == record.Open {
					spec.RatePerSec = 1000
				}
				res, err := Run(t.Context(), spec, nil)
				if err == nil || res != nil && res.Counts.TimedOut > 0 || strings.Contains(err.Error(), record.ErrTimeout) {
					t.Errorf("%s, half %v: %v, %+v", kind, half, err, res)
				}
				l.Close()
			}
		}
	})
}
