package findings

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// errorsInWindow: requests without a right answer in runs that count. They are
// in no rate; more than the plan's limit would have failed the run.
func errorsInWindow(s *record.Session, e *Evaluation) []record.Finding {
	var all []record.Finding
	for _, c := range e.Cells {
		if c.Counts.Bad() == 0 {
			continue
		}
		var steps []string
		kinds := map[string]record.ErrorKind{}
		for _, p := range c.Processes {
			if p.run.Load.Counts.Bad() > 0 {
				steps = append(steps, p.Step.Key())
			}
			for name, k := range p.run.Load.Errors {
				sum := kinds[name]
				sum.Count += k.Count
				if sum.Example == "" {
					sum.Example = k.Example
				}
				kinds[name] = sum
			}
		}
		all = append(all, record.Finding{
			Code: "errors", Severity: record.Warn, Steps: steps,
			Observed:  fmt.Sprintf("%d of %d requests", c.Counts.Bad(), c.Counts.Planned),
			Threshold: fmt.Sprintf("none; a run with more than %s %% is failed", limit(100*s.Plan.Rules.ErrorRatioMax)),
			Text:      fmt.Sprintf("%s: requests without a right answer%s", c.Name(), list(kinds)),
		})
	}
	return all
}

// list names the kinds of error, most frequent first.
func list(kinds map[string]record.ErrorKind) string {
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if kinds[a].Count != kinds[b].Count {
			if kinds[a].Count > kinds[b].Count {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, n := range names {
		part := fmt.Sprintf("%d x %s", kinds[n].Count, n)
		if ex := kinds[n].Example; ex != "" {
			part += " (" + ex + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + some(parts)
}
