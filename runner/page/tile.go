package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// tile is a fact of the first screen.
type tile struct {
	Name  string
	Big   []value
	Small []value
}

func (v view) tiles(head map[string]string) []tile {
	grade, meaning, found := strings.Cut(head["grade"], ": ")
	if !found {
		grade, meaning = "–", head["grade"]
	}
	counted := 0
	for _, c := range v.e.Cells {
		counted += len(c.Processes)
	}
	return []tile{
		{"Machine grade", []value{text(grade)}, []value{text(meaning)}},
		v.noise(),
		{"Evidence", []value{{Text: fmt.Sprint(counted), Number: float64(counted), Metric: "runs", Stat: "counted"}},
			[]value{text(fmt.Sprintf("fresh processes that count, of %d that ran; blocks: %d; discarded: %d, all listed below", len(v.s.Runs), v.s.Plan.Blocks, len(v.e.Discarded)))}},
	}
}

// noise is the largest noise floor of each metric. One for all would say of memory
// what is true of p99 alone.
func (v view) noise() tile {
	var floors []record.Verdict
	for _, d := range v.e.Verdicts {
		if d.NoiseFloor == nil {
			continue
		}
		i := slices.IndexFunc(floors, func(o record.Verdict) bool { return o.Primary.Metric == d.Primary.Metric })
		switch {
		case i < 0:
			floors = append(floors, d)
		case *d.NoiseFloor > *floors[i].NoiseFloor:
			floors[i] = d
		}
	}
	if len(floors) == 0 {
		return tile{"Noise floor", []value{text("not known")}, []value{text("no A/A twin was compared with its original")}}
	}
	floor := func(d record.Verdict) value {
		return ratioOf(d, "noise", *d.NoiseFloor, fmt.Sprintf("%.1f", *d.NoiseFloor*100))
	}
	least := slices.MinFunc(floors, func(a, b record.Verdict) int { return cmp.Compare(*a.NoiseFloor, *b.NoiseFloor) })
	most := slices.MaxFunc(floors, func(a, b record.Verdict) int { return cmp.Compare(*a.NoiseFloor, *b.NoiseFloor) })
	t := tile{Name: "Noise floor", Big: []value{text("±"), floor(least), text(" %")}, Small: []value{text("two copies of one server differ by up to: ")}}
	if len(floors) > 1 {
		t.Big = append([]value{text("±"), floor(least), text(" to ")}, floor(most), text(" %"))
	}
	for i, d := range floors {
		lead := metricWord(d.Primary) + " ±"
		if i > 0 {
			lead = ", " + lead
		}
		t.Small = append(t.Small, text(lead), floor(d), text("\u00a0%"))
	}
	t.Small = append(t.Small, text("; a smaller difference is none"))
	return t
}
