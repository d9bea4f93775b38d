package findings

import (
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// Six groups; 2 % is allowed.
func TestCanary(t *testing.T) {
	for _, c := range []struct {
		ms   []int64
		want string // observed; "" for silence
	}{
		{[]int64{100, 101, 99, 102, 98, 100}, ""},
		{[]int64{100, 100, 100, 125, 100, 96}, "2 of 6 groups off, the farthest by +25 %"},
		{nil, ""},
	} {
		s := pair(6)
		s.Plan.Rules.Machine.Canary.Warn = 0.02
		for i, ms := range c.ms {
			d := record.Nanos(ms) * time.Millisecond
			of(s, "a", i+1).Canary = &d
		}
		var got string
		for _, f := range canary(s, nil) {
			got = f.Observed
		}
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%v: got %q, want %q", c.ms, got, c.want)
		}
	}
}
