package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	stdruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/record"
)

// The test binary is also a Go server of known truth.
func TestMain(m *testing.M) {
	if plant, ok := os.LookupEnv("PLANT"); ok && os.Getenv("PROFILE") != "" {
		servePlanted(plant)
		syscall.Exit(0)
	}
	os.Exit(m.Run())
}

var (
	sink   atomic.Uint64
	shared sync.Mutex
	kept   [][]byte
)

//go:noinline
func hotFunction() {
	x := uint64(1)
	for i := range uint64(300_000) {
		x = (x*31 + i) % 65_537
	}
	sink.Add(x)
}

// lockFunction holds a lock for 2 ms in which it does nothing.
//
//go:noinline
func lockFunction() {
	shared.Lock()
	time.Sleep(2 * time.Millisecond)
	shared.Unlock()
}

//go:noinline
func leakFunction() {
	block := make([]byte, 16<<10)
	shared.Lock()
	kept = append(kept, block)
	shared.Unlock()
}

func servePlanted(plant string) {
	if os.Getenv("PROFILE") == "memory" {
		stdruntime.MemProfileRate = 16 << 10 // as large as a leak: a few hundred are enough
	}
	if os.Getenv("PROFILE") == "waits" {
		stdruntime.SetBlockProfileRate(1000)
		stdruntime.SetMutexProfileFraction(1)
	}
	private := http.NewServeMux()
	private.HandleFunc("/debug/pprof/", pprof.Index)
	private.HandleFunc("/debug/pprof/profile", pprof.Profile)
	private.HandleFunc("/debug/pprof/trace", pprof.Trace)
	fmt.Printf("{\"profile\":%q,\"pid\":%d}\n", serveOn(private), os.Getpid())
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch plant {
		case "hot":
			hotFunction()
		case "lock":
			lockFunction()
		case "leak":
			leakFunction()
		}
		io.WriteString(w, `{"ok":true}`)
	})
	_, port, _ := strings.Cut(serveOn(api), ":")
	fmt.Printf("{\"ready\":true,\"port\":%s,\"pids\":[%d]}\n", port, os.Getpid())
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
}

func serveOn(h http.Handler) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(l, h)
	return l.Addr().String()
}

var portForm = regexp.MustCompile(`"ready":true,"port":(\d+)`)

// profiled runs a planted server under eight closed connections and profiles it.
func profiled(t *testing.T, argv []string, plant, of string, window time.Duration) (*record.ProfileRun, int64) {
	t.Helper()
	target, p, err := Prepare(record.Target{Name: "planted", Argv: argv}, of, filepath.Join(t.TempDir(), "profile"))
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := exec.Command(target.Argv[0], target.Argv[1:]...)
	c.Env = append(append(os.Environ(), target.Env...), "PLANT="+plant)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	var text []byte
	for limit := time.Now().Add(20 * time.Second); !portForm.Match(text); time.Sleep(5 * time.Millisecond) {
		if text, _ = os.ReadFile(log); time.Now().After(limit) {
			t.Fatalf("the planted server is not ready: %s", text)
		}
	}
	if err := p.Find(text, 1); err != nil {
		t.Fatal(err)
	}
	if err := p.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Window(t.Context(), window)
	served := loadFor(t, "http://127.0.0.1:"+string(portForm.FindSubmatch(text)[1]), window)
	if err := p.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		text, _ = os.ReadFile(log)
		t.Fatalf("the planted server ended: %v: %s", err, text)
	}
	r, err := p.Finish("profiles/planted")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Vectors {
		t.Logf("%s %s: %d %s, %v", of, v.Name, v.Total, v.Unit, v.Functions[:min(3, len(v.Functions))])
	}
	return r, served
}

func loadFor(t *testing.T, url string, window time.Duration) int64 {
	ctx, cancel := context.WithTimeout(t.Context(), window)
	defer cancel()
	const least = 200 // however slow the machine is
	var served atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for ctx.Err() == nil || served.Load() < least && t.Context().Err() == nil {
				resp, err := client.Get(url)
				if err != nil {
					t.Errorf("load: %v", err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				served.Add(1)
			}
		})
	}
	all.Wait()
	return served.Load()
}

func goServer() []string { return []string{os.Args[0]} }

func nodeServer(t *testing.T) []string {
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("REQUIRE_NODE") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: no node")
	}
	file, err := filepath.Abs("testdata/planted.mjs")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"node", file}
}

// first is the name of the function with the largest part of a vector.
func first(t *testing.T, r *record.ProfileRun, vector string) string {
	t.Helper()
	v, ok := r.Vector(vector)
	if !ok {
		t.Fatalf("there is no vector %s", vector)
	}
	if len(v.Functions) == 0 {
		return ""
	}
	return v.Functions[0].Name
}

// names reports whether a function has a part of a vector that is worth a word.
func names(r *record.ProfileRun, vector, function string) bool {
	v, _ := r.Vector(vector)
	for _, f := range v.Functions {
		if strings.Contains(f.Name, function) && f.Cum*100 > v.Total {
			return true
		}
	}
	return false
}

