package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gonogo/runner/record"
)

// head tells of the machine and the plan.
func head(s *record.Session) []string {
	return []string{"Machine: " + machine(s.Host), "Plan: " + plan(s)}
}

func machine(h record.Host) string {
	parts := []string{strings.TrimSpace(h.OS + "/" + h.Arch + " " + h.Kernel)}
	cpus := fmt.Sprintf("%d CPUs", len(h.CPUs))
	if h.PhysicalCores > 0 {
		cpus += fmt.Sprintf(" on %d cores", h.PhysicalCores)
	}
	if h.CPUModel != "" {
		cpus = h.CPUModel + ", " + cpus
	}
	parts = append(parts, cpus)
	if h.MemoryBytes > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GiB", float64(h.MemoryBytes)/(1<<30)))
	}
	if h.Hypervisor != "" {
		parts = append(parts, "hypervisor "+h.Hypervisor)
	}
	if h.Governor != "" {
		parts = append(parts, "governor "+h.Governor)
	}
	parts = append(parts, h.GoVersion)
	if h.NodeVersion != "" {
		parts = append(parts, "node "+h.NodeVersion)
	}
	if h.Grade != "" {
		parts = append(parts, "grade "+h.Grade)
	}
	return strings.Join(parts, ", ")
}

func plan(s *record.Session) string {
	blocks := fmt.Sprintf("%d blocks", s.Plan.Blocks)
	if s.Plan.Blocks == 1 {
		blocks = "1 block"
	}
	text := fmt.Sprintf("%s of %d runs in shuffled order (seed %d), each run a fresh process", blocks, perBlock(s.Plan), s.Plan.Seed)
	for _, sc := range s.Plan.Scenarios {
		if sc.Kind != record.Memory {
			text += fmt.Sprintf(", %v warm-up, %v window", sc.Warmup, sc.Window)
			break
		}
	}
	if s.Plan.Kit != "" {
		text += "; by gonogo " + s.Plan.Kit
	}
	if !s.Started.IsZero() {
		text += "; started " + s.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if !s.Finished.IsZero() && !s.Started.IsZero() {
		text += fmt.Sprintf(", took %v", s.Finished.Sub(s.Started).Round(time.Second))
	}
	return text + "."
}

func perBlock(p record.Plan) int {
	if p.Blocks == 0 {
		return 0
	}
	return len(p.Steps) / p.Blocks
}

// describe says what a scenario sends.
func describe(sc record.Scenario) string {
	var requests []string
	for _, r := range sc.Requests {
		requests = append(requests, r.Method+" "+r.Path)
	}
	text := fmt.Sprintf("%s: %s, %d connections", sc.Name, strings.Join(slices.Compact(requests), " + "), sc.Connections)
	switch {
	case sc.Kind == record.Memory:
		text += fmt.Sprintf(", PSS of the whole process tree: %v idle, %v of load, %v of rest", sc.Idle, sc.Window, sc.Rest)
	case sc.Kind == record.Open || sc.RatePerSec > 0:
		text += fmt.Sprintf(", open loop at %v requests/s", sc.RatePerSec)
	default:
		text += ", closed loop (queueing does not show)"
	}
	return text
}
