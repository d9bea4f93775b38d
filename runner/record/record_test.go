package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func doneRun() Run {
	return Run{SchemaVersion: SchemaVersion, Outcome: Done, Step: Step{Block: 1, Target: "go-1", Scenario: "get-c50"},
		Load: &LoadResult{Counts: Counts{Planned: 10, OK: 7, Miss: 1, Failed: 1, TimedOut: 1, InWindow: 8}, Service: &Histogram{Count: 8}}}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Kind
		edit func(*Run)
		want string // part of the error; "" for none
	}{
		{"a latency run", Closed, func(*Run) {}, ""},
		{"latency with memory", Closed, func(r *Run) { r.Memory = &MemoryWatch{} }, "holds a memory sampler"},
		{"latency with readings", Open, func(r *Run) { r.SampledReads = 1 }, "holds a memory sampler"},
		{"memory with latency", Memory, func(r *Run) { r.Memory = &MemoryWatch{} }, "publishes latency"},
		{"memory with slowest", Memory, func(r *Run) { r.Memory, r.Load.Service, r.Load.Slowest = &MemoryWatch{}, nil, []Slow{{}} }, "publishes latency"},
		{"memory run", Memory, func(r *Run) { r.Memory, r.Load.Service = &MemoryWatch{}, nil }, ""},
		{"memory run without memory", Memory, func(r *Run) { r.Load.Service = nil }, "without memory"},
		{"lost requests", Closed, func(r *Run) { r.Load.Counts.Planned++ }, "planned 11 requests, accounted for 10"},
		{"more in the window than answered", Closed, func(r *Run) { r.Load.Counts.InWindow = 9 }, "9 replies in the window"},
		{"failed without reason", Closed, func(r *Run) { r.Outcome = Failed }, "failed without a reason"},
		{"done without load", Closed, func(r *Run) { r.Load = nil }, "without a load result"},
		{"unknown outcome", Closed, func(r *Run) { r.Outcome = "fine" }, "unknown outcome"},
		{"other schema", Closed, func(r *Run) { r.SchemaVersion = 0 }, "schema version 0"},
		{"no block", Closed, func(r *Run) { r.Step.Block = 0 }, "lacks a target"},
	} {
		r := doneRun()
		c.edit(&r)
		err := r.Validate(c.kind)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestComplete(t *testing.T) {
	var steps []Step
	for i := range 5 {
		steps = append(steps, Step{Index: i, Block: i + 1, Target: "go-1", Scenario: "get-c50"})
	}
	outcomes := func(o ...Outcome) (runs []Run) {
		for i, x := range o {
			runs = append(runs, Run{Step: steps[i], Outcome: x})
		}
		return runs
	}
	again := func(i int, o Outcome) Run { return Run{Step: steps[i], Outcome: o, Attempt: 1} }
	for _, c := range []struct {
		name string
		runs []Run
		want bool
	}{
		{"all done", outcomes(Done, Done, Done, Done, Done), true},
		{"one missing", outcomes(Done, Done, Done, Done), false},
		{"one failed", outcomes(Done, Done, Failed, Done, Done), false},
		{"one of five void: the 20 % that are allowed", outcomes(Done, Void, Done, Done, Done), true},
		{"two of five void", outcomes(Done, Void, Void, Done, Done), false},
		{"two void, one repeated", append(outcomes(Done, Void, Void, Done, Done), again(1, Done)), true},
		{"a failure repeated", append(outcomes(Done, Failed, Done, Done, Done), again(1, Done)), true},
		{"done, then repeated and failed", append(outcomes(Done, Done, Done, Done, Done), again(1, Failed)), false},
	} {
		s := Session{Plan: Plan{Steps: steps, Rules: Rules{VoidStepsMax: 0.2}}, Runs: c.runs, Finished: time.Unix(1, 0)}
		if got := s.Complete(); got != c.want {
			t.Errorf("%s: complete is %v", c.name, got)
		}
		s.Finished = time.Time{}
		if s.Complete() {
			t.Errorf("%s: complete without an end", c.name)
		}
	}
	if (&Session{Finished: time.Unix(1, 0)}).Complete() {
		t.Error("a session without steps is complete")
	}
}

// Every run of a group counts in its last attempt alone, also those that were
// not what disturbed it.
func TestSuperseded(t *testing.T) {
	st := func(target string) Step { return Step{Block: 1, Target: target, Scenario: "get-c50"} }
	other := Step{Block: 2, Target: "go-1", Scenario: "get-c50"}
	s := Session{Runs: []Run{{Step: st("go-1")}, {Step: st("node-1"), Outcome: Void}, {Step: st("go-1"), Attempt: 1}, {Step: st("node-1"), Attempt: 1}, {Step: other}}}
	if got, want := s.Superseded(), []bool{true, true, false, false, false}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// FuzzRun: what decodes and is valid survives the way to disk and back.
func FuzzRun(f *testing.F) {
	r := doneRun()
	seed, _ := json.Marshal(r)
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, b Run
		if json.Unmarshal(data, &a) != nil || a.Validate(Closed) != nil {
			return
		}
		out, err := json.Marshal(a)
		if err != nil {
			t.Skip() // a float that JSON cannot hold never came from JSON
		}
		if err := json.Unmarshal(out, &b); err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(b)
		if !reflect.DeepEqual(out, again) {
			t.Errorf("%s became %s", out, again)
		}
	})
}
