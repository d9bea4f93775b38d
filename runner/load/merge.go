package load

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// How far apart the windows of workers may open: a share of the window, but no less
// than clocks that a network keeps together may differ by.
const (
	apartShare = 0.01
	apartMin   = 10 * time.Millisecond
)

// Merge makes one record of those of the workers of one plan. Counts add up and
// so do histograms, exactly: a percentile of the whole is never made of the
// parts' percentiles. A worker that is missing, or there twice, is an error.
func Merge(parts []record.LoadRecord) (*record.LoadRecord, error) {
	if len(parts) == 0 {
		return nil, errors.New("merge: nothing to merge")
	}
	whole := parts[0]
	if err := sameplan(parts); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	m := merging{to: &whole.Result}
	m.begin(&parts[0].Result)
	for i := range parts {
		if err := m.add(&parts[i].Result); err != nil {
			return nil, fmt.Errorf("merge worker %d: %w", parts[i].Spec.Worker, err)
		}
		if e := parts[i].Error; e != "" && whole.Error == "" {
			whole.Error = fmt.Sprintf("worker %d: %s", parts[i].Spec.Worker, e)
		}
	}
	m.end()
	whole.Spec.Worker, whole.Spec.Workers = 0, 0
	whole.Spec.Connections *= len(parts)
	mergeOwn(&whole.Result, parts)
	whole.Result.Checks = append(Judge(&whole.Spec, &whole.Result), together(whole.Result.Window, parts))
	return &whole, nil
}

// together: rates of workers add up only while all of them load. The windows of
// workers that began by themselves, without a common --start-at, need not overlap.
func together(window time.Duration, parts []record.LoadRecord) record.Check {
	first, last := parts[0].Result.Start, parts[0].Result.Start
	for i := range parts {
		if at := parts[i].Result.Start; at.Before(first) {
			first = at
		} else if at.After(last) {
			last = at
		}
	}
	limit := max(apartMin, time.Duration(apartShare*float64(window)))
	apart := last.Sub(first)
	return record.Check{Name: "windows of the workers opened together", OK: apart <= limit, Void: true,
		Observed: fmt.Sprintf("%v apart", apart.Round(time.Microsecond)), Limit: limit.Round(time.Microsecond).String()}
}

// sameplan demands every worker of one plan, once.
func sameplan(parts []record.LoadRecord) error {
	seen := make([]bool, len(parts))
	for i := range parts {
		p, first := parts[i], parts[0]
		if p.SchemaVersion != record.SchemaVersion {
			return fmt.Errorf("record %d has schema version %d, this gonogo reads %d", i, p.SchemaVersion, record.SchemaVersion)
		}
		if max(p.Spec.Workers, 1) != len(parts) {
			return fmt.Errorf("%d records of a plan of %d workers", len(parts), max(p.Spec.Workers, 1))
		}
		if w := p.Spec.Worker; w < 0 || w >= len(parts) || seen[w] {
			return fmt.Errorf("worker %d is there twice, or not of this plan", w)
		}
		seen[p.Spec.Worker] = true
		// Where and on how fast an engine a worker ran is its own affair.
		p.Spec.Worker, p.Spec.Address, p.Spec.Engine = first.Spec.Worker, first.Spec.Address, first.Spec.Engine
		if !reflect.DeepEqual(p.Spec, first.Spec) {
			return fmt.Errorf("record %d was asked for something else than record 0", i)
		}
	}
	return nil
}

// merging is a merge under way. Its histograms are response, service, send lag,
// pacing and miss.
type merging struct {
	to   *record.LoadResult
	held [5]*histogram.H
	area float64
}

func histograms(r *record.LoadResult) [5]**record.Histogram {
	return [5]**record.Histogram{&r.Response, &r.Service, &r.SendLag, &r.Pacing, &r.Miss}
}

func (m *merging) begin(first *record.LoadResult) {
	for i := range m.held {
		m.held[i] = histogram.New()
	}
	*m.to = record.LoadResult{Engine: first.Engine, Kind: first.Kind, Start: first.Start, Warmup: first.Warmup, Errors: map[string]record.ErrorKind{}}
}

