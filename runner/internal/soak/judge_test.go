package soak

import (
	"strings"
	"testing"
)

// heaps makes samples of which only the heap tells, in MiB.
func heaps(mib ...float64) []Sample {
	var all []Sample
	for i, x := range mib {
		all = append(all, Sample{Session: i + 1, HeapBytes: uint64(x * mebi)})
	}
	return all
}

// TestJudge: the first three sessions are not judged. Slope by hand; P of six
// rising values 2/720 = 0.0028, of six with one pair turned 2*(1+5)/720 = 0.0167.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name    string
		mib     []float64
		verdict string
		slope   float64
	}{
		{"rises", []float64{0, 0, 0, 1, 2, 3, 4, 5, 6}, Growing, 1},
		{"rises at first", []float64{1, 5, 9, 9, 9, 9, 9, 9, 9}, Flat, 0},
		{"falls", []float64{0, 0, 0, 6, 5, 4, 3, 2, 1}, Flat, -1},
		{"rises, but one pair is turned", []float64{0, 0, 0, 1, 2, 4, 3, 5, 6}, Flat, 1},
		{"rises by less than matters", []float64{0, 0, 0, 1, 1.0625, 1.125, 1.1875, 1.25, 1.3125}, Flat, 0.0625}, // 5/16 MiB in all
		{"one jumps", []float64{0, 0, 0, 1, 1, 90, 1, 1, 1}, Flat, 0},
		// 6 and 6 to judge: the second half rises by 5 of the 1/4 MiB that it takes, or by none. Of the
		// 66 slopes of the step 30 are 0 and then come one 8/11, two 8/10, three 8/9: the median is between the last two.
		{"rises in both halves", []float64{0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Growing, 1},
		{"a step, never again", []float64{0, 0, 0, 1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9}, Flat, (0.8 + 8.0/9) / 2},
		{"five to judge", []float64{0, 0, 0, 1, 2, 3, 4, 5}, TooFew, 0},
		{"one", []float64{1}, TooFew, 0},
		{"none", nil, TooFew, 0},
	} {
		for _, r := range Judge(heaps(c.mib...)) {
			if r.Name == "heap in use" && (r.Verdict != c.verdict || r.Verdict != TooFew && r.Slope != c.slope) {
				t.Errorf("%s: %s, slope %v; want %s, %v", c.name, r.Verdict, r.Slope, c.verdict, c.slope)
			}
		}
	}
}

// TestTable: what the system does not tell is a dash, never a 0.
func TestTable(t *testing.T) {
	var b strings.Builder
	if err := Table(&b, Judge(heaps(0, 0, 0, 1, 2, 3, 4, 5, 6))); err != nil {
		t.Fatal(err)
	}
	const want = `quantity              sessions  first  last  slope a session  p      verdict
descriptors           0         -      -     -                -      not told by this system
goroutines            6         0      0     +0.0000          1.000  flat
threads               0         -      -     -                -      not told by this system
resident memory, MiB  0         -      -     -                -      not told by this system
heap in use, MiB      6         1.00   6.00  +1.0000          0.003  GROWING
processes             0         -      -     -                -      not told by this system
disk a session, MiB   0         -      -     -                -      not told by this system
left over             6         0      0     +0.0000          1.000  flat
`
	if b.String() != want {
		t.Errorf("table\n%s\nwant\n%s", &b, want)
	}
}
