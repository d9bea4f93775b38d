package session

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// Planted truths of method M4: real processes are stopped, and the record that is
// left has to say which. The generator and the meter have a CPU, the server another;
// a hiccup on the generator's CPU is what the machine's fault looks like where there
// is no third.

// victims are the processes of a run under load.
type victims struct{ server, generator, meter int }

// stopFor is far above what a busy machine does by itself.
const stopFor = 600 * time.Millisecond

func stop(t *testing.T, pids ...int) {
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Errorf("stop %d: %v", pid, err)
		}
	}
	time.Sleep(stopFor) // what is planted lasts as long
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGCONT)
	}
}

// plants are what happens to a target's run, by the target's name.
var plants = map[string]func(*testing.T, victims){
	"server":    func(t *testing.T, v victims) { stop(t, v.server) },
	"machine":   func(t *testing.T, v victims) { stop(t, v.server, v.meter) },
	"generator": func(t *testing.T, v victims) { stop(t, v.generator) },
	"stalls":    func(t *testing.T, v victims) { syscall.Kill(v.server, syscall.SIGUSR1) },
	// Somebody reads the memory of the server over and over, and each time it waits.
	"read": func(_ *testing.T, v victims) {
		for range 2 {
			syscall.Kill(v.server, syscall.SIGSTOP)
			time.Sleep(stopFor * 3 / 4)
			syscall.Kill(v.server, syscall.SIGCONT)
			time.Sleep(10 * time.Millisecond)
		}
	},
}

// planted runs blocks of one target and plants what its name says in some of them,
// then two more blocks if findings ask for them. It returns what findings make of its maximum, or why one of the runs does not count.
func planted(t *testing.T, name string, blocks int, in ...int) (*findings.Maximum, error) {
	t.Helper()
	sets, err := host.Split()
	if err != nil || len(sets.One) == 0 || len(sets.OneGenerator) == 0 || sets.One[0] == sets.OneGenerator[0] {
		t.Skip("a server and its generator need a CPU each")
	}
	x := target(name, "-delay=2ms", "-stall-for="+stopFor.String())
	x.CPUs, x.GeneratorCPUs = sets.One, sets.OneGenerator
	// No warm-up: whatever the server is asked after the spot check is in the window.
	sc := record.Scenario{Name: "get-c4", Kind: record.Closed, Requests: getUser, Connections: 4, Window: 2 * stopFor}
	p := planOf([]record.Scenario{sc}, x)
	p.Steps, p.Rules.ConfirmStepsMax = nil, 2
	for b := 1; b <= blocks+2; b++ {
		p.Steps = append(p.Steps, record.Step{Index: b - 1, Block: b, Target: name, Scenario: sc.Name})
	}
	p.Steps, p.Confirm = p.Steps[:blocks], p.Steps[blocks:]
	var o outcome
	var planting sync.WaitGroup
	defer planting.Wait()
	c := config(t, p, &o, nil)
	c.Meter = []string{os.Args[0], "meter"}
	kept := c.Observe
	c.Observe = func(e Event) {
		kept(e)
		for _, b := range in {
			if e.Run == nil && e.Step.Block == b {
				log := c.LogPath(e.Step, e.Attempt)
				planting.Go(func() {
					if v, ok := underLoad(t, log); ok {
						plants[name](t, v)
					}
				})
			}
		}
	}
	if err := Execute(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	s := &record.Session{SchemaVersion: record.SchemaVersion, Plan: *p, Finished: time.Now()}
	if err := take(s, &o); err != nil {
		return nil, err
	}
	if steps := findings.Confirm(s); len(steps) > 0 {
		if err := Confirm(t.Context(), c, nil, steps); err != nil {
			t.Fatal(err)
		}
		if err := take(s, &o); err != nil {
			return nil, err
		}
	}
	return findings.Evaluate(s).Cells[0].Maximum, nil
}

// take moves the runs of an outcome into a session.
func take(s *record.Session, o *outcome) error {
	for _, r := range o.runs {
		if r.Outcome != record.Done {
			return fmt.Errorf("%s is %s: %s", r.Step.Key(), r.Outcome, r.Reason)
		}
		s.Runs = append(s.Runs, *r)
	}
	o.runs = nil
	return nil
}

// underLoad waits until the server has been asked more than a spot check asks, and
// tells the processes of the run.
func underLoad(t *testing.T, log string) (victims, bool) {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		var ready struct {
			Port int
			PIDs []int
		}
		text, err := os.ReadFile(log)
		_, line, _ := strings.Cut("\n"+string(text), "\n{") // a traced one writes before it is ready
		line, _, _ = strings.Cut(line, "\n")
		if err != nil || json.Unmarshal([]byte("{"+line), &ready) != nil || ready.Port == 0 {
			continue
		}
		var health struct{ Requests []uint64 }
		reply, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/healthz", ready.Port))
		if err != nil {
			continue
		}
		err = json.NewDecoder(reply.Body).Decode(&health)
		reply.Body.Close()
		if err == nil && len(health.Requests) == 1 && health.Requests[0] > 50 {
			return victims{ready.PIDs[0], child(t, "generator"), child(t, "meter")}, true
		}
	}
	t.Error("no load came")
	return victims{}, false
}

