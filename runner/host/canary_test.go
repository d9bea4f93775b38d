package host

import (
	"testing"
	"time"
)

// Python: x = 88172645463325252; x ^= x << 13 & 2**64-1; x ^= x >> 7; x ^= x << 17 & 2**64-1
func TestSpin(t *testing.T) {
	if got := spin(0); got != 88172645463325252 {
		t.Errorf("no steps: %d", got)
	}
	if got := spin(1); got != 8748534153485358512 {
		t.Errorf("one step: %d", got)
	}
}

func TestMedian(t *testing.T) {
	d := []time.Duration{5, 1, 9, 3, 7}
	if got := median(d); got != 5 {
		t.Errorf("median %d, want 5", got)
	}
	if d[0] != 5 || d[4] != 7 {
		t.Error("the caller's slice is changed")
	}
}
