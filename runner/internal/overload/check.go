package overload

import (
	"fmt"
	"time"

	"gonogo/runner/record"
)

// The limits that every trial is held against.
const (
	healthPatience = 5 * time.Second  // an answer later than this is none
	recoveryLimit  = 30 * time.Second // from the end of the fault
	pssLimit       = 512 << 20        // bytes, of the whole process tree
	filesSlack     = 8                // descriptors more than before the first fault
	unserved       = 0.75             // of what is offered at twice the capacity, at most so much can be answered
)

// near is what p99 at half the capacity may be after a fault. A tail of one second
// on a shared machine varies by a third. The short form has too few requests for a
// tail, and runs beside other tests: there a server must answer again, no more.
func (s *subject) near() time.Duration {
	if s.Short {
		return healthPatience
	}
	return max(2*s.out.P99Before, s.out.P99Before+2*time.Millisecond)
}

// checks holds a trial against the limits. What is not known is not checked.
func (s *subject) checks(t *OverloadTrial, f fault, differences *int, alive error) []record.Check {
	check := func(name string, ok bool, limit, observed string, a ...any) record.Check {
		return record.Check{Name: name, OK: ok, Observed: fmt.Sprintf(observed, a...), Limit: limit}
	}
	list := []record.Check{
		check("/healthz answers", t.Health.Asked > 0 && t.Health.Answered == t.Health.Asked, "every time, within "+healthPatience.String(), "%d of %d", t.Health.Answered, t.Health.Asked),
		check("recovers", t.Recovery != nil, "p99 at half the capacity within "+s.near().String()+", in "+recoveryLimit.String(), "p99 %v", t.P99After),
		check("same processes", alive == nil, "none gone, none new", "%v", orNone(alive)),
	}
	if differences != nil {
		list = append(list, check("keeps the contract", *differences == 0, "0 differences", "%d", *differences))
	}
	if t.PSSPeak != nil {
		list = append(list, check("memory is bounded", *t.PSSPeak <= pssLimit, fmt.Sprintf("PSS at most %d MiB", pssLimit>>20), "%d MiB", *t.PSSPeak>>20))
	}
	if t.FilesAfter != nil && s.files != nil {
		list = append(list, check("connections are given back", *t.FilesAfter <= *s.files+filesSlack, fmt.Sprintf("at most %d descriptors", *s.files+filesSlack), "%d", *t.FilesAfter))
	}
	if t.HeldMax != nil && f.held > 0 {
		list = append(list, check("ends such a connection", *t.HeldMax <= f.held, "after "+f.held.String()+" at most", "%v", t.HeldMax.Round(time.Millisecond)))
	}
	if f.excess && !s.Short {
		list = append(list, check("is more than it can do", t.AnsweredPerSec <= unserved*t.OfferedPerSec, fmt.Sprintf("at most %.0f /s answered", unserved*t.OfferedPerSec), "%.0f /s", t.AnsweredPerSec))
	}
	if f.answers != nil {
		got, want := f.answers(s, t)
		list = append(list, check("gives the right answer", got >= want, fmt.Sprintf("at least %d", want), "%d", got))
	}
	return list
}

func orNone(err error) string {
	if err == nil {
		return "none gone, none new"
	}
	return err.Error()
}
