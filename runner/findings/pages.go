package findings

import (
	"fmt"

	"gonogo/runner/record"
)

// foreignFloor is what nobody would buy memory for.
const foreignFloor = 5 << 20

// foreignPages looks for a program of others that maps the same files: another node
// on the machine takes half of the shared pages of ours off its PSS. A process that
// is alone in its tree shares with nobody of ours, so there all that PSS lacks to
// RSS is shared with others. Of a tree of several nothing can be told.
func foreignPages(s *record.Session, e *Evaluation) []record.Finding {
	most := s.Plan.Rules.ForeignPagesMax
	var all []record.Finding
	for _, c := range e.Cells {
		var steps []string
		worst := 0.0
		for _, p := range c.Processes {
			rss, pss := p.Values[LoadRSS], p.Values[LoadPSS]
			if shared := rss - pss; most > 0 && p.Values[Trees] == 1 && pss > 0 && shared > most*rss && shared > foreignFloor {
				steps = append(steps, p.Step.Key())
				worst = max(worst, shared)
			}
		}
		if len(steps) > 0 {
			all = append(all, record.Finding{
				Code: "foreign-pages", Severity: record.Warn, Steps: steps,
				Observed: fmt.Sprintf("PSS %s below RSS", mebibytes(worst)), Threshold: fmt.Sprintf("%s %% of RSS and %s", digits(100*most), mebibytes(foreignFloor)),
				Text: fmt.Sprintf("%s: in %d of %s another program mapped the same files, so the server's PSS is too small", c.Name(), len(steps), count(len(c.Processes), "run")),
				Hint: "end other programs of the same runtime; RSS alone does not depend on them",
			})
		}
	}
	return all
}

// doubleCount shows what summing RSS over a tree would add: pages that its processes
// share are in it once for each of them.
func doubleCount(s *record.Session, e *Evaluation) []record.Finding {
	most := s.Plan.Rules.ForeignPagesMax
	var seen, steps []string
	for i := range e.Cells {
		c := &e.Cells[i]
		rss, pss := c.Summary[LoadRSS].Median, c.Summary[LoadPSS].Median
		if most > 0 && c.Summary[Trees].Min > 1 && pss > 0 && rss-pss > most*rss {
			seen = append(seen, fmt.Sprintf("%s: RSS %s, PSS %s", c.Name(), mebibytes(rss), mebibytes(pss)))
			steps = append(steps, c.steps()...)
		}
	}
	if len(seen) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "double-count", Severity: record.Note, Steps: steps, Observed: some(seen), Threshold: fmt.Sprintf("%s %% apart", digits(100*most)),
		Text: "summed over processes, RSS counts shared pages once for each: memory is compared as PSS, which divides them",
	}}
}

// pageOrder holds every reading against USS <= PSS <= RSS, which is so by definition.
func pageOrder(_ *record.Session, e *Evaluation) []record.Finding {
	var steps []string
	observed := ""
	for _, c := range e.Cells {
		for _, p := range c.Processes {
			if what := disorder(p.run.Memory); what != "" {
				steps = append(steps, p.Step.Key())
				if observed == "" {
					observed = what + " in " + p.Step.Key()
				}
			}
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return []record.Finding{{
		Code: "memory-order", Severity: record.Warn, Steps: steps, Observed: observed, Threshold: "USS <= PSS <= RSS",
		Text: fmt.Sprintf("memory was read wrongly in %s: private pages are part of proportional ones, and these of resident ones", count(len(steps), "run")),
	}}
}

// disorder describes the first reading of a run that is out of order.
func disorder(m *record.MemoryWatch) string {
	if m == nil {
		return ""
	}
	readings := []*record.MemoryReading{m.Idle, m.LoadEnd, m.Rest}
	for i := range m.Load {
		readings = append(readings, &m.Load[i].MemoryReading)
	}
	for _, r := range readings {
		if r == nil || r.PSS == nil {
			continue
		}
		pss := *r.PSS
		if pss > r.RSS || r.USS != nil && *r.USS > pss {
			text := fmt.Sprintf("PSS %s, RSS %s", mebibytes(float64(pss)), mebibytes(float64(r.RSS)))
			if r.USS != nil {
				text = "USS " + mebibytes(float64(*r.USS)) + ", " + text
			}
			return text
		}
	}
	return ""
}

func mebibytes(bytes float64) string { return digits(bytes/(1<<20)) + " MiB" }
