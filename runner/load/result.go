package load

import (
	"maps"
	"slices"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// result is the record of what was measured.
func (r *run) result() *record.LoadResult {
	rec := r.rec
	window := rec.end - rec.start
	res := &record.LoadResult{
		Engine: r.spec.Engine, Kind: r.spec.Kind, Connections: r.engine.established(), NewDials: rec.newDials,
		Start: r.opened.UTC(), StartMonotonic: monotonicAt(r.opened), Window: window, Warmup: r.warmup,
		Counts: rec.counts, Errors: maps.Clone(rec.errors),
		Service: encode(rec.service), Response: encode(rec.response), SendLag: encode(rec.lag), Pacing: encode(rec.pacing), Miss: encode(rec.miss),
		Timeline: slices.Concat(rec.warm, rec.slices), Slowest: rec.slowest.list(rec.start),
		Intervals: rec.encodeIntervals(),
		CPU: record.CPUTime{
			User:   r.end.cpu.User - r.before.cpu.User,
			System: r.end.cpu.System - r.before.cpu.System,
		},
		CPUs: r.engine.cpus(), GCPause: r.end.gcPause - r.before.gcPause, GCCount: uint32(r.end.gcCount - r.before.gcCount),
		OtherTime: rec.otherTime, Overhang: rec.overhang, BytesOut: rec.bytesOut, BytesIn: rec.bytesIn,
	}
	if rec.open {
		res.PoolWaits, res.SentInTime = rec.poolWaits, rec.sentInTime
	}
	res.Pauses, res.PauseMax = rec.pauses.result(rec.start)
	if window > 0 {
		mean := float64(rec.area) / float64(window)
		res.InFlightMean = &mean
	}
	if r.ceiling != nil {
		res.CeilingPerSec = r.ceiling(res.Engine)
	}
	res.Checks = Judge(r.spec, res)
	return res
}

// encode leaves out a histogram that holds nothing: it does not exist.
func encode(h *histogram.H) *record.Histogram {
	if h.Count() == 0 {
		return nil
	}
	return h.Encode()
}
