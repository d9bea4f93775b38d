package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
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
	one, two := Step{Block: 1, Target: "go-1", Scenario: "get-c50"}, Step{Index: 1, Block: 1, Target: "node-1", Scenario: "get-c50"}
	s := Session{Plan: Plan{Steps: []Step{one, two}}, Runs: []Run{{Step: one, Outcome: Done}, {Step: two, Outcome: Void}}}
	if s.Complete() {
		t.Error("a void run completes a session")
	}
	s.Runs = append(s.Runs, Run{Step: two, Outcome: Done})
	if !s.Complete() {
		t.Error("a repeated step does not complete its session")
	}
	if (&Session{}).Complete() {
		t.Error("a session without steps is complete")
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
