package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// network is a server and generators in network namespaces of their own: what they
// have in common is a pair of virtual cables, and the address of the server.
type network struct {
	t    *testing.T
	name string // begins the names of all its namespaces
}

const workersServer = "10.231.0.1" // on the loopback of the server's namespace, so that all reach it by one name

// newNetwork takes its namespaces down again however the test ends, and the cables
// with them.
func newNetwork(t *testing.T, generators int) *network {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("SKIPPED: network namespaces need the command ip (iproute2)")
	}
	n := &network{t, fmt.Sprintf("gonogo%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", n.space("s")).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: this system gives no network namespaces: %v: %s", err, out)
	}
	t.Cleanup(func() { n.remove("s") })
	n.ip("-n", n.space("s"), "address", "add", workersServer+"/32", "dev", "lo")
	n.ip("-n", n.space("s"), "link", "set", "lo", "up")
	for k := range generators {
		g := fmt.Sprintf("g%d", k)
		n.ip("netns", "add", n.space(g))
		t.Cleanup(func() { n.remove(g) })
		n.ip("link", "add", "eth0", "netns", n.space(g), "type", "veth", "peer", "name", "to-"+g, "netns", n.space("s"))
		n.ip("-n", n.space(g), "address", "add", fmt.Sprintf("10.231.%d.2/24", k+1), "dev", "eth0")
		n.ip("-n", n.space(g), "link", "set", "eth0", "up")
		n.ip("-n", n.space("s"), "address", "add", fmt.Sprintf("10.231.%d.1/24", k+1), "dev", "to-"+g)
		n.ip("-n", n.space("s"), "link", "set", "to-"+g, "up")
		n.ip("-n", n.space(g), "route", "add", workersServer, "via", fmt.Sprintf("10.231.%d.1", k+1))
	}
	return n
}

func (n *network) space(name string) string { return n.name + name }

func (n *network) ip(args ...string) {
	n.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

func (n *network) remove(name string) {
	if out, err := exec.Command("ip", "netns", "delete", n.space(name)).CombinedOutput(); err != nil {
		n.t.Errorf("the namespace %s stays: %v: %s", n.space(name), err, out)
	}
}

// started is a process in a namespace, ended with the test.
type started struct {
	*exec.Cmd
	out, err bytes.Buffer
}

func (n *network) start(space string, env []string, argv ...string) *started {
	n.t.Helper()
	p := &started{Cmd: exec.Command("ip", append([]string{"netns", "exec", n.space(space)}, argv...)...)}
	p.Env = append(os.Environ(), env...)
	p.Stdout, p.Stderr = &p.out, &p.err
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		if p.ProcessState == nil {
			p.Process.Kill()
			p.Wait()
		}
	})
	return p
}

// await polls until a server answers in its namespace.
func (n *network) await(space string, server *started) {
	n.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		listening, err := exec.Command("ip", "netns", "exec", n.space(space), "cat", "/proc/net/tcp").Output()
		if err == nil && strings.Contains(string(listening), ":1F90 ") { // 8080
			return
		}
		if time.Now().After(deadline) {
			server.Process.Kill()
			server.Wait()
			n.t.Fatalf("the server did not come up: %s", server.err.String())
		}
	}
}

const (
	workersRate   = 200 // a second, so 100 in the window
	workersWindow = 500 * time.Millisecond
	workersDelay  = 900 * time.Millisecond // long beside what a busy machine adds
)

// TestWorkers: two generators on two networks are one generator of their rate. All are
// started with one common start, the one beside the two, so that what the machine does
// meanwhile it does to all of them. A third worker is killed in its window.
func TestWorkers(t *testing.T) {
	n := newNetwork(t, 4)
	kit := theKit(t)
	server := n.start("s", []string{"HOST=" + workersServer, "PORT=8080", fmt.Sprintf("DELAY_MS=%d", workersDelay.Milliseconds())}, filepath.Join(kit, "bin", "server-go"))
	n.await("s", server)
	// Counts and merging are exact each time. That the server answers two generators as
	// fast as one is true on a machine that lets them run: it has three tries.
	var apart string
	for range 3 {
		if apart = n.workers(kit, t.TempDir()); apart == "" || t.Failed() {
			break
		}
		t.Log(apart)
	}
	if apart != "" {
		t.Error(apart)
	}
}

