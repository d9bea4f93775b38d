package recount

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/histogram"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

// TestQuantileByHand: values below 2048 ns have a bucket each, so nearest rank can
// be counted on the sorted values themselves: rank ceil(q n).
func TestQuantileByHand(t *testing.T) {
	var xs []time.Duration
	for i := range 1000 {
		xs = append(xs, time.Duration(i+1)) // 1..1000 ns
	}
	d := decoded(t, xs)
	for permille, want := range map[uint64]int64{
		500:  500,  // ceil(0.5 x 1000) = 500th
		990:  990,  // 990th
		999:  999,  // 999th
		1:    1,    // 1st: the minimum
		0:    1,    // likewise
		501:  501,  // 501st
		1000: 1000, // the maximum
	} {
		if got := d.quantile(permille); got != want {
			t.Errorf("p%g: %d, want %d", float64(permille)/10, got, want)
		}
	}
	// Three values: p50 is the ceil(1.5) = 2nd.
	if got := decoded(t, []time.Duration{10, 20, 30}).quantile(500); got != 20 {
		t.Errorf("median of three: %d", got)
	}
}

// TestBucketsByHand: 2048 buckets of 1 ns, then 1024 of 2 ns, then 1024 of 4 ns.
func TestBucketsByHand(t *testing.T) {
	for value, want := range map[time.Duration]int64{
		2047: 2047,
		2048: 2049, // 2048 and 2049 are one
		2049: 2049,
		4095: 4095,
		4096: 4099, // 4096..4099 are one
		// 1 ms = 1 000 000: 2^19 <= it < 2^20, buckets of 2^9 = 512:
		// floor(1e6/512) = 1953, (1953+1) x 512 - 1 = 1 000 447.
		time.Millisecond: 1_000_447,
	} {
		d := decoded(t, []time.Duration{1, value, value, time.Second})
		if got := d.quantile(500); got != want { // the 2nd of four
			t.Errorf("%d ns counts as %d, want %d", value, got, want)
		}
	}
}

// TestAgainstSorting: the quantile is that of the sorted values to 0.1 %, and the
// very number that package histogram has, on any shape.
func TestAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		xs := make([]time.Duration, 1+r.IntN(5000))
		for i := range xs {
			xs[i] = time.Duration(r.ExpFloat64() * float64(time.Duration(1)<<r.IntN(40)))
		}
		d := decoded(t, xs)
		h := histogram.New()
		for _, x := range xs {
			h.Record(x)
		}
		slices.Sort(xs)
		for _, permille := range []uint64{1, 10, 250, 500, 900, 950, 990, 999} {
			got := d.quantile(permille)
			exact := int64(xs[(permille*uint64(len(xs))+999)/1000-1])
			if got < exact || float64(got) > float64(exact)*1.001+1 {
				t.Errorf("p%g of %d: %d, sorted %d", float64(permille)/10, len(xs), got, exact)
			}
			if lib := int64(h.Quantile(float64(permille) / 1000)); got != lib {
				t.Errorf("p%g of %d: %d here, %d there", float64(permille)/10, len(xs), got, lib)
			}
		}
	}
}