func (m *merging) add(r *record.LoadResult) error {
	for i, h := range histograms(r) {
		if *h == nil {
			continue
		}
		d, err := histogram.Decode(*h)
		if err != nil {
			return err
		}
		m.held[i].Merge(d)
	}
	to := m.to
	if r.Start.Before(to.Start) {
		to.Start = r.Start
	}
	to.Connections += r.Connections
	to.NewDials += r.NewDials
	to.Window = max(to.Window, r.Window)
	add(&to.Counts, r.Counts)
	to.PoolWaits += r.PoolWaits
	to.SentInTime += r.SentInTime
	to.OtherTime += r.OtherTime
	to.Overhang += r.Overhang
	to.CPU.User += r.CPU.User
	to.CPU.System += r.CPU.System
	to.CPUs += r.CPUs
	to.GCPause += r.GCPause
	to.GCCount += r.GCCount
	to.BytesIn += r.BytesIn
	to.BytesOut += r.BytesOut
	if r.InFlightMean != nil {
		m.area += *r.InFlightMean * float64(r.Window)
	}
	for kind, e := range r.Errors {
		have, ok := to.Errors[kind]
		if !ok {
			have.Example = e.Example
		}
		have.Count += e.Count
		to.Errors[kind] = have
	}
	to.Timeline = mergeSlices(to.Timeline, r.Timeline)
	to.Slowest = append(to.Slowest, r.Slowest...)
	return m.addIntervals(r.Intervals)
}

// addIntervals merges the seconds that begin together.
func (m *merging) addIntervals(list []record.Interval) error {
	for _, in := range list {
		i, found := slices.BinarySearchFunc(m.to.Intervals, in.Start, func(x record.Interval, at time.Duration) int { return int(x.Start - at) })
		if !found {
			m.to.Intervals = slices.Insert(m.to.Intervals, i, in)
			continue
		}
		to := &m.to.Intervals[i]
		to.Length = max(to.Length, in.Length)
		var errs [2]error
		to.Response, errs[0] = mergeTwo(to.Response, in.Response)
		to.Service, errs[1] = mergeTwo(to.Service, in.Service)
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
	}
	return nil
}

// mergeOwn merges what the generators tell of themselves. What one of them does
// not know is not known of the whole. Ceilings add up, for each worker has a CPU
// of its own; StartMonotonic is of one machine's clock, and is left out.
func mergeOwn(to *record.LoadResult, parts []record.LoadRecord) {
	var ceiling float64
	var longest time.Duration
	var pauses []record.Pause
	rated, watched := true, true
	for i := range parts {
		r := &parts[i].Result
		if rated = rated && r.CeilingPerSec != nil; rated {
			ceiling += *r.CeilingPerSec
		}
		if watched = watched && r.PauseMax != nil; watched {
			longest = max(longest, *r.PauseMax)
			pauses = append(pauses, r.Pauses...)
		}
	}
	if rated {
		to.CeilingPerSec = &ceiling
	}
	if watched {
		slices.SortStableFunc(pauses, func(a, b record.Pause) int { return cmp.Compare(a.Start, b.Start) })
		to.Pauses, to.PauseMax = pauses, &longest
	}
}

func mergeTwo(a, b *record.Histogram) (*record.Histogram, error) {
	if a == nil || b == nil {
		return cmp.Or(a, b), nil
	}
	x, err := histogram.Decode(a)
	if err != nil {
		return nil, err
	}
	y, err := histogram.Decode(b)
	if err != nil {
		return nil, err
	}
	x.Merge(y)
	return x.Encode(), nil
}

func add(to *record.Counts, c record.Counts) {
	to.Planned += c.Planned
	to.OK += c.OK
	to.Miss += c.Miss
	to.Failed += c.Failed
	to.TimedOut += c.TimedOut
	to.Unfinished += c.Unfinished
	to.InWindow += c.InWindow
}

// mergeSlices adds up the seconds that begin together. A window may have ended
// in the middle of its last second: the longest counts.
func mergeSlices(a, b []record.Slice) []record.Slice {
	all := slices.Clone(a)
	for _, s := range b {
		i, found := slices.BinarySearchFunc(all, s.Start, func(x record.Slice, at time.Duration) int { return int(x.Start - at) })
		if !found {
			all = slices.Insert(all, i, s)
			continue
		}
		all[i].Right += s.Right
		all[i].Bad += s.Bad
		all[i].Max = max(all[i].Max, s.Max)
		all[i].Length = max(all[i].Length, s.Length)
	}
	return all
}

func (m *merging) end() {
	for i, h := range histograms(m.to) {
		*h = encode(m.held[i])
	}
	if m.to.Window > 0 {
		mean := m.area / float64(m.to.Window)
		m.to.InFlightMean = &mean
	}
	from := func(s record.Slow) time.Duration {
		if m.to.Kind == record.Open {
			return s.Intended
		}
		return s.Sent
	}
	slices.SortStableFunc(m.to.Slowest, func(a, b record.Slow) int {
		return int((b.Done - from(b)) - (a.Done - from(a)))
	})
	m.to.Slowest = m.to.Slowest[:min(len(m.to.Slowest), keepSlowest)]
	if len(m.to.Errors) == 0 {
		m.to.Errors = nil
	}
}
