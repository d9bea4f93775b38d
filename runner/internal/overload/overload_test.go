package overload

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/load"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// TestMain makes this binary the generator too. It ends by the system call: os.Exit
// in a binary built with -race sleeps for a second.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "generator" {
		if load.Serve(context.Background(), os.Stdin, os.Stdout, nil) != nil {
			syscall.Exit(1)
		}
		syscall.Exit(0)
	}
	os.Exit(m.Run())
}

// TestServers is the short form of make overload: every fault against the real
// servers, one process each, and then whether they are what they were.
func TestServers(t *testing.T) {
	p, err := plan.New(plan.Options{CPUs: plan.CPUSets{K: 2}})
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	goServer := filepath.Join(t.TempDir(), "server-go")
	build := exec.Command("go", "build", "-o", goServer, "./server-go")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build server-go: %v: %s", err, text)
	}
	for _, name := range []string{"go-1", "node-1", "node-cluster-2"} {
		t.Run(name, func(t *testing.T) {
			target, ok := p.Target(name)
			if !ok {
				t.Fatal("no such target")
			}
			if target.Argv[0] == "node" {
				needNode(t)
			} else {
				target.Argv = []string{goServer}
			}
			r, err := Run(t.Context(), Options{Targets: []record.Target{target}, Dir: root, Logs: t.TempDir(),
				Generator: []string{os.Args[0], "generator"}, Short: true, Progress: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			s := r.Servers[0]
			if len(s.Trials) != len(faults) || s.PSSBefore == nil && hasProc() {
				t.Fatalf("%d faults of %d", len(s.Trials), len(faults))
			}
			for _, trial := range s.Trials {
				for _, c := range trial.Checks {
					if !c.OK {
						t.Errorf("%s: %s: %s, limit %s", trial.Fault, c.Name, c.Observed, c.Limit)
					}
				}
			}
			// All of these stay open, for no server's limit is reached so soon.
			if slow := s.Trials[2]; slow.Opened != uint64(short.slow) || slow.Ended != 0 || slow.Refused != 0 {
				t.Errorf("slow headers: %d opened, %d ended, %d refused", slow.Opened, slow.Ended, slow.Refused)
			}
		})
	}
}

func hasProc() bool { _, err := os.Stat("/proc/self/smaps_rollup"); return err == nil }

func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err == nil {
		return
	}
	if os.Getenv("REQUIRE_NODE") == "1" {
		t.Fatal("node is not on the PATH, and REQUIRE_NODE=1")
	}
	t.Skip("NODE IS NOT ON THE PATH: server-node IS NOT OVERLOADED")
}

// TestChecks: each limit is missed by just the trial that misses it.
func TestChecks(t *testing.T) {
	files, moment := 20, 100*time.Millisecond
	for _, c := range []struct {
		want        string // the check that fails; "" none
		spoil       func(*OverloadTrial)
		differences int
		alive       error
	}{
		{"", func(*OverloadTrial) {}, 0, nil},
		{"/healthz answers", func(x *OverloadTrial) { x.Health.Answered = 9 }, 0, nil},
		{"/healthz answers", func(x *OverloadTrial) { x.Health = OverloadHealth{} }, 0, nil}, // never asked
		{"recovers", func(x *OverloadTrial) { x.Recovery = nil }, 0, nil},
		{"same processes", func(*OverloadTrial) {}, 0, errors.New("7 is gone, 8 is new")},
		{"keeps the contract", func(*OverloadTrial) {}, 1, nil},
		{"memory is bounded", func(x *OverloadTrial) { *x.PSSPeak = 512<<20 + 1 }, 0, nil},
		{"connections are given back", func(x *OverloadTrial) { *x.FilesAfter = 29 }, 0, nil}, // 20 + 8
		{"ends such a connection", func(x *OverloadTrial) { *x.HeldMax = 13*time.Second + 1 }, 0, nil},
		{"is more than it can do", func(x *OverloadTrial) { x.AnsweredPerSec = 1501 }, 0, nil}, // of 2000
		{"gives the right answer", func(x *OverloadTrial) { x.AnsweredPerSec = 249 }, 0, nil},  // a quarter of 1000
	} {
		s := &subject{files: &files, out: OverloadServer{CapacityPerSec: 1000, P99Before: time.Millisecond}}
		held, pss, after := 13*time.Second, uint64(512<<20), 28
		x := &OverloadTrial{OfferedPerSec: 2000, AnsweredPerSec: 900, Health: OverloadHealth{Asked: 10, Answered: 10},
			Recovery: &moment, HeldMax: &held, PSSPeak: &pss, FilesAfter: &after}
		c.spoil(x)
		f := faults[0]
		f.held = sendLimit
		var failed []string
		all := s.checks(x, f, &c.differences, c.alive)
		for _, check := range all {
			if !check.OK {
				failed = append(failed, check.Name)
			}
		}
		if len(all) != 9 || strings.Join(failed, ", ") != c.want {
			t.Errorf("%q failed of %d, want %q", failed, len(all), c.want)
		}
	}
}

