package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"gonogo/runner/record"
)

// Nearest rank by hand. Values below 2048 ns have a bucket each, so these are exact.
func TestQuantileNearestRank(t *testing.T) {
	upTo := func(n int) (v []time.Duration) {
		for i := 1; i <= n; i++ {
			v = append(v, time.Duration(i))
		}
		return v
	}
	for _, c := range []struct {
		name   string
		values []time.Duration
		q      float64
		want   time.Duration
	}{
		{"nothing", nil, 0.5, 0},
		{"one value", upTo(1), 0.5, 1},
		{"ceil(0.5*10) = 5", upTo(10), 0.5, 5},
		{"ceil(0.51*10) = 6", upTo(10), 0.51, 6},
		{"ceil(0.1*10) = 1", upTo(10), 0.1, 1},
		{"ceil(0.9*10) = 9", upTo(10), 0.9, 9},
		{"ceil(0.91*10) = 10", upTo(10), 0.91, 10},
		{"0.07*100 is 7.000000000000001 in binary, rank 7", upTo(100), 0.07, 7},
		{"ceil(0.29*100) = 29", upTo(100), 0.29, 29},
		{"ceil(0.99*3) = 3", []time.Duration{10, 20, 90}, 0.99, 90},
		{"ceil(0.2*3) = 1", []time.Duration{10, 20, 90}, 0.2, 10},
		{"ceil(0.999*1000) = 999", upTo(1000), 0.999, 999},
		{"ceil(0.9991*1000) = 1000", upTo(1000), 0.9991, 1000},
		{"0 is the minimum", upTo(10), 0, 1},
		{"1 is the maximum", upTo(10), 1, 10},
		{"above 1 is the maximum", upTo(10), 1.5, 10},
		{"NaN is the minimum", upTo(10), math.NaN(), 1},
	} {
		h := New()
		for _, v := range c.values {
			h.Record(v)
		}
		if got := h.Quantile(c.q); got != c.want {
			t.Errorf("%s: Quantile(%v) = %d, want %d", c.name, c.q, got, c.want)
		}
	}
}

// Against the definition on the raw values: at most 0.1 % too high, never too low.
func TestQuantileAgainstRawValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	raw, h := make([]time.Duration, 20_000), New()
	for i := range raw {
		raw[i] = time.Duration(rng.ExpFloat64() * 1e6)
		h.Record(raw[i])
	}
	slices.Sort(raw)
	for _, q := range []float64{0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999} {
		exact := raw[int(math.Ceil(q*float64(len(raw))))-1]
		if got := h.Quantile(q); got < exact || float64(got) > float64(exact)*1.001+1 {
			t.Errorf("Quantile(%v) = %d, raw values give %d", q, got, exact)
		}
	}
}

func TestExactEnds(t *testing.T) {
	h := New()
	for _, d := range []time.Duration{123_456_789, 3*time.Hour + 1, -5, 987_654_321} {
		h.Record(d)
	}
	if h.Min() != 0 || h.Max() != 3*time.Hour+1 || h.Count() != 4 {
		t.Errorf("min %d max %d count %d", h.Min(), h.Max(), h.Count())
	}
	if want := 123_456_789 + 3*time.Hour + 1 + 987_654_321; h.Sum() != want || h.Mean() != want/4 {
		t.Errorf("sum %d mean %d, want %d and %d", h.Sum(), h.Mean(), want, want/4)
	}
	if got := h.Quantile(1); got != 3*time.Hour+1 {
		t.Errorf("Quantile(1) = %v: the clamp at an hour leaked into the maximum", got)
	}
	h.Reset()
	if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Sum() != 0 || h.Mean() != 0 {
		t.Error("Reset left something behind")
	}
}

// C55: two sets whose merged p95 is 10 ms, while the mean of p95s is 1005 ms.
func TestMergeIsNotAnAverage(t *testing.T) {
	a, b := New(), New()
	for range 1000 {
		a.Record(10 * time.Millisecond)
	}
	for range 10 {
		b.Record(2 * time.Second)
	}
	a.Merge(b)
	if got := a.Quantile(0.95); got < 10*time.Millisecond || got > 10*time.Millisecond+10*time.Microsecond {
		t.Errorf("merged p95 = %v, want 10 ms", got)
	}
	if a.Count() != 1010 || a.Max() != 2*time.Second || a.Sum() != 30*time.Second {
		t.Errorf("count %d max %v sum %v", a.Count(), a.Max(), a.Sum())
	}
	a.Merge(New()) // an empty one changes nothing
	if a.Min() != 10*time.Millisecond || a.Count() != 1010 {
		t.Error("merging an empty histogram changed the ends")
	}
}

