package calibration

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"gonogo/runner/record"
	"gonogo/runner/stats"
)

// Row is one design under the noise of one source.
type Row struct {
	Target   string  `json:"noise_of"`
	Scenario string  `json:"scenario"`
	Metric   string  `json:"metric"`
	Margin   float64 `json:"margin_ratio"`
	Blocks   int     `json:"blocks"`
	Pairs    int     `json:"pairs"`             // the blocks that this metric is measured in
	Default  bool    `json:"default,omitempty"` // the default plan has so many blocks

	Different  Share  `json:"different"`       // equal servers: sessions with any BETTER or WORSE
	Void       Share  `json:"void"`            // equal servers: sessions voided by their twin
	Found      *Share `json:"found,omitempty"` // one target better by Effect: found. Absent if Effect is within the margin
	Equivalent Share  `json:"equivalent"`      // one target off by the margin: called EQUIVALENT
}

// job is a piece of a row that is simulated at once.
type job struct {
	row, sims int
	noise     stats.NoiseModel
	design    stats.Design
	seed      uint64
}

// chunk is how many sessions are simulated between two looks at the context.
const chunk = 25

// slow is from how many blocks a session costs a tenth of a second and more: the
// sign flips of all blocks are visited, 2^(blocks-1) of them. There a tenth of the
// sessions is simulated, and none of fewer than 10.
const slow = 16

// Blocks are the numbers of blocks to simulate beside the default, ascending.
func Blocks(standard int) []int {
	counts := []int{6, 10, 14, 20, standard}
	slices.Sort(counts)
	return slices.Compact(counts)
}

// Simulate counts verdicts of sims sessions for each source and number of blocks of
// the default plan d; of its own number four times as many. The same arguments give
// the same rows, whatever the number of CPUs.
func Simulate(ctx context.Context, sources []Source, d *record.Plan, counts []int, sims int, seed uint64) ([]Row, error) {
	var rows []Row
	var jobs []job
	for _, s := range sources {
		for _, blocks := range counts {
			n := sims
			switch {
			case blocks == d.Blocks:
				n = 4 * sims // here it is promised, and a rate near its limit takes thousands to tell
			case blocks > slow:
				n = sims / 10
			}
			if n == 0 {
				continue
			}
			design := stats.Design{Blocks: blocks, Rounds: rounds(d, s, blocks), Margin: s.Margin, Effect: Effect}
			for done := 0; done < n; done += chunk {
				jobs = append(jobs, job{len(rows), min(chunk, n-done), s.model(), design, seed + uint64(len(jobs))})
			}
			rows = append(rows, Row{Target: s.Target, Scenario: s.Scenario, Metric: s.Metric, Margin: s.Margin, Blocks: blocks, Pairs: design.Rounds[0],
				Default: blocks == d.Blocks})
		}
	}
	done := work(ctx, jobs)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i := range rows {
		rows[i].fill(jobs, done, i)
	}
	return rows, nil
}

// rounds are those of the source's metric and, after it, of the other primary tests,
// if the plan had so many blocks.
func rounds(d *record.Plan, s Source, blocks int) []int {
	scaled := func(n int) int { return max(1, (2*n*blocks+d.Blocks)/(2*d.Blocks)) }
	of := []int{scaled(planned(d, s.Target, s.Scenario))}
	own := true
	for _, q := range d.Primary {
		if own && q.Metric == s.Metric && q.Scenario == s.Scenario {
			own = false // it is the first
			continue
		}
		of = append(of, scaled(planned(d, q.Target, q.Scenario)))
	}
	return of
}

// planned are the pairs that the plan gives to a target in a scenario; all blocks
// where it does not measure it.
func planned(d *record.Plan, target, scenario string) int {
	if n := d.Rounds(target, scenario); n > 0 {
		return n
	}
	return d.Blocks
}

// work does all jobs, or as many as there is time for.
func work(ctx context.Context, jobs []job) []stats.Calibration {
	done := make([]stats.Calibration, len(jobs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				done[i] = stats.Calibrate(jobs[i].noise, jobs[i].design, jobs[i].sims, jobs[i].seed)
			}
		})
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return done
}

// fill adds up the jobs of row i.
func (r *Row) fill(jobs []job, done []stats.Calibration, i int) {
	var different, void, found, equivalent, trials int
	for j, c := range done {
		if jobs[j].row != i {
			continue
		}
		trials += jobs[j].sims
		different += c.FalseDifference.Hits
		void += c.Void.Hits
		found += c.Found.Hits
		equivalent += c.FalseEquivalent.Hits
	}
	r.Different = share(different, trials).within(0, falseMax)
	r.Void = share(void, trials)
	r.Equivalent = share(equivalent, trials).within(0, falseMax)
	if r.Margin >= Effect {
		return // it would be right to call it equivalent
	}
	f := share(found, trials)
	if r.Default { // other numbers of blocks show what it would take
		f = f.within(foundMin, 1)
	}
	r.Found = &f
}

func (r Row) missed() []string {
	var missed []string
	say := func(s Share, what string, limit string) {
		if s.Held == No {
			missed = append(missed, fmt.Sprintf("%s of %s at %d pairs: %s in %v %% (%s)", r.Metric, r.Target, r.Pairs, what, percent(s.Ratio), limit))
		}
	}
	say(r.Different, "equal servers called BETTER or WORSE", "at most 5 %")
	say(r.Equivalent, "servers that differ by the margin called EQUIVALENT", "at most 5 %")
	if r.Found != nil {
		say(*r.Found, "a difference of 10 % found", "at least 80 %")
	}
	return missed
}

// Advice says, for each metric in which the default plan does not find Effect for
// certain, what would.
func (r *Result) Advice() []string {
	var advice []string
	for _, row := range r.Simulated {
		if !row.Default || row.Found == nil || row.Found.Held == Yes {
			continue
		}
		text := fmt.Sprintf("%s with the noise of %s: %d pairs find a difference of 10 %% in %v %% of sessions, wanted 80 %%; ",
			row.Metric, row.Target, row.Pairs, percent(row.Found.Ratio))
		if n, ok := r.enough(row); ok {
			text += fmt.Sprintf("%d blocks would (a larger --budget)", n)
		} else {
			text += r.beyond(row)
		}
		advice = append(advice, text)
	}
	return advice
}

// enough is the least simulated number of blocks that finds Effect.
func (r *Result) enough(short Row) (int, bool) {
	for _, row := range r.Simulated {
		if row.Target == short.Target && row.Scenario == short.Scenario && row.Metric == short.Metric && row.Found.Ratio >= foundMin {
			return row.Blocks, true
		}
	}
	return 0, false
}

// beyond is for noise that no simulated number of blocks copes with.
func (r *Result) beyond(short Row) string {
	text := "none of the simulated numbers of blocks would"
	for _, s := range r.Noise {
		if s.Target != short.Target || s.Scenario != short.Scenario || s.Metric != short.Metric {
			continue
		}
		if s.Needed != nil && *s.Needed > short.Pairs {
			text += fmt.Sprintf(", by the deviation of pairs %d would", *s.Needed)
		}
		if s.Detectable != nil {
			text += fmt.Sprintf("; what %d pairs find is about %v %%", short.Pairs, percent(*s.Detectable))
		}
	}
	return text + "; a quieter machine helps most: gonogo doctor"
}
