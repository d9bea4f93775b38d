package findings

import (
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// strict is a session of six blocks under the rules of the cross-checks: a on one
// core, a-2 of the same runtime on two, and memory cells under the load of open ones.
func strict() *record.Session {
	s := pair(6)
	r := &s.Plan.Rules
	r.UtilisationMax, r.SuperLinearMax, r.ForeignPagesMax = 1.02, 1.05, 0.10
	s.Plan.Targets[0].Argv = []string{"server"}
	s.Plan.Targets = append(s.Plan.Targets, record.Target{Name: "a-2", Argv: []string{"server"}, Workers: 2, CPUs: []int{0, 2}, GeneratorCPUs: []int{1}})
	s.Plan.Scenarios = append(s.Plan.Scenarios,
		record.Scenario{Name: "open", Kind: record.Open, RateOfCapacity: 0.5, Arrivals: "poisson"},
		record.Scenario{Name: "memory", Kind: record.Memory, RateOfCapacity: 0.5, Arrivals: "poisson"})
	mib := func(n uint64) *uint64 { n <<= 20; return &n }
	add := func(b int, target, scenario string, n uint64) *record.Run {
		st := record.Step{Index: len(s.Plan.Steps), Block: b, Target: target, Scenario: scenario}
		s.Plan.Steps = append(s.Plan.Steps, st)
		s.Runs = append(s.Runs, *run(st, n))
		return &s.Runs[len(s.Runs)-1]
	}
	for b := 1; b <= 6; b++ {
		add(b, "a-2", "get", 1900).ServerCPU = &record.CPUTime{User: 4 * time.Second} // 1.9 times as many, on two CPUs for 2 s
		for _, target := range []string{"a", "a-2"} {
			add(b, target, "open", 500)
			r := add(b, target, "memory", 500)
			r.Load.Service, r.ServerCPU = nil, nil
			reading := record.MemoryReading{Processes: 1, USS: mib(50), PSS: mib(56), RSS: 59 << 20}
			if target == "a-2" {
				reading = record.MemoryReading{Processes: 3, USS: mib(90), PSS: mib(140), RSS: 150 << 20}
			}
			r.Memory = &record.MemoryWatch{Idle: &reading, LoadEnd: &reading, Rest: &reading, Load: []record.MemoryAt{{MemoryReading: reading}}}
		}
	}
	for i := range s.Runs {
		if s.Runs[i].ServerCPU != nil {
			s.Runs[i].ServerCPUOver = ptr(2020 * ms) // a little more than the window
		}
	}
	return s
}

// in returns the run of a target and scenario in a block.
func in(s *record.Session, target, scenario string, block int) *record.Run {
	for i := range s.Runs {
		if st := s.Runs[i].Step; st.Target == target && st.Scenario == scenario && st.Block == block {
			return &s.Runs[i]
		}
	}
	panic("no such run")
}

func TestCrossChecks(t *testing.T) {
	each := func(s *record.Session, target, scenario string, f func(r *record.Run)) {
		for b := 1; b <= 6; b++ {
			f(in(s, target, scenario, b))
		}
	}
	setMemory := func(r *record.Run, pss, rss uint64) {
		for _, m := range []*record.MemoryReading{r.Memory.Idle, &r.Memory.Load[0].MemoryReading} {
			pss := pss << 20
			m.PSS, m.RSS, m.USS = &pss, rss<<20, nil
		}
	}
	for _, c := range []struct {
		name     string
		plant    func(s *record.Session)
		want     string // code; "" for none
		observed string
	}{
		{"all in order", func(*record.Session) {}, "", ""},

		// 2.08 s in 2.02 s on one CPU: 103 %.
		{"more CPU time than one CPU gives", func(s *record.Session) {
			in(s, "a", "get", 2).ServerCPU = &record.CPUTime{User: 2080 * ms}
		}, "utilisation", "103 % of 1 CPU"},
		// 2.05 s is 102.5 % of the window, and 101.5 % of the time it was counted over.
		{"as much as the time between the readings gives", func(s *record.Session) {
			in(s, "a", "get", 2).ServerCPU = &record.CPUTime{User: 2050 * ms}
		}, "", ""},
		{"on all CPUs of the machine, if it is not pinned", func(s *record.Session) {
			s.Host.CPUs, s.Plan.Targets[0].CPUs = []int{0, 1}, nil
			in(s, "a", "get", 2).ServerCPU = &record.CPUTime{User: 4000 * ms}
		}, "shared-cpus", ""},
		{"the time between the readings is not known", func(s *record.Session) {
			in(s, "a", "get", 2).ServerCPU, in(s, "a", "get", 2).ServerCPUOver = &record.CPUTime{User: 9 * time.Second}, nil
		}, "", ""},

		{"two cores serve 2.2 times as much", func(s *record.Session) {
			// A twin has no say, wherever it stands.
			s.Plan.Targets = append([]record.Target{{Name: "a-twin", Argv: []string{"server"}, Workers: 1, Twin: true, CPUs: []int{0}, GeneratorCPUs: []int{1}}}, s.Plan.Targets...)
			each(s, "a-2", "get", func(r *record.Run) { r.Load.Counts = record.Counts{Planned: 2200, OK: 2200, InWindow: 2200} })
		}, "super-linear", "a-2/get 2.20 x a on 2 cores"},
		{"2.2 times, on CPUs that the generator takes too", func(s *record.Session) {
			for i := range s.Plan.Targets {
				if x := &s.Plan.Targets[i]; x.Name == "a-2" {
					x.GeneratorCPUs = x.CPUs
				}
			}
			each(s, "a-2", "get", func(r *record.Run) { r.Load.Counts = record.Counts{Planned: 2200, OK: 2200, InWindow: 2200} })
		}, "shared-cpus", ""},
		{"2.1 times, which is allowed", func(s *record.Session) {
			each(s, "a-2", "get", func(r *record.Run) { r.Load.Counts = record.Counts{Planned: 2100, OK: 2100, InWindow: 2100} })
		}, "", ""},
		{"3.8 times what another runtime serves", func(s *record.Session) {
			s.Plan.Targets[0], s.Plan.Targets[1] = s.Plan.Targets[1], s.Plan.Targets[0]
			s.Plan.Targets[0].Argv = []string{"other"}
			each(s, "b", "get", func(r *record.Run) { r.Load.Counts = record.Counts{Planned: 500, OK: 500, InWindow: 500} })
		}, "", ""},
		{"of one that was not at its limit", func(s *record.Session) {
			each(s, "a-2", "get", func(r *record.Run) { r.Load.Counts = record.Counts{Planned: 2200, OK: 2200, InWindow: 2200} })
			each(s, "a", "get", func(r *record.Run) { r.ServerCPU = &record.CPUTime{User: time.Second} })
		}, "not-server-bound", ""},

		{"another program has its files", func(s *record.Session) { setMemory(in(s, "a", "memory", 3), 40, 62) },
			"foreign-pages", "PSS 22.0 MiB below RSS"},
		{"in all runs", func(s *record.Session) {
			each(s, "a", "memory", func(r *record.Run) { setMemory(r, 40, 62) })
		}, "foreign-pages", "PSS 22.0 MiB below RSS"},
		{"6 MiB of 100 are a small share", func(s *record.Session) { setMemory(in(s, "a", "memory", 3), 94, 100) }, "", ""},
		{"4 MiB are too few to matter", func(s *record.Session) { setMemory(in(s, "a", "memory", 3), 16, 20) }, "", ""},
		{"summed RSS is twice PSS", func(s *record.Session) {
			each(s, "a-2", "memory", func(r *record.Run) { setMemory(r, 140, 280) })
		}, "double-count", "a-2/memory: RSS 280 MiB, PSS 140 MiB"},
		{"proportional pages that are not resident", func(s *record.Session) { setMemory(in(s, "a", "memory", 3), 60, 59) },
			"memory-order", "PSS 60.0 MiB, RSS 59.0 MiB in a/memory/b03"},
		{"private pages that are not resident", func(s *record.Session) {
			in(s, "a", "memory", 3).Memory.Idle.USS = ptr(uint64(57 << 20))
		}, "memory-order", "USS 57.0 MiB, PSS 56.0 MiB, RSS 59.0 MiB in a/memory/b03"},
		{"all of it, under a plan without these rules", func(s *record.Session) {
			in(s, "a", "get", 2).ServerCPU = &record.CPUTime{User: 9 * time.Second}
			each(s, "a-2", "get", func(r *record.Run) { r.Load.Counts = record.Counts{Planned: 9000, OK: 9000, InWindow: 9000} })
			each(s, "a", "memory", func(r *record.Run) { setMemory(r, 40, 62) })
			each(s, "a-2", "memory", func(r *record.Run) { setMemory(r, 140, 280) })
			r := &s.Plan.Rules
			r.UtilisationMax, r.SuperLinearMax, r.ForeignPagesMax = 0, 0, 0
		}, "", ""},
	} {
		s := strict()
		c.plant(s)
		e := Evaluate(s)
		if c.want == "" {
			if len(e.Findings) > 0 {
				t.Errorf("%s: %v %+v", c.name, codes(e), e.Findings[0])
			}
			continue
		}
		f := findingOf(t, e, c.want)
		if !strings.Contains(f.Observed, c.observed) || len(e.Findings) != 1 {
			t.Errorf("%s: %v: %+v", c.name, codes(e), f)
		}
	}
}
