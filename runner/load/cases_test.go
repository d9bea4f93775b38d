package load

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/internal/stub"
	"gonogo/runner/record"
)

// startStub starts a server of known faults as a process of its own.
func startStub(t *testing.T, flags ...string) (address string, process *os.Process) {
	t.Helper()
	argv := stub.Argv(flags...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready struct{ Port int }
	if err != nil || json.Unmarshal(line, &ready) != nil || ready.Port == 0 {
		t.Fatalf("stub said %q, %v", line, err)
	}
	return fmt.Sprintf("127.0.0.1:%d", ready.Port), cmd.Process
}

var getUser500 = record.Request{Method: "GET", Path: "/users/{id}", WantStatus: 200,
	WantBody: `{"id":"{id}","name":"User {id}","email":"user{id}@example.com"}`}

func stubSpec(address, engine string) record.LoadSpec {
	return record.LoadSpec{Address: address, Host: address, Requests: []record.Request{getUser500}, IDs: 10_000, Seed: 1,
		Kind: record.Closed, Engine: engine, Connections: 4, Window: 300 * time.Millisecond, Timeout: 5 * time.Second}
}

func stubWith(address, engine string, connections int) record.LoadSpec {
	s := stubSpec(address, engine)
	s.Connections = connections
	return s
}

// C24: a server that is stopped for 360 ms in 1.2 s of an open loop shows it. In
// a closed loop it hardly shows but in the maximum.
func TestStallIsSeen(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		const window = 1200 * time.Millisecond
		address, server := startStub(t, "-delay=1ms")
		run := func(spec record.LoadSpec) (res *record.LoadResult, stopped time.Duration) {
			var wg sync.WaitGroup
			res, err := Run(t.Context(), spec, func(event string) error {
				if event == "warm" {
					wg.Go(func() {
						time.Sleep(300 * time.Millisecond)
						server.Signal(syscall.SIGSTOP)
						begin := time.Now()
						time.Sleep(360 * time.Millisecond)
						stopped = time.Since(begin) // a busy machine may sleep longer
						server.Signal(syscall.SIGCONT)
					})
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			wg.Wait()
			conserved(t, res)
			return res, stopped
		}
		open := stubSpec(address, engine)
		open.Kind, open.RatePerSec, open.Window = record.Open, 500, window
		res, stopped := run(open)
		if res.Counts.Planned != 600 || res.Counts.OK != 600 {
			t.Errorf("counts %+v", res.Counts)
		}
		// All that were due in the first half of the stop waited for the other half.
		half := 1 - stopped.Seconds()/2/window.Seconds()
		if p := quantile(t, res.Response, half); p < stopped/2-stopped/10 {
			t.Errorf("open loop, stopped for %v: p%.0f of response time %v", stopped, 100*half, p)
		}
		// From the send 4 requests waited, one on each connection.
		if p := quantile(t, res.Service, half); p > stopped/4 {
			t.Errorf("open loop: p%.0f of service time %v: this test cannot fail", 100*half, p)
		}
		closed := stubSpec(address, engine)
		closed.Window = window
		res, stopped = run(closed)
		if res.Service.Max < stopped*3/4 || quantile(t, res.Service, 0.95) > stopped/4 {
			t.Errorf("closed loop, stopped for %v: p95 %v, maximum %v", stopped, quantile(t, res.Service, 0.95), res.Service.Max)
		}
	})
}

// C25: errors of one in a hundred are kept apart from rate and latency.
func TestSomeErrors(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		address, _ := startStub(t, "-broken=100")
		spec := stubSpec(address, engine)
		spec.Window, spec.Count = 0, 1000
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		e := res.Errors[record.ErrStatus]
		if res.Counts.Failed != 10 || res.Counts.OK != 990 || res.Service.Count != 990 || res.Counts.InWindow != 990 ||
			e.Count != 10 || !strings.Contains(e.Example, "status 500, want 200") {
			t.Errorf("counts %+v, errors %v", res.Counts, res.Errors)
		}
	})
}

// Every fault has its kind and an example that names the request.
func TestKindsOfError(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		for flag, kind := range map[string]string{
			"-silent=50":     record.ErrTimeout,
			"-hangup=50":     record.ErrClosed,
			"-truncate=50":   record.ErrTruncated,
			"-error-body=50": record.ErrLength,
			"-wrong-body=50": record.ErrBody,
			"-not-found=50":  record.ErrStatus,
			"-redirect=50":   record.ErrStatus,
		} {
			address, _ := startStub(t, flag)
			spec := stubSpec(address, engine)
			spec.Window, spec.Count, spec.Timeout = 0, 200, time.Second
			res, err := Run(t.Context(), spec, nil)
			if err != nil {
				t.Fatalf("%s: %v", flag, err)
			}
			conserved(t, res)
			if e := res.Errors[kind]; e.Count < 4 || res.Counts.Bad() != e.Count || !strings.HasPrefix(e.Example, "GET /users/") {
				t.Errorf("%s: %d %s of %+v, errors %v", flag, e.Count, kind, res.Counts, res.Errors)
			}
		}
	})
}

// C27: what was asked and what was done are told apart.
func TestRateOutOfReach(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		address, _ := startStub(t, "-delay=100ms")
		spec := stubSpec(address, engine)
		// 4 connections and 100 ms: 40/s are possible, 1000/s are asked.
		spec.Kind, spec.RatePerSec, spec.Timeout = record.Open, 1000, 300*time.Millisecond
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.Planned != 300 || res.Counts.Unfinished < 200 || res.SentInTime > 20 {
			t.Errorf("counts %+v, %d sent in time", res.Counts, res.SentInTime)
		}
		if f := failing(res); !slices.Contains(f, "sent in time") {
			t.Errorf("fails %v", f)
		}
	})
}

// C28: connections are kept: as many are accepted as were asked for, each time.
func TestConnectionsAreKept(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		var want int64
		for _, connections := range []int{50, 300, 50} {
			spec := s.spec(engine, getUser)
			spec.Connections, spec.Warmup, spec.Window = connections, 0, 150*time.Millisecond
			res, err := Run(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			conserved(t, res)
			if want += int64(connections); s.accepted.Load() != want || res.NewDials != 0 || res.Connections != connections {
				t.Errorf("%d accepted, want %d; %d new dials, %d at the end", s.accepted.Load(), want, res.NewDials, res.Connections)
			}
		}
	})
}
