package session

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/memory"
	"gonogo/runner/record"
)

var postUser = []record.Request{{Method: "POST", Path: "/users", Body: `{"name":"User {id}","email":"user{id}@example.com"}`, WantStatus: 201}}

// byCount is a plan of one memory scenario by count.
func byCount(r []record.Request, w record.MemoryWork, targets ...record.Target) *record.Plan {
	p := planOf([]record.Scenario{{Name: "memory", Kind: record.Memory, Requests: r, Connections: 4, Work: &w}}, targets...)
	p.Kind = record.Memory
	p.Rules.Memory = &record.MemoryRules{GrowthMin: 0.02, GrowthP: 0.05, GrowthCycles: 6, SamplerCostMax: 0.03}
	return p
}

// evaluated is what findings say of the runs of a plan.
func evaluated(t *testing.T, p *record.Plan) (outcome, *findings.Memory) {
	t.Helper()
	o := execute(t, t.Context(), p, nil)
	if o.err != nil {
		t.Fatal(o.err)
	}
	return o, memoryOf(t, p, o)
}

func memoryOf(t *testing.T, p *record.Plan, o outcome) *findings.Memory {
	t.Helper()
	s := record.Session{SchemaVersion: record.SchemaVersion, Plan: *p}
	for _, r := range o.runs {
		s.Runs = append(s.Runs, *r)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	return findings.Evaluate(&s).Memory
}

// One server takes twice as long for each request: by time it would store half as
// many users. By count both store the same (method R5).
func TestEqualWorkWhateverTheSpeed(t *testing.T) {
	cluster := target("cluster", "-workers", "2")
	cluster.Workers = 2
	p := byCount(postUser, record.MemoryWork{Requests: 400, Stores: true, Cycles: 1, Rests: []time.Duration{time.Millisecond, 20 * time.Millisecond}},
		target("fast", "-delay", "1ms"), target("slow", "-delay", "2ms"), cluster)
	o, _ := evaluated(t, p)
	start := map[string]uint64{"fast": 10_000, "slow": 10_000, "cluster": 20_000} // each worker has its own users
	for _, r := range o.runs {
		if r.Outcome != record.Done {
			t.Fatalf("%s: %s %s", r.Step.Target, r.Outcome, r.Reason)
		}
		c := r.Memory.Cycles[0]
		if c.Users == nil || *c.Users != start[r.Step.Target]+400 || r.Load.Counts.OK != 400 {
			t.Errorf("%s stores %v users after %d answers, want %d", r.Step.Target, c.Users, r.Load.Counts.OK, start[r.Step.Target]+400)
		}
		if len(c.Rests) != 2 || c.Rests[0].At < time.Millisecond || c.Rests[1].At < 20*time.Millisecond || c.Rests[1].At < c.Rests[0].At {
			t.Errorf("%s: rests at %v", r.Step.Target, c.Rests)
		}
		if r.Load.Service != nil || r.Load.Slowest != nil || r.ServerCPU != nil {
			t.Errorf("%s publishes latency or CPU time", r.Step.Target)
		}
	}
}

// A server that says 201 and keeps nothing has done other work: its cell fails.
func TestUsersThatWereNotStored(t *testing.T) {
	s := &step{run: &record.Run{}}
	w := &record.MemoryWork{Requests: 100, Cycles: 2}
	for after, ok := range map[uint64]bool{20_200: true, 20_199: false, 20_201: false, 20_000: false} {
		s.run.Checks = nil
		s.checkStored(20_000, after, w)
		if c := s.run.Checks[0]; c.OK != ok || !c.Void {
			t.Errorf("20000 before, %d after 200 were sent: %+v, want OK %v", after, c, ok)
		}
	}
}

// 200 requests a cycle that leave 64 KiB each add 12.5 MiB to a process of some tens.
// One that holds 192 MiB shows them, and what its runtime adds to that in six cycles
// is below 2 % a cycle. The race detector adds memory of its own: no upper bound.
func TestALeakGrowsAndAHoardDoesNot(t *testing.T) {
	w := record.MemoryWork{Requests: 200, Cycles: 6, Rests: []time.Duration{time.Millisecond}}
	o, m := evaluated(t, byCount(getUser, w, target("leak", "-leak", "65536"), target("hoard", "-allocate", "192")))
	for _, r := range o.runs {
		if r.Outcome != record.Done || len(r.Memory.Cycles) != 6 || r.Load.Counts.OK != 1200 {
			t.Fatalf("%s: %s %s, %d cycles", r.Step.Target, r.Outcome, r.Reason, len(r.Memory.Cycles))
		}
		if pss := r.Memory.Idle.PSS; r.Step.Target == "hoard" && (pss == nil || *pss < 192<<20) {
			t.Errorf("a server that holds 192 MiB shows %v", r.Memory.Idle)
		}
	}
	if g := m.Growth[0]; g.Trend != findings.Growing {
		t.Errorf("a leak of 12.5 MiB a cycle is %q: %+v", g.Trend, g)
	}
	if g := m.Growth[1]; g.Trend != findings.NoTrend {
		t.Errorf("a server that keeps what it has is %q: %+v", g.Trend, g)
	}
}

// A sampler that stops the server for half of the time is planted: what it costs is
// seen, in the rate and above what the plan allows.
func TestAnExpensiveSamplerIsSeen(t *testing.T) {
	inRealTime(t, func() string {
		p := byCount(getUser, record.MemoryWork{Requests: 120, Cycles: 12, Alternate: true}, target("stub", "-delay", "2ms"))
		var o outcome
		c := config(t, p, &o, nil)
		c.Sampler = func(ctx context.Context, pids []int, every time.Duration) *memory.Series {
			go func() {
				for ctx.Err() == nil {
					syscall.Kill(pids[0], syscall.SIGSTOP)
					time.Sleep(10 * time.Millisecond)
					syscall.Kill(pids[0], syscall.SIGCONT)
					time.Sleep(10 * time.Millisecond)
				}
			}()
			return memory.Watch(ctx, pids, every)
		}
		if err := Execute(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
		r := o.runs[0]
		if r.Outcome != record.Done {
			t.Fatalf("%s %s", r.Outcome, r.Reason)
		}
		for i, one := range r.Memory.Cycles {
			if on := i%4 == 0 || i%4 == 3; (one.Reads > 0) != on {
				t.Errorf("cycle %d has %d readings", i, one.Reads)
			}
		}
		cost := memoryOf(t, p, o).Sampler[0]
		if cost.Pairs != 6 || cost.Rate == nil || !cost.Above || cost.Rate.Hi > 0.9 {
			return fmt.Sprintf("half of the time is gone and the cost is %+v, rate %+v", cost, cost.Rate)
		}
		return ""
	})
}
