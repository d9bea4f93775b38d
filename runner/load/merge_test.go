package load

import (
	"slices"
	"testing"
	"time"

	"gonogo/runner/record"
)

// What the generators tell of themselves is merged too, and is unknown of the
// whole when it is unknown of one.
func TestMergeOfTheGenerators(t *testing.T) {
	const ms = time.Millisecond
	worker := func(k int, ceiling float64, longest time.Duration, list ...record.Pause) record.LoadRecord {
		spec := closedSpec(2, time.Second)
		spec.Worker, spec.Workers = k, 2
		r := record.LoadResult{Kind: record.Closed, Connections: 2, Window: time.Second, CPUs: 1, Pauses: list}
		if ceiling > 0 {
			r.CeilingPerSec = &ceiling
		}
		if longest > 0 {
			r.PauseMax = &longest
		}
		return record.LoadRecord{SchemaVersion: record.SchemaVersion, Spec: spec, Result: r}
	}
	first, second := record.Pause{Start: 10 * ms, Length: 3 * ms}, record.Pause{Start: 40 * ms, Length: 2 * ms}
	third := record.Pause{Start: 20 * ms, Length: 5 * ms}
	for _, c := range []struct {
		name    string
		b       record.LoadRecord
		ceiling float64 // 0: unknown
		longest time.Duration
		list    []record.Pause
	}{
		{"both known", worker(1, 50_000, 5*ms, third), 170_000, 5 * ms, []record.Pause{first, third, second}}, // 120 000 + 50 000
		{"no pause", worker(1, 50_000, ms), 170_000, 3 * ms, []record.Pause{first, second}},
		{"one was not calibrated", worker(1, 0, 5*ms, third), 0, 5 * ms, []record.Pause{first, third, second}},
		{"one has no loop", worker(1, 50_000, 0), 170_000, 0, nil},
	} {
		for _, parts := range [][]record.LoadRecord{{worker(0, 120_000, 3*ms, first, second), c.b}, {c.b, worker(0, 120_000, 3*ms, first, second)}} {
			whole, err := Merge(parts)
			if err != nil {
				t.Fatal(c.name, err)
			}
			got := whole.Result
			if known := got.CeilingPerSec != nil; known != (c.ceiling > 0) || known && *got.CeilingPerSec != c.ceiling {
				t.Errorf("%s: ceiling %v, want %v", c.name, got.CeilingPerSec, c.ceiling)
			}
			if known := got.PauseMax != nil; known != (c.longest > 0) || known && *got.PauseMax != c.longest {
				t.Errorf("%s: longest pause %v, want %v", c.name, got.PauseMax, c.longest)
			}
			if !slices.Equal(got.Pauses, c.list) {
				t.Errorf("%s: pauses %v, want %v", c.name, got.Pauses, c.list)
			}
		}
	}
}

// Halves of a load that ran one after the other are not twice the load.
func TestWorkersThatDidNotLoadTogether(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		window, apart time.Duration
		together      bool
	}{
		{10 * time.Second, 100 * time.Millisecond, true}, // 1 % of the window
		{10 * time.Second, 101 * time.Millisecond, false},
		{10 * time.Second, 10 * time.Second, false},
		{100 * time.Millisecond, 10 * time.Millisecond, true}, // no clock need be better
		{100 * time.Millisecond, 11 * time.Millisecond, false},
	} {
		parts := make([]record.LoadRecord, 2)
		for k := range parts {
			spec := closedSpec(2, c.window)
			spec.Worker, spec.Workers = k, 2
			parts[1-k] = record.LoadRecord{SchemaVersion: record.SchemaVersion, Spec: spec,
				Result: record.LoadResult{Kind: record.Closed, Connections: 2, Window: c.window, CPUs: 1, Start: start.Add(time.Duration(k) * c.apart)}}
		}
		whole, err := Merge(parts)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(whole.Result.Checks, func(c record.Check) bool { return c.Name == "windows of the workers opened together" })
		if i < 0 || whole.Result.Checks[i].OK != c.together || !whole.Result.Checks[i].Void {
			t.Errorf("%v apart in %v: %+v", c.apart, c.window, whole.Result.Checks)
		}
	}
}
