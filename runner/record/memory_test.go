package record

import (
	"strings"
	"testing"
	"time"
)

func TestScenarioByCount(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Scenario)
		want string
	}{
		{"cycles of load and rest", func(*Scenario) {}, ""},
		{"no work by count", func(s *Scenario) { s.Work, s.Kind = nil, Closed }, ""},
		{"of latency", func(s *Scenario) { s.Kind = Closed }, "for memory alone"},
		{"no requests", func(s *Scenario) { s.Work.Requests = 0 }, "asks 0 requests"},
		{"no cycle", func(s *Scenario) { s.Work.Cycles = 0 }, "in 0 cycles"},
		{"rests backwards", func(s *Scenario) { s.Work.Rests = []time.Duration{2, 1} }, "ascending"},
		{"a rest before the end", func(s *Scenario) { s.Work.Rests = []time.Duration{-1} }, "ascending"},
		{"a pair without its second", func(s *Scenario) { s.Work.Alternate = true }, "want pairs"},
	} {
		s := Scenario{Name: "m", Kind: Memory, Work: &MemoryWork{Requests: 5, Cycles: 3, Rests: []time.Duration{1, 30}}}
		c.edit(&s)
		if err := s.validate(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// Two cycles of 5 requests, the second without the sampler.
func TestRunByCount(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Run)
		want string
	}{
		{"as asked", func(*Run) {}, ""},
		{"a request lost between", func(r *Run) { r.Memory.Cycles[0].Counts.Planned-- }, "sum up to 9 requests"},
		{"a reading lost", func(r *Run) { r.SampledReads++ }, "sum up to 3 readings, the run to 4"},
		{"a cycle lost", func(r *Run) {
			r.Memory.Cycles, r.Load.Counts, r.SampledReads = r.Memory.Cycles[:1], Counts{Planned: 5, OK: 5}, 3
		}, "1 cycles, its scenario 2"},
		{"read out of turn", func(r *Run) { r.Memory.Cycles[1].Reads, r.SampledReads = 1, 4 }, "does not ask for"},
		{"a rest too few", func(r *Run) { r.Memory.Cycles[1].Rests = nil }, "does not ask for"},
		{"latency", func(r *Run) { r.Load.Service = &Histogram{} }, "publishes latency"},
	} {
		rest := []MemoryAt{{At: 1}}
		r := Run{SchemaVersion: SchemaVersion, Outcome: Done, Step: Step{Block: 1, Target: "go-1", Scenario: "m"}, SampledReads: 3,
			Load: &LoadResult{Counts: Counts{Planned: 10, OK: 10}},
			Memory: &MemoryWatch{Cycles: []MemoryCycle{
				{Counts: Counts{Planned: 5, OK: 5}, Reads: 3, Rests: rest}, {Counts: Counts{Planned: 5, OK: 5}, Rests: rest}}}}
		c.edit(&r)
		s := Session{SchemaVersion: SchemaVersion, Runs: []Run{r}, Plan: Plan{Steps: []Step{r.Step},
			Scenarios: []Scenario{{Name: "m", Kind: Memory, Work: &MemoryWork{Requests: 5, Cycles: 2, Rests: []time.Duration{1}, Alternate: true}}}}}
		if err := s.Validate(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}
