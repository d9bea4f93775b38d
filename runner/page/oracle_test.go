package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// key names a number of the page.
type key struct{ target, scenario, metric, stat string }

// oracle works out from the records what each number of the page must be. It
// shares nothing with the page or the evaluation but the histogram's reader; only
// verdicts come from the evaluation, for whose statistics R is the oracle elsewhere.
func oracle(t *testing.T, s *record.Session, e findings.Evaluation) map[key]float64 {
	want := map[key]float64{}
	lists := map[key][]float64{}          // over processes; stat is ""
	rates := map[string]map[int]float64{} // closed loops: target/scenario, block
	counted := 0
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Outcome != record.Done {
			continue
		}
		counted++
		sc, _ := s.Plan.Scenario(r.Step.Scenario)
		name := func(metric, stat string) key { return key{r.Step.Target, r.Step.Scenario, metric, stat} }
		add := func(metric string, v float64) {
			want[name(metric, fmt.Sprintf("b%02d", r.Step.Block))] = v
			lists[name(metric, "")] = append(lists[name(metric, "")], v)
		}
		if sc.Kind == record.Memory {
			ofMemory(r, add, func(metric, stat string, v float64) { lists[name(metric, stat)] = append(lists[name(metric, stat)], v) })
			continue
		}
		l := r.Load
		rate := float64(l.Counts.InWindow) / l.Window.Seconds()
		add("rate_per_sec", rate)
		add("server_cpu_ns_per_request", float64(r.ServerCPU.User+r.ServerCPU.System)/float64(l.Counts.OK+l.Counts.Miss))
		if sc.Kind == record.Closed {
			at := r.Step.Target + "/" + r.Step.Scenario
			if rates[at] == nil {
				rates[at] = map[int]float64{}
			}
			rates[at][r.Step.Block] = rate
		}
		from := l.Service
		for stat, h := range map[string]*record.Histogram{"sent_ns": l.Service, "planned_ns": l.Response} {
			if h == nil {
				continue
			}
			if stat == "planned_ns" {
				from = h
			}
			for _, x := range ladder {
				lists[name(stat, x.name)] = append(lists[name(stat, x.name)], quantile(t, h, x.q))
			}
		}
		add("p99_ns", quantile(t, from, 0.99))
		add("max_ns", float64(from.Max))
		for _, sl := range l.Timeline {
			place := fmt.Sprint(math.Round(sl.Start.Seconds() / 0.1))
			lists[name("slice_per_sec", place)] = append(lists[name("slice_per_sec", place)], float64(sl.Right)/0.1)
		}
	}
	want[key{metric: "runs", stat: "counted"}] = float64(counted)
	condense(want, lists)
	for _, one := range []struct {
		name string
		n    float64
	}{{"p99", 100}, {"p99.9", 1000}} {
		for k, v := range want {
			if k.metric == "rate_per_sec" && k.stat == "median" {
				want[key{k.target, k.scenario, "every_" + one.name + "_ns", "median"}] = one.n / v * 1e9
			}
		}
	}
	capacityTimes(want, s, rates)
	ofVerdicts(want, e)
	return want
}

func ofMemory(r *record.Run, add func(string, float64), at func(metric, stat string, v float64)) {
	m := r.Memory
	var load []float64
	for _, x := range m.Load {
		load = append(load, float64(*x.PSS))
		at("pss_bytes", fmt.Sprint(x.At.Round(time.Second).Seconds()), float64(*x.PSS))
	}
	add("load_pss_bytes", middle(load))
	add("idle_pss_bytes", float64(*m.Idle.PSS))
	add("rest_pss_bytes", float64(*m.Rest.PSS))
	add("peak_bytes", float64(*m.PeakBytes))
}

// condense adds what summarizes a list: a place in a series is a median, a list of
// processes has its range, and the interval of its median by rank, whose cover is
// 1 - 2 x P(binomial(n, 1/2) < k) for the k-th values from both ends.
func condense(want map[key]float64, lists map[key][]float64) {
	for k, xs := range lists {
		if k.stat != "" {
			want[k] = middle(xs)
			continue
		}
		sorted := slices.Sorted(slices.Values(xs))
		n := len(sorted)
		below, term, rank := 0.0, math.Pow(0.5, float64(n)), 0
		for 2*(below+term) <= 0.05 {
			below += term
			rank++
			term *= float64(n-rank+1) / float64(rank)
		}
		if rank == 0 { // too few: the span
			rank, below = 1, math.Pow(0.5, float64(n))
		}
		for stat, v := range map[string]float64{"median": middle(xs), "min": sorted[0], "max": sorted[n-1], "n": float64(n),
			"lo": sorted[rank-1], "hi": sorted[n-rank], "confidence": 1 - 2*below} {
			want[key{k.target, k.scenario, k.metric, stat}] = v
		}
	}
}

