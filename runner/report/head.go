package report

import (
	"fmt"
	"strings"
	"time"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// Grades say what the grades of a machine mean.
var Grades = map[string]string{
	"A": "bare metal, pinned, every gate holds",
	"B": "a guest or a container, or a gate that does not hold or is not known",
	"C": "a laptop, or CPUs that cannot be pinned",
	"D": "a gate has failed: numbers can be measured, verdicts cannot be given",
}

// head tells of the session, the machine and the plan.
func head(s *record.Session) []fact {
	facts := []fact{
		{"session", session(s)},
		{"machine", machine(s.Host)},
		{"versions", versions(s)},
		{"grade", grade(s.Host.Grade)},
		{"plan", plan(s.Plan)},
	}
	if text := findings.Unknown(&s.Plan); text != "" {
		facts = append(facts, fact{"unknown", text})
	}
	return facts
}

func session(s *record.Session) string {
	text := s.ID
	if !s.Started.IsZero() {
		text += ", started " + s.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	switch {
	case s.Finished.IsZero():
		text += ", never finished"
	case !s.Started.IsZero():
		text += fmt.Sprintf(", took %v", s.Finished.Sub(s.Started).Round(time.Second))
	}
	for _, gap := range s.Interruptions() {
		text += fmt.Sprintf(", interrupted %s and resumed %v later", gap.Where(), gap.Gap.Round(time.Second))
	}
	return text
}

func machine(h record.Host) string {
	cpus := count(len(h.CPUs), "CPU")
	if h.PhysicalCores > 0 {
		cpus += " on " + count(h.PhysicalCores, "core")
	}
	if h.CPUModel != "" {
		cpus = h.CPUModel + ", " + cpus
	}
	parts := []string{cpus}
	if h.MemoryBytes > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GiB", float64(h.MemoryBytes)/(1<<30)))
	}
	parts = append(parts, strings.TrimSpace(h.OS+"/"+h.Arch+" "+h.Kernel))
	switch h.Hypervisor {
	case "":
	case "unnamed": // the CPU says that there is one, nothing says which
		parts = append(parts, "VM")
	default:
		parts = append(parts, "VM ("+h.Hypervisor+")")
	}
	if h.Governor != "" {
		parts = append(parts, "governor "+h.Governor)
	}
	return strings.Join(parts, ", ")
}

func versions(s *record.Session) string {
	text := s.Host.GoVersion
	if s.Host.NodeVersion != "" {
		text += ", node " + s.Host.NodeVersion
	}
	for _, t := range s.Plan.Targets {
		if t.Foreign != nil && t.Foreign.Runtime != "" && !t.Twin {
			text += ", " + t.Name + ": " + t.Foreign.Runtime
		}
	}
	for _, t := range s.Plan.Targets {
		if v := alive(s, t.Name); v != "" && !t.Twin {
			text += ", " + t.Name + " " + v
		}
	}
	if s.Plan.Kit != "" {
		text += ", gonogo " + s.Plan.Kit
	}
	return text
}

// alive is the runtime of a target as its first live process named it, where that is
// neither the Go nor the Node that the machine is said to have.
func alive(s *record.Session, target string) string {
	for _, r := range s.Runs {
		if x := r.Settings; r.Step.Target == target && x != nil && x.Version != "" {
			if x.Version == s.Host.GoVersion || x.Version == s.Host.NodeVersion {
				return ""
			}
			return strings.TrimSpace(x.Runtime + " " + x.Version)
		}
	}
	return ""
}

func grade(g string) string {
	switch meaning, ok := Grades[g]; {
	case g == "":
		return "not graded: the machine was not watched before the first run"
	case ok:
		return g + ": " + meaning
	}
	return g
}

func plan(p record.Plan) string {
	text := fmt.Sprintf("%s, %s, shuffled by seed %d", count(p.Blocks, "block"), count(len(p.Steps), "run"), p.Seed)
	for _, sc := range p.Scenarios {
		if sc.Kind != record.Memory {
			text += fmt.Sprintf(", %v warm-up, %v window", sc.Warmup, sc.Window)
			break
		}
	}
	return text
}
