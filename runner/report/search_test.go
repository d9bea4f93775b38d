package report

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gonogo/runner/capacity"
	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

// lightSearch is the example without what takes time to read: the search cannot be
// followed then, which is for the report to say.
func lightSearch() *record.Session {
	s := example.Capacity()
	for i := range s.Runs {
		l := s.Runs[i].Load
		l.Service, l.Intervals = nil, nil
		if i > 3 {
			l.Response = nil
		}
	}
	return s
}

func TestASpoiledSearchCanBePrinted(t *testing.T) {
	data, err := json.Marshal(lightSearch())
	if err != nil {
		t.Fatal(err)
	}
	printed := 0
	rapid.Check(t, func(t *rapid.T) {
		var s record.Session
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		spoil(rng, reflect.ValueOf(&s.Plan).Elem(), rapid.IntRange(0, 1).Draw(t, "plan"))
		spoil(rng, reflect.ValueOf(s.Plan.Rules.Capacity), rapid.IntRange(0, 2).Draw(t, "rules"))
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			spoil(rng, reflect.ValueOf(&s.Runs[rng.IntN(len(s.Runs))]).Elem(), 4)
		}
		if s.Validate() != nil {
			return
		}
		printed++
		e := findings.Evaluate(&s)
		for name, w := range Formats {
			var b bytes.Buffer
			if err := w(&b, &s, e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
	if printed == 0 {
		t.Error("nothing was printed: the test shows nothing")
	}
}

func TestCapacityText(t *testing.T) {
	search := func(end capacity.End, lo, hi float64) findings.CapacitySearch {
		return findings.CapacitySearch{Answer: capacity.Answer{End: end, Lo: lo, Hi: hi}}
	}
	for _, c := range []struct {
		name              string
		t                 findings.TargetCapacity
		rate, span, share string
		limited           string
	}{
		{"found", findings.TargetCapacity{Closed: 2000, Rate: &findings.Interval{Value: 1500, Lo: 1480, Hi: 1520}, Bound: []string{"SLO", "rate"},
			Searches: []findings.CapacitySearch{search(capacity.Found, 1480, 1520)}}, "1500", "1480..1520", "75.0 %", "p95 <= 20ms, rate"},
		{"six searches", findings.TargetCapacity{Closed: 2000, Rate: &findings.Interval{Value: 1500, Lo: 1480, Hi: 1520, Reached: true}}, "1500", "1480..1520 (95 %)", "75.0 %", ""},
		{"the generator", findings.TargetCapacity{Searches: []findings.CapacitySearch{search(capacity.ByGenerator, 900, 0), search(capacity.ByGenerator, 850, 0)}}, ">= 850", "", "", "the limit is the generator"},
		{"the generator at once", findings.TargetCapacity{Searches: []findings.CapacitySearch{search(capacity.ByGenerator, 0, 0)}}, "n/a", "", "", "the limit is the generator"},
		{"one of two", findings.TargetCapacity{Searches: []findings.CapacitySearch{search(capacity.Found, 900, 920), search(capacity.ByGenerator, 850, 0)}}, "n/a", "", "", "the limit is the generator"},
		{"disturbed", findings.TargetCapacity{Searches: []findings.CapacitySearch{search(capacity.ByMachine, 900, 950), search(capacity.OutOfTrials, 850, 940)}}, "n/a", "850..950, not confirmed", "", "the machine was too busy; trials disagree"},
		{"no rate", findings.TargetCapacity{Searches: []findings.CapacitySearch{search(capacity.NoRate, 0, 20)}}, "n/a", "", "", "no rate meets the limits"},
	} {
		rate, span, share := CapacityText(c.t)
		if rate != c.rate || span != c.span || share != c.share {
			t.Errorf("%s: %q %q %q, want %q %q %q", c.name, rate, span, share, c.rate, c.span, c.share)
		}
		if got := LimitedBy(&findings.Capacity{SLO: "p95 <= 20ms"}, c.t); got != c.limited {
			t.Errorf("%s: limited by %q, want %q", c.name, got, c.limited)
		}
	}
}

// Trials of two searches at one rate stand in one row: the median of those that have
// the percentile, and the limits that half of the failed ones missed.
func TestByRate(t *testing.T) {
	trial := func(rate float64, passed bool, unfit capacity.Limit, p95 float64, limits ...capacity.Limit) findings.RateSeen {
		return findings.RateSeen{Trial: capacity.Trial{RatePerSec: rate, Passed: passed, Unfit: unfit, Limits: limits}, P95: p95}
	}
	all := ByRate(findings.TargetCapacity{Searches: []findings.CapacitySearch{
		{Rates: []findings.RateSeen{trial(200, false, "", 30, capacity.SLO), trial(100, true, "", 4)}},
		{Rates: []findings.RateSeen{trial(100, true, "", 6), trial(200, false, "", 50, capacity.SLO, capacity.Achieved), trial(200, false, "", 40, capacity.SLO), trial(200, false, capacity.Machine, 900)}},
	}})
	if len(all) != 2 || all[0].Rate != 100 || all[1].Rate != 200 {
		t.Fatalf("%+v, want a row for 100 and one for 200", all)
	}
	low, high := all[0], all[1]
	if low.Trials != 2 || low.Passed != 2 || *low.P95 != 5 || low.P50 != nil || len(low.Missed) != 0 {
		t.Errorf("at 100: %+v", low)
	}
	if high.Trials != 3 || high.Passed != 0 || high.Unfit != 1 || *high.P95 != 40 || !slices.Equal(high.Missed, []capacity.Limit{capacity.SLO}) {
		t.Errorf("at 200: %+v", high)
	}
}

// What cannot be followed is said on the page.
func TestASearchThatCannotBeFollowedIsSaid(t *testing.T) {
	s := lightSearch()
	var b bytes.Buffer
	if err := Table(&b, s, findings.Evaluate(s)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"VOID SESSION", "the search cannot be followed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