// child is the PID of this process's child with that word in its command line.
func child(t *testing.T, word string) int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		argv, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && strings.Contains(string(argv), "\x00"+word+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid
		}
	}
	t.Errorf("no %s", word)
	return -1
}

func TestPlantedMaxima(t *testing.T) {
	for _, c := range []struct {
		plant    string
		blocks   int
		in       []int
		class    findings.Class
		standing findings.Standing
		confirms int // runs made to confirm it
	}{
		{"server", 2, []int{2}, findings.Unexplained, findings.Undetermined, 0},
		{"machine", 2, []int{2}, findings.Host, findings.Artefact, 0},
		{"generator", 2, []int{2}, findings.Generator, findings.Artefact, 0},
		{"stalls", 3, []int{2}, findings.Unexplained, findings.Undetermined, 2},
		{"stalls", 3, []int{1, 2, 3}, findings.Unexplained, findings.Reproduced, 0},
		{"read", 4, []int{3}, findings.Unexplained, findings.Undetermined, 2},
	} {
		t.Run(fmt.Sprintf("%s in %d of %d", c.plant, len(c.in), c.blocks), func(t *testing.T) {
			// A machine that tests is rarely quiet, and its own stalls are real ones: the
			// truth is known only if nothing else was as slow.
			for range 4 {
				m, err := planted(t, c.plant, c.blocks, c.in...)
				if err != nil {
					t.Log(err)
					continue
				}
				if m.Class == c.class && m.Standing == c.standing && m.SeenIn == len(c.in) && m.Confirmed == c.confirms && m.Of == c.blocks+c.confirms {
					return
				}
				t.Log(m.Text)
			}
			t.Errorf("not once %s, %s, in %d of %d", c.class, c.standing, len(c.in), c.blocks)
		})
	}
}

// TestHogOnTheServersCPU: somebody else takes the server's CPU. No meter watches
// that one, so no maximum tells; the run is void by the gate, and carries no number.
func TestHogOnTheServersCPU(t *testing.T) {
	sets, err := host.Split()
	if err != nil || len(sets.One) == 0 {
		t.Skip("no CPU to pin to")
	}
	// The shell ends at once and the loop is nobody's child, so it counts as foreign.
	out, err := exec.Command("sh", "-c", "sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	hog, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(hog, syscall.SIGKILL)
	var set unix.CPUSet
	set.Set(sets.One[0])
	if err := unix.SchedSetaffinity(hog, &set); err != nil {
		t.Fatal(err)
	}
	x := target("hogged", "-delay=2ms")
	x.CPUs, x.GeneratorCPUs = sets.One, sets.OneGenerator
	p := planOf([]record.Scenario{closedLoop(500 * time.Millisecond)}, x)
	p.Rules = plan.DefaultRules()
	o := execute(t, t.Context(), p, nil)
	if o.err != nil || len(o.runs) != 1 {
		t.Fatalf("%d runs, %v", len(o.runs), o.err)
	}
	if r := o.runs[0]; r.Outcome != record.Void || !strings.Contains(r.Reason, "CPU used by others") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
}