// workers is one try: it says by how much two generators differ from one.
func (n *network) workers(kit, dir string) (apart string) {
	t := n.t
	at := time.Now().Add(1600 * time.Millisecond) // to start, connect and warm up, whose replies take their time too
	load := func(space, worker string, connections int) *started {
		return n.start(space, []string{"GONOGO_TEST_LOCK=" + filepath.Join(dir, "lock")}, filepath.Join(kit, "bin", "gonogo"), "load", "run", "--json", "--worker", worker,
			"--start-at", at.Format(time.RFC3339Nano), "--rate", fmt.Sprint(workersRate), "--connections", fmt.Sprint(connections),
			"--warmup", "200ms", "--duration", workersWindow.String(), "http://"+workersServer+":8080/users/{id}")
	}
	one := load("g2", "0/1", 260)
	first, second, dying := load("g0", "0/2", 130), load("g1", "1/2", 130), load("g3", "1/2", 130)
	time.Sleep(time.Until(at.Add(workersWindow / 2))) // in its window; where exactly is all one
	dying.Process.Kill()
	dying.Wait()
	for _, p := range []*started{one, first, second} {
		p.Wait() // the exit code may be that of a busy machine; the record is what is judged
		if p.out.Len() == 0 {
			t.Fatalf("a worker printed no record: %s", p.err.String())
		}
	}
	file := func(name string, p *started) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, p.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, dead := file("0.json", first), file("1.json", second), file("dead.json", dying)
	_, text, errText := gonogo("load", "merge", "--json", b, a)
	alone, whole := loadRecord(t, one.out.Bytes()), loadRecord(t, []byte(text))
	hundred := record.Counts{Planned: 100, OK: 100} // 200/s for 500 ms; the answers take longer
	if alone.Result.Counts != hundred || whole.Result.Counts != hundred {
		t.Errorf("counts: one generator %+v, two %+v, want %+v; %s", alone.Result.Counts, whole.Result.Counts, hundred, errText)
	}
	for _, c := range whole.Result.Checks {
		if strings.HasPrefix(c.Name, "windows of the workers") && !c.OK {
			apart = fmt.Sprintf("%s: %s, limit %s", c.Name, c.Observed, c.Limit)
		}
	}
	pooled(t, whole, loadRecord(t, first.out.Bytes()), loadRecord(t, second.out.Bytes()))
	for _, q := range []float64{0.5, 0.75} {
		if x, y := quantile(t, alone, q), quantile(t, whole, q); x < workersDelay || !alike(x, y) {
			apart += fmt.Sprintf("p%g: one generator %v, two merged %v; ", 100*q, x, y)
		}
	}
	if dying.out.Len() > 0 || dying.ProcessState.Success() {
		t.Errorf("the worker that was to die printed %q", dying.out.String())
	}
	for _, files := range [][]string{{a}, {a, dead}, {a, a}} {
		if code, out, errText := gonogo(append([]string{"load", "merge"}, files...)...); code != exitUsage || out != "" || !strings.Contains(errText, "error: ") {
			t.Errorf("a run of which a worker is missing was merged from %v: exit %d, %q, %q", files, code, out, errText)
		}
	}
	return apart
}

// pooled holds merged percentiles to the workers' requests themselves: each worker
// has 50, and keeps the times of its 64 slowest.
func pooled(t *testing.T, whole *record.LoadRecord, parts ...*record.LoadRecord) {
	t.Helper()
	var all []time.Duration
	for _, p := range parts {
		if p.Result.Counts.OK != 50 { // every second request each
			t.Errorf("worker %d of 2: %+v, want 50 right answers", p.Spec.Worker, p.Result.Counts)
		}
		for _, s := range p.Result.Slowest {
			all = append(all, s.Done-s.Sent)
		}
	}
	slices.Sort(all)
	if len(all) != 100 {
		t.Fatalf("%d requests are kept, want 100", len(all))
	}
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	if h := whole.Result.Service; h.Count != 100 || h.Min != all[0] || h.Max != all[99] || h.Sum != sum {
		t.Errorf("merged: %d of %v to %v, in all %v; of the requests themselves 100 of %v to %v, in all %v", h.Count, h.Min, h.Max, h.Sum, all[0], all[99], sum)
	}
	for _, q := range []float64{0.5, 0.75, 0.9, 0.95, 0.99, 1} {
		want := all[int(math.Ceil(q*100))-1] // nearest rank
		if got := quantile(t, whole, q); !alike(got, want) {
			t.Errorf("p%g: merged %v, of the requests themselves %v", 100*q, got, want)
		}
	}
}

func quantile(t *testing.T, r *record.LoadRecord, q float64) time.Duration {
	t.Helper()
	h, err := histogram.Decode(r.Result.Service)
	if err != nil {
		t.Fatal(err)
	}
	return h.Quantile(q)
}

// alike allows what histograms of 3 digits round to, and nothing more.
func alike(a, b time.Duration) bool { return math.Abs(float64(a-b)) <= 0.001*float64(b) }

func loadRecord(t *testing.T, text []byte) *record.LoadRecord {
	t.Helper()
	var r record.LoadRecord
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	return &r
}
