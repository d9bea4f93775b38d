package load

import (
	"testing"
	"time"
)

// A fixed number of requests has intervals too, and every reply is in one.
func TestIntervalsOfACount(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		address, _ := startStub(t)
		spec := stubSpec(address, engine)
		spec.Window, spec.Count, spec.Intervals = 0, 500, true
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		var n uint64
		for _, in := range res.Intervals {
			n += in.Service.Count
		}
		if n != 500 {
			t.Errorf("%d values in the intervals, want 500", n)
		}
	})
}

// What comes after the last interval that is kept is in that interval.
func TestIntervalsAreBounded(t *testing.T) {
	r := newRecorder(false, 1, time.Second)
	r.begin(0, forever)
	for _, done := range []time.Duration{time.Second / 2, maxIntervals - time.Second/2, 3 * maxIntervals} {
		r.keep(&exchange{template: &template{}, sent: done - time.Millisecond, done: done})
	}
	r.end = 3*maxIntervals + 1
	list := r.encodeIntervals()
	if len(list) != 2 || list[1].Start != maxIntervals-time.Second || list[1].Length != 2*maxIntervals+time.Second+1 || list[1].Service.Count != 2 {
		t.Errorf("%d intervals, last %+v", len(list), list[len(list)-1])
	}
}
