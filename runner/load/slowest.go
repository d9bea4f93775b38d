package load

import (
	"cmp"
	"slices"
	"time"

	"gonogo/runner/record"
)

// keepSlowest is how many slow requests a run keeps with all their clocks.
const keepSlowest = 64

// slowest keeps the slowest requests in a heap whose root is the fastest of
// them, so that nearly every request is turned away by one comparison.
type slowest struct {
	least time.Duration // what a request must exceed to be kept
	heap  [keepSlowest]slow
	n     int
}

type slow struct {
	latency time.Duration
	x       exchange
}

func (s *slowest) reset() { s.n, s.least = 0, -1 }

func (s *slowest) add(latency time.Duration, x *exchange) {
	if s.n < keepSlowest {
		s.heap[s.n] = slow{latency, *x}
		s.up(s.n)
		if s.n++; s.n == keepSlowest {
			s.least = s.heap[0].latency
		}
		return
	}
	if latency <= s.least {
		return
	}
	s.heap[0] = slow{latency, *x}
	s.down()
	s.least = s.heap[0].latency
}

func (s *slowest) up(i int) {
	for i > 0 && s.heap[i].latency < s.heap[(i-1)/2].latency {
		s.heap[i], s.heap[(i-1)/2] = s.heap[(i-1)/2], s.heap[i]
		i = (i - 1) / 2
	}
}

func (s *slowest) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= s.n {
			return
		}
		if child+1 < s.n && s.heap[child+1].latency < s.heap[child].latency {
			child++
		}
		if s.heap[i].latency <= s.heap[child].latency {
			return
		}
		s.heap[i], s.heap[child] = s.heap[child], s.heap[i]
		i = child
	}
}

// list returns what was kept, slowest first, with clocks from the window's start.
func (s *slowest) list(start time.Duration) []record.Slow {
	kept := slices.Clone(s.heap[:s.n])
	slices.SortStableFunc(kept, func(a, b slow) int {
		return cmp.Or(cmp.Compare(b.latency, a.latency), cmp.Compare(a.x.number, b.x.number))
	})
	list := make([]record.Slow, 0, len(kept))
	for _, k := range kept {
		list = append(list, record.Slow{
			Request: k.x.number, Connection: k.x.connection, Dialled: k.x.dialled,
			Intended: k.x.intended - start, Sent: k.x.sent - start,
			FirstByte: k.x.first - start, Done: k.x.done - start,
		})
	}
	return list
}
