package load

import (
	"fmt"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// DutyRatioMin and DutyRatioMax are K1's: closed loop, share of the time in which a
// connection carries a request. A plan archives them for its reader.
const DutyRatioMin, DutyRatioMax = 0.95, 1.005

// What a run is held against. The letters are those of the measurement method.
const (
	timeLost     = 0.001 // K1, Little's law: of the time in flight, unaccounted for
	deliveredMin = 0.99  // G4: of the planned requests, sent before the window closed
	pacingShare  = 0.10  // G4: p99 of pacing to p50 of response time ...
	pacingFloor  = time.Millisecond
	pacingMax    = 10 * time.Millisecond
	poolWaitMax  = 0.001 // G8: of the requests, found all connections busy
	gcMax        = 0.001 // G6: of the window
	cpuMax       = 0.80  // G6: of the generator's CPUs
	ceilingMax   = 0.70  // G6: of the rate against the null server
)

// Judge holds a result against what a true measurement looks like. It reads the
// record alone, so that a merged one is judged like any other. A check that fails and voids says that the numbers
// mean nothing, or only that the generator was the limit.
func Judge(spec *record.LoadSpec, res *record.LoadResult) []record.Check {
	j := judgement{spec: spec, res: res}
	j.connections()
	j.countsAddUp()
	j.timeAddsUp()
	if spec.Kind == record.Open {
		j.schedule()
	} else {
		j.duty()
	}
	j.generator()
	return j.checks
}

type judgement struct {
	spec   *record.LoadSpec
	res    *record.LoadResult
	checks []record.Check
}

func (j *judgement) void(name string, ok bool, observed, limit string) {
	j.checks = append(j.checks, record.Check{Name: name, OK: ok, Void: true, Observed: observed, Limit: limit})
}

func (j *judgement) warn(name string, ok bool, observed, limit string) {
	j.checks = append(j.checks, record.Check{Name: name, OK: ok, Observed: observed, Limit: limit})
}

// pacing voids, unless the specification says that the generator's own delays are
// no fault of the run.
func (j *judgement) pacing(name string, ok bool, observed, limit string) {
	if j.spec.LaxPacing {
		j.warn(name, ok, observed, limit)
		return
	}
	j.void(name, ok, observed, limit)
}

func (j *judgement) connections() {
	r := j.res
	j.void("connections at the end", r.Connections == j.spec.Connections,
		fmt.Sprint(r.Connections), fmt.Sprint(j.spec.Connections))
	if !j.spec.NewConns {
		// A connection that an error broke is replaced, and the error counts.
		most := r.Counts.Failed + r.Counts.TimedOut
		j.void("new connections in the window", uint64(r.NewDials) <= most, fmt.Sprint(r.NewDials), fmt.Sprintf("%d, one a failed request", most))
	}
}

// countsAddUp is conservation (K2): what is counted twice must agree.
func (j *judgement) countsAddUp() {
	c := j.res.Counts
	sum := c.Answered() + c.Bad()
	j.void("planned = answered + failed + timed out + unfinished", sum == c.Planned, fmt.Sprint(sum), fmt.Sprint(c.Planned))
	held := count(j.res.Service) + count(j.res.Miss)
	j.void("values in the histograms", held == c.Answered()+c.TimedOut, fmt.Sprint(held), fmt.Sprint(c.Answered()+c.TimedOut))
	var right uint64
	for _, s := range j.res.Timeline {
		if s.Start >= 0 {
			right += s.Right
		}
	}
	j.void("right answers in the seconds of the window", right == c.InWindow, fmt.Sprint(right), fmt.Sprint(c.InWindow))
}

// timeAddsUp is Little's law without its assumption of a long window: the
// requests in flight, integrated over the window, are the sum of the times that
// each spent there. A sample that was lost or counted twice breaks it.
func (j *judgement) timeAddsUp() {
	r := j.res
	if r.InFlightMean == nil {
		return
	}
	flight := *r.InFlightMean*float64(r.Window) + float64(r.Overhang)
	spent := float64(r.OtherTime)
	if r.Service != nil {
		spent += float64(r.Service.Sum)
	}
	if flight == 0 && spent == 0 {
		return
	}
	off := flight/spent - 1
	j.void("time in flight to time recorded", off >= -timeLost && off <= timeLost, fmt.Sprintf("%+.4f %%", 100*off), fmt.Sprintf("±%.2g %%", 100*timeLost))
}

// duty is the share of the time in which a connection carried a request; the
// rest is the generator's own time between two of them. With a fixed number of
// requests the connections run out of work one by one, and it means nothing.
func (j *judgement) duty() {
	r := j.res
	if r.InFlightMean == nil || r.Connections == 0 || j.spec.Count > 0 {
		return
	}
	duty := *r.InFlightMean / float64(r.Connections)
	say := j.void
	if j.spec.LaxDuty {
		say = j.warn
	}
	say("duty ratio", duty >= DutyRatioMin && duty <= DutyRatioMax, fmt.Sprintf("%.3f", duty), fmt.Sprintf("%.3g to %.4g", DutyRatioMin, DutyRatioMax))
}

// schedule is how well an open loop kept it.
func (j *judgement) schedule() {
	r, planned := j.res, float64(j.res.Counts.Planned)
	if planned == 0 {
		j.void("requests due in the window", false, "0", "1")
		return
	}
	delivered := float64(r.SentInTime) / planned
	why := ""
	if delivered < deliveredMin && r.Window > 0 {
		reached := float64(r.SentInTime) / r.Window.Seconds()
		why = fmt.Sprintf(", %.0f/s of the %.0f/s asked: ", reached, j.spec.RatePerSec/float64(max(j.spec.Workers, 1)))
		if float64(r.PoolWaits) > planned/2 {
			why += "all connections were busy"
		} else {
			why += "the generator fell behind"
		}
	}
	j.pacing("sent in time", delivered >= deliveredMin, fmt.Sprintf("%.2f %%%s", 100*delivered, why), fmt.Sprintf("%.3g %%", 100*deliveredMin))
	waits := float64(r.PoolWaits) / planned
	j.warn("requests that waited for a connection", waits <= poolWaitMax, fmt.Sprintf("%.2f %%", 100*waits), fmt.Sprintf("%.2g %%", 100*poolWaitMax))
	pacing, err := histogram.Decode(r.Pacing)
	if err != nil {
		return // no request was sent
	}
	limit := pacingFloor
	if response, err := histogram.Decode(r.Response); err == nil {
		limit = max(limit, time.Duration(pacingShare*float64(response.Quantile(0.5))))
	}
	p99 := pacing.Quantile(0.99)
	j.pacing("p99 of the generator's own delay", p99 <= limit, p99.String(), limit.String())
	j.warn("longest of the generator's own delays", pacing.Max() <= pacingMax, pacing.Max().String(), pacingMax.String())
}

// generator is whether the generator had something left.
func (j *judgement) generator() {
	r := j.res
	if r.Window <= 0 {
		return
	}
	gc := float64(r.GCPause) / float64(r.Window)
	j.void("garbage collection of the generator", gc < gcMax, fmt.Sprintf("%.3g %% of the window", 100*gc), fmt.Sprintf("%.2g %%", 100*gcMax))
	share := float64(r.CPU.Total()) / float64(r.Window) / float64(max(r.CPUs, 1))
	// Where the generator was the limit a closed loop's rate is a lower bound: its row
	// says so. Dropping the run would drop the fastest servers' fastest runs.
	limit := j.void
	if j.spec.Kind != record.Open {
		limit = j.warn
	}
	limit("CPU of the generator", share <= cpuMax, fmt.Sprintf("%.0f %% of %d", 100*share, r.CPUs), fmt.Sprintf("%.0f %%", 100*cpuMax))
	if r.CeilingPerSec != nil {
		rate := float64(r.Counts.InWindow) / r.Window.Seconds()
		most := ceilingMax * *r.CeilingPerSec
		limit("rate to what the generator can do", rate <= most, fmt.Sprintf("%.0f/s", rate), fmt.Sprintf("%.0f/s", most))
	}
}

func count(h *record.Histogram) uint64 {
	if h == nil {
		return 0
	}
	return h.Count
}
