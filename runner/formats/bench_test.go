package formats

import (
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"gonogo/runner/findings"
)

// TestBenchReads: benchstat's own reader finds four lines of each target's load and
// memory, whole names, and which way is better.
func TestBenchReads(t *testing.T) {
	s := session()
	r := benchfmt.NewReader(strings.NewReader(written(t, Bench, s, findings.Evaluate(s))), "bench.txt")
	rates := map[string][]float64{}
	for r.Scan() {
		switch line := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(line)
		case *benchfmt.Result:
			base, parts := line.Name.Parts()
			if string(base) != "Serve" || len(parts) != 3 || strings.HasPrefix(string(parts[2]), "-") {
				t.Fatalf("%s has the parts %s %s: the end of a name is taken for GOMAXPROCS", line.Name, base, parts)
			}
			if v, ok := line.Value("req/s"); ok {
				rates[string(parts[0])] = append(rates[string(parts[0])], v)
			}
			if v, ok := line.Value("p99-sec"); ok && (v < 0.00198 || v > 0.002) { // 1.989 ms
				t.Errorf("p99 is %v s", v)
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	// 40 000 and 39 000 requests in 2 s; Node half as many.
	for target, want := range map[string][2]float64{"/target=go-1": {20_000, 19_500}, "/target=node-1": {10_000, 9_750}} {
		if got := rates[target]; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s: rates %v, want %v", target, got, want)
		}
	}
	units := r.Units()
	if units.GetBetter("req/s") != 1 || units.GetBetter("p99-ns") != -1 || units.GetBetter("load-B") != -1 {
		t.Errorf("which way is better is not read: %v", units)
	}
}
