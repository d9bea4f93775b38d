package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonogo/runner/host"
	"gonogo/runner/record"
)

// TestOneCPU (C45): told to keep to one CPU, gonogo believes in one, gives the same
// number of workers to both sides of each pair, says that server and generator share
// the CPU, and the archive holds what the live server said and the kernel allowed.
func TestOneCPU(t *testing.T) {
	t.Parallel()
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		t.Skip("no taskset on PATH")
	}
	sets, err := host.Split()
	if err != nil {
		t.Fatal(err)
	}
	if len(sets.One) == 0 {
		t.Skip("which CPUs there are is not known here")
	}
	cpu := sets.One[0]
	u := briefUser(t, briefPlan(t, false))
	u.wrap = []string{taskset, "-c", strconv.Itoa(cpu)}
	var p record.Plan
	if err := json.Unmarshal([]byte(u.must(exitDone, "plan", "--json").out), &p); err != nil {
		t.Fatal(err)
	}
	for _, target := range p.Targets {
		if !target.Shared() || !slices.Equal(target.CPUs, []int{cpu}) || !slices.Equal(target.GeneratorCPUs, []int{cpu}) {
			t.Errorf("%s: server on %v, generator on %v, want both on %d", target.Name, target.CPUs, target.GeneratorCPUs, cpu)
		}
		if base, ok := p.Target(target.Base); ok && base.Workers != target.Workers {
			t.Errorf("%s has %d workers, %s %d", target.Name, target.Workers, base.Name, base.Workers)
		}
		told := "WORKERS="
		if target.Argv[0] == "bin/server-go" {
			told = "GOMAXPROCS="
		}
		if target.Workers > 1 && !slices.Contains(target.Env, told+strconv.Itoa(target.Workers)) {
			t.Errorf("%s is not told its %d workers: %q", target.Name, target.Workers, target.Env)
		}
	}
	// Go would take one of itself; so that its word shows that it was told, two.
	brief := briefPlan(t, false)
	for _, target := range p.Targets {
		if target.Workers == 2 && target.Argv[0] == "bin/server-go" {
			target.Base, target.Name = "", "go-1"
			brief.Targets = []record.Target{target}
		}
	}
	u = briefUser(t, brief)
	u.wrap = []string{taskset, "-c", strconv.Itoa(cpu)}
	r := u.must(exitDone, "new")
	s := u.load()
	if !slices.Equal(s.Host.CPUs, []int{cpu}) {
		t.Errorf("the machine has CPUs %v, want %d alone", s.Host.CPUs, cpu)
	}
	for _, run := range s.Runs {
		if run.Settings.GOMAXPROCS != brief.Targets[0].Workers || !slices.Equal(run.CPUsAllowed, []int{cpu}) {
			t.Errorf("%s: GOMAXPROCS %d, CPUs %v", run.Step.Key(), run.Settings.GOMAXPROCS, run.CPUsAllowed)
		}
	}
	if !strings.Contains(r.out, "share") {
		t.Errorf("the report does not say that server and generator share the CPU:\n%s", r.out)
	}
}