func TestEncodeDecode(t *testing.T) {
	h := New()
	for i := range 10_000 {
		h.Record(time.Duration(i) * 1237)
	}
	h.Record(2 * time.Hour)
	enc := h.Encode()
	got, err := Decode(enc)
	if err != nil {
		t.Fatal(err)
	}
	if *got.Encode() != *enc {
		t.Error("decode, encode is not the identity")
	}
	for _, q := range []float64{0, 0.5, 0.99, 1} {
		if got.Quantile(q) != h.Quantile(q) {
			t.Errorf("Quantile(%v): %v, was %v", q, got.Quantile(q), h.Quantile(q))
		}
	}
	if e, err := Decode(New().Encode()); err != nil || e.Count() != 0 {
		t.Errorf("empty: %v, %v", e, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	h := New()
	h.Record(time.Millisecond)
	h.Record(3 * time.Millisecond)
	for name, spoil := range map[string]func(*record.Histogram){
		"wrong count":    func(r *record.Histogram) { r.Count++ },
		"wrong max":      func(r *record.Histogram) { r.Max += time.Millisecond },
		"wrong min":      func(r *record.Histogram) { r.Min = 0 },
		"wrong mean":     func(r *record.Histogram) { r.Mean++ },
		"wrong sum":      func(r *record.Histogram) { r.Sum += 100 },
		"no text":        func(r *record.Histogram) { r.V2 = "" },
		"cut text":       func(r *record.Histogram) { r.V2 = r.V2[:len(r.V2)/2] },
		"not base64":     func(r *record.Histogram) { r.V2 = strings.Repeat("~", 80) },
		"too long":       func(r *record.Histogram) { r.V2 = strings.Repeat("A", maxText+1) },
		"other geometry": func(r *record.Histogram) { r.V2 = otherGeometry(t) },
	} {
		r := *h.Encode()
		spoil(&r)
		if _, err := Decode(&r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Decode(nil); err == nil {
		t.Error("nil: accepted")
	}
}

func FuzzDecode(f *testing.F) {
	h := New()
	h.Record(time.Millisecond)
	enc := h.Encode()
	f.Add(enc.V2, enc.Count, int64(enc.Min), int64(enc.Max), int64(enc.Sum))
	f.Add("", uint64(0), int64(0), int64(0), int64(0))
	f.Fuzz(func(t *testing.T, text string, count uint64, lo, hi, sum int64) {
		r := &record.Histogram{Count: count, Min: time.Duration(lo), Max: time.Duration(hi), Sum: time.Duration(sum), V2: text}
		if count > 0 {
			r.Mean = time.Duration(sum / max(int64(count), 1))
		}
		h, err := Decode(r)
		if err != nil {
			return
		}
		last := time.Duration(-1)
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
			v := h.Quantile(q)
			if v < last || v > h.Max() {
				t.Fatalf("Quantile(%v) = %d after %d, maximum %d", q, v, last, h.Max())
			}
			last = v
		}
	})
}

func TestRecordAllocatesNothing(t *testing.T) {
	h, d := New(), time.Duration(0)
	if n := testing.AllocsPerRun(1000, func() { d += 977; h.Record(d) }); n != 0 {
		t.Errorf("Record allocates %v times", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	for i := 0; b.Loop(); i++ {
		h.Record(time.Duration(i&0xfffff) * 7)
	}
}

func BenchmarkEncode(b *testing.B) {
	h := New()
	for i := range 1_000_000 {
		h.Record(time.Duration(i) * 13)
	}
	for b.Loop() {
		h.Encode()
	}
}

func TestWriteLog(t *testing.T) {
	h := New()
	h.Record(2500 * time.Microsecond)
	var b strings.Builder
	start := time.Unix(1_700_000_000, 0)
	if err := WriteLog(&b, start, []Tagged{{"sent", 2 * time.Second, time.Second, h.Encode()}}); err != nil {
		t.Fatal(err)
	}
	want := "#[Histogram log format version 1.3]\n#[StartTime: 1700000000.000 (seconds since epoch), 2023-11-14T22:13:20Z]\n" +
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n" +
		"Tag=sent,2.000,1.000,2.500," + h.Encode().V2 + "\n"
	if b.String() != want {
		t.Errorf("got %s\nwant %s", b.String(), want)
	}
	// What is written is what the library's own reader reads.
	got, err := hdr.NewHistogramLogReader(strings.NewReader(b.String())).NextIntervalHistogram()
	if err != nil || got == nil || got.TotalCount() != 1 || got.Tag() != "sent" {
		t.Errorf("read back %v, %v", got, err)
	}
}

func TestWriteDistribution(t *testing.T) {
	h := New()
	for i := 1; i <= 1000; i++ {
		h.Record(time.Duration(i) * time.Millisecond)
	}
	var b strings.Builder
	if err := h.WriteDistribution(&b); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"500.", "0.500000", "Total count    =         1000"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %q in\n%s", part, b.String())
		}
	}
}