func decoded(t *testing.T, xs []time.Duration) distribution {
	t.Helper()
	h := histogram.New()
	for _, x := range xs {
		h.Record(x)
	}
	d, err := read(h.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRunByHand: 40 000 right answers of which 39 800 came within 2 s; 2 s of CPU
// for 40 000 requests on one CPU.
func TestRunByHand(t *testing.T) {
	at := func(second int, pss uint64) record.MemoryAt {
		return record.MemoryAt{At: time.Duration(second) * time.Second, MemoryReading: record.MemoryReading{PSS: &pss}}
	}
	r := &record.Run{
		OfferedPerSec: 20_003.5,
		Ready:         40 * time.Millisecond,
		Load: &record.LoadResult{Kind: record.Open, Window: 2 * time.Second,
			Counts: record.Counts{Planned: 40_007, OK: 39_000, Miss: 1_000, Failed: 4, TimedOut: 2, Unfinished: 1, InWindow: 39_800},
			CPU:    record.CPUTime{User: 298 * time.Millisecond, System: 100 * time.Millisecond}},
		ServerCPU: &record.CPUTime{User: 1200 * time.Millisecond, System: 800 * time.Millisecond},
		Memory:    &record.MemoryWatch{Load: []record.MemoryAt{at(0, 99), at(1, 30), at(2, 10), at(3, 40), at(4, 20)}},
	}
	got, err := Run(r, record.Target{Workers: 1, CPUs: []int{0}, GeneratorCPUs: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"rate_per_sec": 19_900, "offered_per_sec": 20_003.5, "errors": 7, "ready_ns": 4e7,
		"server_cpu_ns_per_request": 50_000, "server_cpu_busy_ratio": 1, "generator_cpu_ns_per_request": 10_000, "generator_cpu_busy_ratio": 0.199,
		"load_pss_bytes": 25, // of 10 20 30 40; at 0 s there is no load yet
	} {
		if got[name] != want {
			t.Errorf("%s: %g, want %g", name, got[name], want)
		}
	}
	if _, there := got["p50_ns"]; there {
		t.Error("a percentile without a histogram")
	}
}

// TestColdByHand: four slices of 0.5 s before the window. The seconds that begin at
// a slice hold 30, 60 and 70 answers; the slowest answer is in the last.
func TestColdByHand(t *testing.T) {
	slice := func(at int, right uint64, max time.Duration) record.Slice {
		return record.Slice{Start: time.Duration(at) * time.Second / 2, Length: time.Second / 2, Right: right, Max: max}
	}
	l := &record.LoadResult{Kind: record.Closed, Timeline: []record.Slice{slice(-4, 10, 5), slice(-3, 20, 6), slice(-2, 40, 7), slice(-1, 30, 9), slice(0, 1, 99)}}
	for kind, want := range map[record.Kind][2]float64{record.Closed: {30, 6}, record.Open: {70, 9}} {
		v := map[string]float64{}
		l.Kind = kind
		cold(v, l)
		if v["cold_rate_per_sec"] != want[0] || v["cold_max_ns"] != want[1] {
			t.Errorf("%s: %v, want %v", kind, v, want)
		}
	}
}

// TestAllMetricsAreKnown: a metric that is added must be worked out here too.
func TestAllMetricsAreKnown(t *testing.T) {
	for _, m := range findings.Metrics {
		if !slices.Contains(Known, string(m)) {
			t.Errorf("%s is printed and not recounted", m)
		}
	}
}

func session(t *testing.T, name string) *record.Session {
	t.Helper()
	s, err := archive.Load("../report/testdata/sessions/" + name + "/benchmark.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTwoWaysAgree: on every session of the report's tests.
func TestTwoWaysAgree(t *testing.T) {
	for _, name := range []string{"standard", "one-repeat", "crash-in-repeat-2", "lone-max", "quick", "incomplete", "empty", "every-doubt"} {
		s := session(t, name)
		e := findings.Evaluate(s)
		if wrong := Evaluation(s, &e); len(wrong) > 0 {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}

// TestEveryNumberMatters changes one claimed number at a time: each is found, and
// named.
func TestEveryNumberMatters(t *testing.T) {
	s := session(t, "standard")
	for what, change := range map[string]func(e *findings.Evaluation){
		"go-1/get-c50/b01, rate_per_sec":          func(e *findings.Evaluation) { e.Cells[0].Processes[0].Values[findings.Rate]++ },
		"go-1/get-c50/b01, p99_ns":                func(e *findings.Evaluation) { e.Cells[0].Processes[0].Values[findings.P99]++ },
		"go-1/get-c50/b02, p50_ns":                func(e *findings.Evaluation) { delete(e.Cells[0].Processes[1].Values, findings.P50) },
		"go-1/get-c50, rate_per_sec median":       func(e *findings.Evaluation) { bend(e, func(s *findings.Summary) { s.Median++ }) },
		"go-1/get-c50, rate_per_sec min":          func(e *findings.Evaluation) { bend(e, func(s *findings.Summary) { s.Min-- }) },
		"go-1/get-c50, rate_per_sec max":          func(e *findings.Evaluation) { bend(e, func(s *findings.Summary) { s.Max++ }) },
		"go-1/get-c50, rate_per_sec count":        func(e *findings.Evaluation) { bend(e, func(s *findings.Summary) { s.N++ }) },
		"go-1 / node-1 in get-c50, ratio of rate": func(e *findings.Evaluation) { e.Ratios[0].Median *= 1.000001 },
		"go-1/get-c50/b06, whether it counts":     func(e *findings.Evaluation) { e.Cells[0].Processes = e.Cells[0].Processes[:5] },
	} {
		e := findings.Evaluate(s)
		change(&e)
		if wrong := fmt.Sprint(Evaluation(s, &e)); !strings.Contains(wrong, what) {
			t.Errorf("%s: %s", what, wrong)
		}
	}
}

// TestWhichRunsCount: by hand, and as findings counts them.
func TestWhichRunsCount(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *record.Session)
		want   int // of the 48 runs of the session
	}{
		"all":                            {func(*record.Session) {}, 48},
		"failed":                         {func(s *record.Session) { s.Runs[3].Outcome, s.Runs[3].Reason = record.Failed, "x" }, 47},
		"a check voids":                  {func(s *record.Session) { s.Runs[3].Checks = []record.Check{{Void: true}} }, 47},
		"a check of the generator voids": {func(s *record.Session) { s.Runs[3].Load.Checks = []record.Check{{Void: true}} }, 47},
		"a check warns":                  {func(s *record.Session) { s.Runs[3].Checks = []record.Check{{}} }, 48},
		// One run of a group of four targets was made again: the other three count no
		// more, for their group ran again.
		"repeated": {func(s *record.Session) {
			again := s.Runs[0]
			again.Attempt = 1
			s.Runs = append(s.Runs, again)
		}, 45},
		"to confirm a maximum": {func(s *record.Session) {
			extra := s.Runs[0]
			extra.Step.Block, extra.Step.Index = 7, 48
			s.Plan.Confirm, s.Runs = []record.Step{extra.Step}, append(s.Runs, extra)
		}, 48},
		"a histogram of another count": {func(s *record.Session) { s.Runs[0].Load.Service.Count++ }, 47},
	} {
		s := session(t, "standard")
		c.change(s)
		k := newChecker(s)
		n := 0
		for i := range s.Runs {
			if k.counts(&s.Runs[i]) {
				n++
			}
		}
		e := findings.Evaluate(s)
		if wrong := Evaluation(s, &e); n != c.want || len(wrong) > 0 {
			t.Errorf("%s: %d runs count, want %d; %v", name, n, c.want, wrong)
		}
	}
}

// TestRows: a row twice, a row gone, and a file that is no CSV.
func TestRows(t *testing.T) {
	s := session(t, "one-repeat")
	var b strings.Builder
	if err := report.CSV(&b, s, findings.Evaluate(s)); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	for _, c := range []struct{ text, want string }{
		{b.String(), "[]"},
		{b.String() + lines[1], "line 6, run: says a run of step go-1/get-c50/b01"},
		{strings.Join(lines[:4], ""), "says nothing, the raw record gives a run"},
		{strings.Replace(b.String(), ",1,", ",x,", 1), "line 2, run"},
		{"", "there is no head"},
		{"a,b\nc\n", "wrong number of fields"},
	} {
		if got := fmt.Sprint(Rows(s, c.text)); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func bend(e *findings.Evaluation, f func(*findings.Summary)) {
	s := e.Cells[0].Summary[findings.Rate]
	f(&s)
	e.Cells[0].Summary[findings.Rate] = s
}

func TestText(t *testing.T) {
	if wrong := Text("a 1 b\nc\n", "a 1 b\nc\n"); wrong != nil {
		t.Errorf("the same: %v", wrong)
	}
	for _, c := range []struct{ says, gives, want string }{
		{"x\na 1 b\n", "x\na 2 b\n", `line 2, text: says "1", the raw record gives "2"`},
		{"a\n", "a\nb\n", `line 2, text: says "", the raw record gives "b"`},
		{"a  b\n", "a b\n", `line 1, text: says "a  b", the raw record gives "a b"`},
		{"a", "a\n", `line 2, text: says ""`}, // the last newline
	} {
		if got := fmt.Sprint(Text(c.says, c.gives)); !strings.Contains(got, c.want) {
			t.Errorf("%q and %q: %s", c.says, c.gives, got)
		}
	}
}

// FuzzBuckets: a hostile histogram is an error, never a panic nor a flood.
func FuzzBuckets(f *testing.F) {
	h := histogram.New()
	h.Record(time.Millisecond)
	f.Add(h.Encode().V2)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if b, err := buckets(text); err == nil && len(b) > mostBuckets {
			t.Errorf("%d buckets", len(b))
		}
	})
}
