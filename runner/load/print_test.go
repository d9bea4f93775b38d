package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

func closedRecord(h *histogram.H) *record.LoadRecord {
	n := h.Count()
	return &record.LoadRecord{
		Spec: record.LoadSpec{Kind: record.Closed, Connections: 50, Timeout: 5 * time.Second},
		Result: record.LoadResult{
			Engine: "net", Kind: record.Closed, Connections: 50, Window: 10 * time.Second, Warmup: time.Second,
			Counts: record.Counts{Planned: n, OK: n, InWindow: n}, Service: encode(h), BytesIn: 3 << 20, BytesOut: 1536,
			CPU: record.CPUTime{User: time.Second, System: time.Second},
		},
	}
}

func print(t *testing.T, r *record.LoadRecord) string {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// C33: 1 to 1000 µs: the columns differ from each other and from the mean.
func TestText(t *testing.T) {
	h := histogram.New()
	for i := 1; i <= 1000; i++ {
		h.Record(time.Duration(i) * time.Microsecond)
	}
	want := `closed loop, 50 connections, kept; warm-up 1.00 s, window 10.0 s; engine net

rate           100/s: 1000 right answers in the window

                     min      p50      p90      p95      p99    p99.9   p99.99      max     mean
service time     1.00 µs   500 µs   900 µs   950 µs   990 µs        -        -  1.00 ms   500 µs
Closed loop: a connection sends when its reply came, so this does not show queueing.

errors         0 of 1000 requests
connections    50 at the end, 0 dialled in the window
traffic        3.00 MiB in, 1.50 KiB out
generator      2.00 ms of CPU a request, 20 % of a CPU, 0 garbage collections
`
	if got := print(t, closedRecord(h)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTextWithoutAnswers(t *testing.T) {
	r := closedRecord(histogram.New())
	r.Result.Counts = record.Counts{Planned: 7, Failed: 7}
	r.Result.Errors = map[string]record.ErrorKind{record.ErrReset: {Count: 7, Example: "GET /: reset"}}
	got := print(t, r)
	if !strings.Contains(got, "no data: none of 7 requests got a right answer") || strings.Contains(got, "p50") || strings.Contains(got, "rate") ||
		!strings.Contains(got, "7 x reset, such as: GET /: reset") {
		t.Errorf("got\n%s", got)
	}
}

// G10: with 2 % time-outs the p99 is "at least the time-out".
func TestTextTimeouts(t *testing.T) {
	h := histogram.New()
	for i := range 5000 {
		d := time.Millisecond
		if i%50 == 0 {
			d = 5 * time.Second
		}
		h.Record(d)
	}
	r := closedRecord(h)
	r.Result.Counts = record.Counts{Planned: 5000, OK: 4900, TimedOut: 100, InWindow: 4900}
	got := print(t, r)
	if strings.Count(got, "≥5.00 s") != 2 || !strings.Contains(got, "1.00 ms") { // p99 and max
		t.Errorf("got\n%s", got)
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ns", 999: "999 ns", 1000: "1.00 µs", 9994: "9.99 µs", 9996: "10.0 µs", 99_940: "99.9 µs", 99_960: "100 µs",
		1_234_000: "1.23 ms", 61 * time.Second: "61.0 s",
	} {
		if got := Short(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
	for v, want := range map[float64]string{0.5: "0.5", 12: "12", 12.34: "12.34", 1234: "1 234", 1234567: "1 234 567", 100: "100"} {
		if got := number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestThreshold(t *testing.T) {
	h := histogram.New()
	for i := 1; i <= 100; i++ {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	res := closedRecord(h).Result // 100 in 10 s
	res.Counts.Planned, res.Counts.Failed = 101, 1
	for text, want := range map[string]bool{
		"p99<100ms": true, "p99 < 99ms": false, "p50<=51ms": true, "p50>51ms": false, "max<=100ms": true, "max<100ms": false,
		"mean<51ms": true, "mean<50ms": false, "rate>9.9": true, "rate>=10": true, "rate>10": false, "errors<1%": true, "errors<0.009": false,
		"p99.9<1s": true, "p100<=100ms": true,
	} {
		x, err := ParseThreshold(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if kept, observed, err := x.Kept(&res); kept != want || err != nil || observed == "" {
			t.Errorf("%s: %v (%s), %v, want %v", text, kept, observed, err, want)
		}
	}
	for _, text := range []string{"", "p99", "p99<5", "p0<5ms", "p101<5ms", "p<5ms", "rate>5ms", "errors<5ms", "p99=5ms", "p99<5ms x", "p9.9.9<5ms"} {
		if x, err := ParseThreshold(text); err == nil {
			t.Errorf("%q: accepted as %+v", text, x)
		}
	}
	x, _ := ParseThreshold("max<1s")
	if kept, observed, _ := x.Kept(&record.LoadResult{}); kept || observed != "no data" {
		t.Errorf("without data: %v, %s", kept, observed)
	}
}

// Records of workers add up to what one would have recorded: here each serves
// its own half of one schedule.
func TestMergeIsExact(t *testing.T) {
	spec := closedSpec(8, 4*time.Second)
	spec.Kind, spec.RatePerSec, spec.Arrivals, spec.Seed, spec.Intervals = record.Open, 500, poisson, 3, true
	service := func(sent time.Duration) time.Duration { return time.Millisecond + sent%977*time.Microsecond }
	keep := func(s *simulation) { s.rec.keepIntervals = true }
	whole := simulate(t, spec, service, keep)
	var parts []record.LoadRecord
	for k := range 3 {
		part := spec
		part.Worker, part.Workers = k, 3
		parts = append(parts, record.LoadRecord{SchemaVersion: record.SchemaVersion, Spec: part, Result: *simulate(t, part, service, keep)})
	}
	merged, err := Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	got := merged.Result
	if got.Counts != whole.Counts || *got.Response != *whole.Response || *got.Service != *whole.Service || *got.SendLag != *whole.SendLag {
		t.Errorf("merged %+v %v, whole %+v %v", got.Counts, got.Response.Mean, whole.Counts, whole.Response.Mean)
	}
	if !slices.Equal(got.Timeline, whole.Timeline) || len(got.Slowest) != keepSlowest || got.Connections != 24 || len(got.Intervals) != len(whole.Intervals) {
		t.Errorf("timeline %v, want %v", got.Timeline, whole.Timeline)
	}
	for i := range got.Intervals {
		if *got.Intervals[i].Response != *whole.Intervals[i].Response {
			t.Errorf("interval %d differs", i)
		}
	}
	if f := failing(&got); len(f) != 0 {
		t.Errorf("merged fails %v", f)
	}
	other := parts[1]
	other.Spec.Seed++
	for name, wrong := range map[string][]record.LoadRecord{
		"none": {}, "one missing": parts[:2], "one twice": {parts[0], parts[1], parts[1]}, "another plan": {parts[0], other, parts[2]},
	} {
		if _, err := Merge(wrong); err == nil {
			t.Errorf("%s: merged", name)
		}
	}
}
