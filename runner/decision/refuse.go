package decision

import (
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// refusals are all reasons for which a session is no evidence for a decision.
func refusals(s *record.Session, e *findings.Evaluation) []string {
	var all []string
	add := func(format string, a ...any) { all = append(all, fmt.Sprintf(format, a...)) }
	if s.Plan.Quick {
		add("it is a smoke run")
	}
	if s.Plan.Kind == record.Memory {
		add("it measured memory alone, and no question was asked before its first run")
	}
	if s.Plan.Kind == record.Capacity {
		add("it measured capacity alone, and no question was asked before its first run; replicas by CPU are peak_rate_per_sec over what a replica gives, for which a comparison's CPU time of a request stands")
	}
	if s.Plan.Kind == record.Scaling {
		text := "it swept " + s.Plan.Scale.Factor + " alone, and no question was asked before its first run"
		if uses := e.Scale.Uses(); len(uses) > 0 {
			text += "; beside a decision it says what a comparison cannot: " + strings.Join(uses, "; ")
		}
		add("%s", text)
	}
	if s.Plan.Kind == record.MemoryFloor {
		add("it measured memory floors alone, and no question was asked before its first run; gonogo decide COMPARISON --with this one takes them")
	}
	if s.Plan.Kind == record.Variants {
		add("it measured variants of the servers, and no question was asked before its first run; gonogo compare with a variant among its targets asks")
	}
	if s.Plan.Kind == record.Profiling {
		add("its runs carried profilers, which take time and memory of their own, and no question was asked before its first run")
	}
	for _, f := range e.Findings {
		if f.Severity == record.Voids {
			add("it is invalid: %s", f.Text)
		}
	}
	all = append(all, versionless(s)...)
	if names := s.Plan.Remote(); len(names) > 0 {
		add("%s ran already: %s", strings.Join(names, ", "), findings.FreshRule)
	}
	if s.Host.CPUModel == "" {
		add("the CPU model is not known")
	}
	all = append(all, disordered(s)...)
	for i := range s.Runs {
		switch r := &s.Runs[i]; r.Outcome {
		case record.Done, record.Failed, record.Void, record.Interrupted:
		default:
			add("run %s has no status", r.Step.Key())
		}
	}
	return all
}

// versions are the runtimes of each target as its live processes named them, each
// once, in run order.
func versions(s *record.Session) map[string][]string {
	all := map[string][]string{}
	for _, t := range s.Plan.Targets {
		if t.Foreign != nil && t.Foreign.Runtime != "" { // by the user's own command
			all[t.Name] = []string{t.Foreign.Runtime}
		}
	}
	for _, r := range s.Runs {
		if r.Outcome != record.Done || r.Settings == nil || r.Settings.Runtime == "" || r.Settings.Version == "" {
			continue
		}
		if v := r.Settings.Runtime + " " + r.Settings.Version; !slices.Contains(all[r.Step.Target], v) {
			all[r.Step.Target] = append(all[r.Step.Target], v)
		}
	}
	return all
}

func versionless(s *record.Session) []string {
	var all []string
	known := versions(s)
	for _, t := range s.Plan.Targets {
		switch v := known[t.Name]; len(v) {
		case 0:
			why := ""
			if t.Foreign != nil {
				why = ": give its target a version in the plan file, such as [\"node\", \"--version\"]"
			}
			all = append(all, fmt.Sprintf("the runtime version of %s is not known%s", t.Name, why))
		case 1:
		default:
			all = append(all, fmt.Sprintf("%s ran as more than one version: %v", t.Name, v))
		}
	}
	return all
}

// disordered asks whether the plan has an order and whether the runs kept to it.
// Without it nobody can tell drift of the machine from a difference.
func disordered(s *record.Session) []string {
	if s.Plan.Kind.Searched() { // whose trials take turns
		return nil
	}
	if len(s.Plan.Steps) == 0 {
		return []string{"the plan has no order of steps"}
	}
	for i, st := range s.Plan.Steps {
		if st.Index != i || st.Block < 1 {
			return []string{"the steps of the plan are not numbered in their order"}
		}
	}
	// A group that ran again did so at once, so a later step began later still.
	first := make([]*record.Run, len(s.Plan.Steps))
	for i := range s.Runs {
		if r := &s.Runs[i]; r.Attempt == 0 && r.Step.Index >= 0 && r.Step.Index < len(first) {
			first[r.Step.Index] = r
		}
	}
	var last *record.Run
	for _, r := range first {
		if r == nil {
			continue
		}
		if r.Started.IsZero() {
			return []string{fmt.Sprintf("run %s does not say when it began", r.Step.Key())}
		}
		if last != nil && r.Started.Before(last.Started) {
			return []string{fmt.Sprintf("run %s began before run %s, against the order of the plan", r.Step.Key(), last.Step.Key())}
		}
		last = r
	}
	return changedPlan(s)
}

// changedPlan refuses runs that were made under different plans: a rule that
// changed under way was not fixed before the first run.
func changedPlan(s *record.Session) []string {
	for i := range s.Runs {
		if s.Runs[i].PlanSHA256 != s.Runs[0].PlanSHA256 {
			return []string{fmt.Sprintf("run %s was made under another plan than run %s", s.Runs[i].Step.Key(), s.Runs[0].Step.Key())}
		}
	}
	return nil
}

func planSum(s *record.Session) string {
	if len(s.Runs) == 0 {
		return ""
	}
	return s.Runs[0].PlanSHA256
}

func expiry(s *record.Session) record.Expiry {
	x := record.Expiry{
		Runtimes: map[string]string{}, CPUModel: s.Host.CPUModel, CPUs: len(s.Host.CPUs), Kernel: s.Host.Kernel,
		Hypervisor: s.Host.Hypervisor, SourceRevision: s.Host.SourceRevision, Binaries: s.Host.Binaries,
	}
	for target, v := range versions(s) {
		if t, _ := s.Plan.Target(target); !t.Twin {
			x.Runtimes[target] = v[0]
		}
	}
	return x
}
