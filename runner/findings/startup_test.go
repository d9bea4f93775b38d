package findings

import (
	"testing"
	"time"

	"gonogo/runner/record"
)

// TestStartUp: Node compiles, and for 110 ms serves nobody, at an age of about 1.1 s.
func TestStartUp(t *testing.T) {
	const never = time.Hour
	for _, c := range []struct {
		name string
		at   []time.Duration // of each process, from the first slice of the warm-up, which is 1.2 s before the window
		want Class
	}{
		{"at the same age in six", []time.Duration{1210 * ms, 1300 * ms, 1250 * ms, 1400 * ms, 1230 * ms, 1280 * ms}, StartUp},
		// One of them in the warm-up: no request was kept, its slice tells.
		{"in one of them before the window", []time.Duration{1060 * ms, 1250 * ms, 1210 * ms, 1300 * ms, 1220 * ms, 1280 * ms}, StartUp},
		{"anywhere", []time.Duration{1210 * ms, 2500 * ms, 1700 * ms, 1400 * ms, 2200 * ms, 1900 * ms}, Unexplained},
		{"in half of them before the window", []time.Duration{1050 * ms, 1060 * ms, 1070 * ms, 1300 * ms, 1220 * ms, 1280 * ms}, StartUp},
		// By chance all of three within 300 ms of a life of 2.8 s: in 3.4 of 100 cells.
		{"in the only three that are ever slow", []time.Duration{never, never, never, 1300 * ms, 1220 * ms, 1280 * ms}, Unexplained},
		{"in three", []time.Duration{1210 * ms, 2500 * ms, 1300 * ms, 1250 * ms, 2200 * ms, 1900 * ms}, Unexplained},
	} {
		s := pair(6)
		for b := 1; b <= 6; b++ {
			r := of(s, "a", b)
			story(r)
			at := c.at[b-1] - 1200*ms
			if at >= 0 && at < never/2 {
				story(r, took(at, 110*ms+time.Duration(b)))
			}
			r.Load.Window = 1600 * ms
			for i := range time.Duration(28) {
				slice := record.Slice{Start: (i*100 - 1200) * ms, Length: 100 * ms, Right: 100, Max: ms}
				if end := at + 110*ms; slice.Start <= end && end < slice.Start+slice.Length {
					slice.Max = 110 * ms
				}
				r.Load.Timeline = append(r.Load.Timeline, slice)
			}
		}
		if m := Evaluate(s).Cells[0].Maximum; m.Class != c.want || m.Standing != Reproduced {
			t.Errorf("%s: %s, %s: %s", c.name, m.Class, m.Standing, m.Text)
		}
	}
}

// TestOthersFaultsAreNoStartUp: six are slow at the same age, five of them because
// the machine stood still. One is left, and one has no age in common with anybody.
func TestOthersFaultsAreNoStartUp(t *testing.T) {
	s := pair(6)
	for b := 1; b <= 6; b++ {
		r := of(s, "a", b)
		story(r, took(100*ms, 250*ms+time.Duration(b)))
		if b < 6 {
			hiccup(r, 2, 100*ms, 250*ms)
		}
	}
	if m := Evaluate(s).Cells[0].Maximum; m.Run != "a/get/b06" || m.Class != Unexplained || m.Own != 1 || m.Standing != Undetermined {
		t.Errorf("%+v", m)
	}
}

// TestAlwaysSlowIsNoStartUp: what goes on later did not come from starting.
func TestAlwaysSlowIsNoStartUp(t *testing.T) {
	early, always := make([][]time.Duration, 6), make([][]time.Duration, 6)
	for i := range early {
		early[i] = []time.Duration{time.Second}
		always[i] = []time.Duration{time.Second, 2 * time.Second}
	}
	late := [][]time.Duration{{6 * time.Second}, {6 * time.Second}, {6 * time.Second}}
	few := append(make([][]time.Duration, 7), early[:3]...)
	if b := sameAge(early, 3*time.Second, 3); b.in != 6 || !b.holds(time.Second) || b.holds(2*time.Second) {
		t.Errorf("early: %+v", b)
	}
	for name, ages := range map[string][][]time.Duration{"always": always, "late": late, "never": make([][]time.Duration, 6), "in three of ten": few} {
		if b := sameAge(ages, 30*time.Second, neededFor(len(ages))); b != (band{}) {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// TestCoincidence: by hand, 6 choose 3 = 20 groups, 3 firsts, (0.3/3)^2; and all six.
func TestCoincidence(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want float64
	}{{6, 3, 20 * 3 * 0.01}, {6, 6, 6 * 1e-5}, {8, 6, 28 * 6 * 1e-5}, {6, 1, 1}} {
		if got := coincidence(c.n, c.k, 300*ms, 3*time.Second); !near(got, c.want) {
			t.Errorf("%d of %d: %v, want %v", c.k, c.n, got, c.want)
		}
	}
}
