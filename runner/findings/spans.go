package findings

import (
	"cmp"
	"slices"
	"time"
)

// span is a stretch of time, from the first edge of a run's window. What is not
// longer than nothing is empty.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return max(0, s.to-s.from) }

// union is the same time in spans that are in order and do not touch.
func union(spans []span) []span {
	sorted := slices.Clone(spans)
	slices.SortFunc(sorted, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var all []span
	for _, s := range sorted {
		switch last := len(all) - 1; {
		case s.length() == 0:
		case last >= 0 && s.from <= all[last].to:
			all[last].to = max(all[last].to, s.to)
		default:
			all = append(all, s)
		}
	}
	return all
}

// within is how much of a span the others cover.
func within(spans []span, s span) time.Duration {
	var covered time.Duration
	for _, u := range union(spans) {
		covered += span{max(u.from, s.from), min(u.to, s.to)}.length()
	}
	return covered
}

// without is what is left of spans when the holes are taken out.
func without(spans, holes []span) []span {
	var left []span
	for _, s := range union(spans) {
		for _, h := range union(holes) {
			if h.from >= s.to || h.to <= s.from {
				continue
			}
			left = append(left, span{s.from, h.from})
			s.from = h.to
		}
		left = append(left, s)
	}
	return union(left)
}
