package session

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestStepsOfTheWallClock(t *testing.T) {
	var ahead time.Duration
	c := watchWallClock(func() time.Time { return time.Now().Round(0).Add(ahead) })
	for _, row := range []struct {
		ahead time.Duration
		ok    bool
		want  float64 // seconds
	}{
		{0, true, 0},
		{70 * time.Millisecond, true, 0.07},
		{-time.Hour, false, -3600.07},
		{-time.Hour, true, 0}, // told once
		{-time.Hour + 200*time.Millisecond, false, 0.2},
	} {
		ahead = row.ahead
		check, got := c.check(), math.Inf(1)
		fmt.Sscanf(check.Observed, "%f s", &got)
		if check.OK != row.ok || math.Abs(got-row.want) > 0.025 { // two readings of a busy machine
			t.Errorf("%v ahead: %s, ok %v; want %v s, %v", row.ahead, check.Observed, check.OK, row.want, row.ok)
		}
	}
	if watchWallClock(nil).now().Location() != time.UTC {
		t.Error("the system's clock in another zone than UTC")
	}
}