func TestPlantedInGo(t *testing.T) {
	t.Parallel()
	const short = 150 * time.Millisecond
	for _, x := range []struct {
		plant, of string
		vectors   []string
		window    time.Duration
	}{
		{"hot", record.ProfileCPU, []string{record.VectorCPU}, time.Second},
		{"lock", record.ProfileWaits, []string{record.VectorLock, record.VectorMutex}, short},
		{"leak", record.ProfileMemory, []string{record.VectorLive, record.VectorAlloc}, short},
	} {
		t.Run(x.plant, func(t *testing.T) {
			r, served := profiled(t, goServer(), x.plant, x.of, x.window)
			for _, v := range x.vectors {
				if got := first(t, r, v); !strings.HasSuffix(got, "."+x.plant+"Function") {
					t.Errorf("the first of vector %s is %s, want the planted function", v, got)
				}
			}
			quiet, _ := profiled(t, goServer(), "none", x.of, x.window)
			for _, v := range x.vectors {
				if names(quiet, v, x.plant+"Function") {
					t.Errorf("vector %s of the quiet twin names the planted function", v)
				}
			}
			switch x.plant {
			case "lock": // 8 connections and 2 ms each: every request waits for the seven others
				v, _ := r.Vector(record.VectorLock)
				if each := time.Duration(v.Total / served); each < 8*time.Millisecond {
					t.Errorf("a request waits %v for the lock, want 14 ms or a little less", each)
				}
			case "leak":
				if grown := r.LiveHeap.End - r.LiveHeap.Begin; grown < served*(16<<10)*7/10 || grown > served*(16<<10)*14/10 {
					t.Errorf("%d bytes more in use after %d requests that keep 16 KiB each", grown, served)
				}
				if grown := quiet.LiveHeap.End - quiet.LiveHeap.Begin; grown > 1<<20 {
					t.Errorf("the quiet twin has %d bytes more in use", grown)
				}
			}
		})
	}
}

func TestPlantedInNode(t *testing.T) {
	t.Parallel()
	const window = 250 * time.Millisecond
	argv := nodeServer(t)
	for _, x := range []struct{ plant, of, vector string }{
		{"hot", record.ProfileCPU, record.VectorCPU},
		{"leak", record.ProfileHeap, record.VectorLive},
		{"leak", record.ProfileMemory, record.VectorAlloc},
	} {
		t.Run(x.plant+" "+x.of, func(t *testing.T) {
			r, served := profiled(t, argv, x.plant, x.of, window)
			if got := first(t, r, x.vector); !strings.HasPrefix(got, x.plant+"Function ") {
				t.Errorf("the first of vector %s is %s, want the planted function", x.vector, got)
			}
			if x.of == record.ProfileMemory {
				return
			}
			quiet, _ := profiled(t, argv, "none", x.of, window)
			if names(quiet, x.vector, x.plant+"Function") {
				t.Errorf("vector %s of the quiet twin names the planted function", x.vector)
			}
			if x.of == record.ProfileHeap { // 2000 small integers of 8 bytes, or of 4 where V8 compresses pointers
				if grown := r.LiveHeap.End - r.LiveHeap.Begin; grown < served*2000*4 {
					t.Errorf("%d bytes more in use after %d requests that keep 2000 numbers each", grown, served)
				}
				if grown := quiet.LiveHeap.End - quiet.LiveHeap.Begin; grown > 2<<20 {
					t.Errorf("the quiet twin has %d bytes more in use", grown)
				}
			}
		})
	}
}

// One request in eight blocks the thread for 30 ms: its timers are late by as much.
func TestPlantedBlockingCallInNode(t *testing.T) {
	t.Parallel()
	argv := nodeServer(t)
	r, _ := profiled(t, argv, "block", record.ProfileWaits, 300*time.Millisecond)
	if r.Loop == nil || r.Loop.P99 < 25*time.Millisecond {
		t.Errorf("the event loop is late by %+v, want p99 at 29 ms or more", r.Loop)
	}
	quiet, _ := profiled(t, argv, "none", record.ProfileWaits, 300*time.Millisecond)
	if quiet.Loop == nil || quiet.Loop.Samples == 0 || quiet.Loop.P50 >= 10*time.Millisecond {
		t.Errorf("the event loop of the quiet twin is late by %+v", quiet.Loop)
	}
}

// A trace is kept and not summed: go tool trace reads it.
func TestTraceIsKept(t *testing.T) {
	t.Parallel()
	r, _ := profiled(t, goServer(), "none", record.ProfileTrace, 100*time.Millisecond)
	if len(r.Vectors) != 0 || len(r.Files) != 1 || r.Files[0].Name != "profiles/planted/trace.out" || r.Files[0].Bytes < 1000 {
		t.Errorf("files %+v, vectors %v", r.Files, r.Vectors)
	}
}

// What does not say where it can be asked is no server that can be profiled.
func TestFindTellsWhoIsSilent(t *testing.T) {
	p := &Profiler{}
	line := "{\"profile\":\"127.0.0.1:4711\",\"pid\":1}\n"
	for _, x := range []struct {
		log string
		n   int
		ok  bool
	}{{line, 1, true}, {"hello\n" + line + line, 2, true}, {"hello\n", 1, false}, {line, 2, false},
		{"{\"profile\":\"192.0.2.1:80\",\"pid\":1}\n", 1, false}} {
		if err := p.Find([]byte(x.log), x.n); (err == nil) != x.ok {
			t.Errorf("find %d in %q: %v", x.n, x.log, err)
		}
	}
	if _, _, err := Prepare(record.Target{Name: "bun-1", Argv: []string{"bun", "x"}}, record.ProfileCPU, t.TempDir()); err == nil {
		t.Error("bun is profiled")
	}
	if err := ask(t.Context(), "http://"+serveOn(http.NotFoundHandler()), io.Discard); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a listener without profiles: %v", err)
	}
}