// TestClientSeesItsEnd: what a server ends, and when, is what the clients tell. This
// one ends each connection when it has received so many bytes.
func TestClientSeesItsEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.CopyN(io.Discard, c, 3); c.Close() }()
		}
	}()
	var y tally
	client{prefix: "ab", each: "c"}.live(t.Context(), l.Addr().String(), &y)
	if y.opened != 1 || y.ended != 1 || y.heldMax <= 0 {
		t.Errorf("a connection that is ended: %d opened, %d ended, %v", y.opened, y.ended, y.heldMax)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	y = tally{}
	client{prefix: "ab"}.live(ctx, l.Addr().String(), &y)
	if y.opened != 1 || y.ended != 0 {
		t.Errorf("a connection that is not: %d opened, %d ended", y.opened, y.ended)
	}
	l.Close()
	y = tally{}
	client{}.live(ctx, l.Addr().String(), &y)
	client{}.live(t.Context(), l.Addr().String(), &y)
	if y.opened != 0 || y.refused != 1 { // none is counted when the fault is over
		t.Errorf("a port that refuses: %d opened, %d refused", y.opened, y.refused)
	}
}

// TestHealthCountsWhatIsNotAnswered: a status that is not 200 is no answer.
func TestHealthCountsWhatIsNotAnswered(t *testing.T) {
	var n int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*healthEvery, cancel)
	h := askHealth(ctx, server.URL)
	if h.Asked < 3 || h.Answered != h.Asked-1 || h.Max < h.P99 || h.P99 < h.P50 || h.P50 <= 0 {
		t.Errorf("%+v", h)
	}
}

// TestRank: nearest rank by hand.
func TestRank(t *testing.T) {
	v := []time.Duration{10, 20, 30, 40}
	for _, c := range []struct {
		q    float64
		want time.Duration
	}{{0, 10}, {0.25, 10}, {0.26, 20}, {0.5, 20}, {0.75, 30}, {0.99, 40}, {1, 40}} {
		if got := rank(v, c.q); got != c.want {
			t.Errorf("rank %g: %d, want %d", c.q, got, c.want)
		}
	}
	if rank(nil, 0.5) != 0 {
		t.Error("rank of nothing")
	}
}

// TestIs413: the status is looked at, and the body of both forms is above 16 KiB.
func TestIs413(t *testing.T) {
	for _, text := range []string{declared, chunked} {
		for _, status := range []int{413, 201} {
			var got int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(status)
			}))
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if is413(conn, text) != (status == 413) || got != 20_000 {
				t.Errorf("%.60q: status %d, %d bytes", text, status, got)
			}
			server.Close()
		}
	}
}

// TestMarkdown: the page says what failed, and that a short form is none.
func TestMarkdown(t *testing.T) {
	pss, moment := uint64(64<<20), 1500*time.Millisecond
	r := &OverloadRecord{Short: true, Servers: []OverloadServer{{Target: "a|b", PSSBefore: &pss, Trials: []OverloadTrial{{
		Fault: "slow headers", Length: 25 * time.Second, Connections: 1000, Opened: 3000, Ended: 2000, HeldMax: &moment, PSSPeak: &pss, Recovery: &moment,
		Checks: []record.Check{{Name: "one", OK: true}, {Name: "two", Observed: "3\n|", Limit: "2"}},
	}}}}}
	if r.Passed() {
		t.Error("it passed")
	}
	text := Markdown(r)
	for _, want := range []string{"A short form", `**a\|b**`, "3000 opened, 2000 ended by the server, the longest held 1.5 s", `FAILED two: 3 \| (limit 2)`, "| 64, n/a | n/a | 1.5 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if data, err := json.Marshal(r.Servers[0].Trials); err != nil || strings.Contains(string(data), "null") {
		t.Errorf("what is unknown is absent: %v %s", err, data)
	}
	data, err := json.Marshal(r)
	if again := new(OverloadRecord); err != nil || json.Unmarshal(data, again) != nil || Markdown(again) != text {
		t.Error("the record gives another page than the run")
	}
}