func capacityTimes(want map[key]float64, s *record.Session, rates map[string]map[int]float64) {
	for _, t := range s.Plan.Targets {
		for _, sc := range s.Plan.Scenarios {
			own, base := rates[t.Name+"/"+sc.Name], rates[t.Base+"/"+sc.Name]
			if own == nil || base == nil {
				continue
			}
			var a, b, saved []float64
			for _, r := range own {
				a = append(a, 1e9/r)
			}
			for block, r := range base {
				b = append(b, 1e9/r)
				if o, ok := own[block]; ok {
					saved = append(saved, 1e9/r-1e9/o)
				}
			}
			for stat, v := range map[string]float64{"target": middle(a), "base": middle(b), "saved": middle(saved), "saved min": slices.Min(saved), "saved max": slices.Max(saved),
				"share of 2ms": middle(saved) / 2e6, "share of 10ms": middle(saved) / 1e7} {
				want[key{t.Name, sc.Name, "capacity_time", stat}] = v
			}
		}
	}
}

func ofVerdicts(want map[key]float64, e findings.Evaluation) {
	for _, d := range e.Verdicts {
		q := d.Primary
		for stat, v := range map[string]*float64{"ratio": d.Ratio, "lo": d.Lo, "hi": d.Hi, "p": d.Adjusted, "noise": d.NoiseFloor, "margin": &q.MarginRatio} {
			if v != nil {
				want[key{q.Target, q.Scenario, "verdict " + q.Metric, stat}] = *v
			}
		}
		want[key{q.Target, q.Scenario, "verdict " + q.Metric, "blocks"}] = float64(d.Blocks)
	}
}

func quantile(t *testing.T, r *record.Histogram, q float64) float64 {
	h, err := histogram.Decode(r)
	if err != nil {
		t.Fatal(err)
	}
	return float64(h.Quantile(q))
}

func middle(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// printed is what the text of a number must be multiplied with to give base units.
func printed(k key) float64 {
	switch {
	case k.stat == "confidence" || k.stat == "noise" || k.stat == "margin" || strings.HasPrefix(k.stat, "share"):
		return 0.01
	case k.stat == "n" || strings.HasPrefix(k.metric, "verdict"):
		return 1
	case k.metric == "capacity_time" || k.metric == "server_cpu_ns_per_request":
		return 1e3
	case strings.HasSuffix(k.metric, "_bytes"):
		return 1 << 20
	case strings.HasSuffix(k.metric, "_ns"):
		return 1e6
	}
	return 1
}

// tolerance is half a unit of the last digit that is printed: three digits, but one
// decimal for noise and three for ratios and p.
func tolerance(k key, w float64) float64 {
	switch {
	case k.stat == "noise" || k.stat == "confidence":
		return 0.000501
	case strings.HasPrefix(k.metric, "verdict"):
		return 0.000501
	}
	return 0.00501 * math.Abs(w)
}

// held checks the value of each number, and that its text is that value to three
// digits.
func held(t *testing.T, numbers []number, want map[key]float64) {
	t.Helper()
	texts := 0
	for _, n := range numbers {
		k := key{n.Target, n.Scenario, n.Metric, n.Stat}
		w, ok := want[k]
		got, err := strconv.ParseFloat(n.Value, 64)
		if !ok || err != nil || math.Abs(got-w) > 1e-9*math.Abs(w) {
			t.Errorf("%+v: the record says %v (known: %v)", n, w, ok)
			continue
		}
		if n.Tag != "DATA" {
			continue
		}
		texts++
		clean := strings.NewReplacer(narrow, "", "×", "", "%", "", "p = ", "", "p < ", "", " ", "").Replace(n.Text)
		shown, err := strconv.ParseFloat(clean, 64)
		shown *= printed(k)
		if err != nil || math.Abs(shown-w) > tolerance(k, w) {
			t.Errorf("%+v: it reads %v, the record says %v", n, shown, w)
		}
	}
	t.Logf("%d numbers held against the record, %d of them text", len(numbers), texts)
	if texts < 500 || len(numbers) < texts+500 {
		t.Errorf("%d numbers, %d of them text: the page has lost some", len(numbers), texts)
	}
}

// straight checks where marks are: in a strip, a mark twice as large is twice as far
// from the axis's origin.
func straight(t *testing.T, numbers []number) {
	t.Helper()
	slope := map[string]float64{}
	for _, n := range numbers {
		if n.X == "" || !strings.HasPrefix(n.Stat, "b0") {
			continue
		}
		x, err := strconv.ParseFloat(n.X, 64)
		v, err2 := strconv.ParseFloat(n.Value, 64)
		if err != nil || err2 != nil {
			t.Fatalf("%+v: %v %v", n, err, err2)
		}
		at := n.Figure + "/" + n.Scenario
		if slope[at] == 0 {
			slope[at] = (x - stripLeft) / v
		}
		if want := stripLeft + slope[at]*v; math.Abs(x-want) > 0.1 { // both are rounded to 0.01, and the first may be near the origin
			t.Errorf("%s of %s %s is drawn at %v, want %v", at, n.Target, n.Stat, x, want)
		}
	}
	if len(slope) < 8 {
		t.Errorf("marks in %d strips alone: %v", len(slope), slope)
	}
}
