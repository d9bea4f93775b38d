package plan

import (
	"fmt"
	"time"

	"gonogo/runner/record"
)

// ProfileOptions are what the command line may decide of a session of profiles.
type ProfileOptions struct {
	Kit     string
	CPUs    CPUSets
	Targets []string // one or two names; empty takes the pair on one core
	Seed    uint64
	Quick   bool
	Window  time.Duration // 0 takes the default; profiles of Go take whole seconds of it
}

const (
	profileConnections = 50 // of the closed loop that saturates in the comparison, too
	profileWarmup      = 4 * time.Second
	profileWindow      = 10 * time.Second
	traceWindow        = 3 * time.Second
)

// profiledGo is the build of plainGo that can be profiled; the plain one does not link pprof.
const plainGo, profiledGo = "bin/server-go", "bin/server-go-profile"

// PlainLoad is the scenario of a session of profiles in which nobody profiles: what the
// others are held against.
const PlainLoad = "profile-none"

// profilesOf are those that there are of a runtime.
var profilesOf = map[string][]string{
	"go":   {record.ProfileCPU, record.ProfileMemory, record.ProfileWaits, record.ProfileTrace},
	"node": {record.ProfileCPU, record.ProfileMemory, record.ProfileHeap, record.ProfileWaits},
}

// ProfileRules are the limits of the diagnosis. The share of collection is that of the
// example in which it is called a problem (20 %); the other limits have no source: they
// are round numbers far from what a server shows that does not suffer from it.
func ProfileRules() record.ProfileRules {
	return record.ProfileRules{BusyMin: 0.85, IdleMax: 0.5, LockMin: 0.1, GCMin: 0.2, LiveMin: 64, LiveLeast: 1 << 20,
		LoopMin: 10 * time.Millisecond, LoopFactor: 3, LatencyMean: 2}
}

// NewProfile makes the plan of a session of profiles: one run of each target without a
// profiler, and one with each profiler of its runtime.
func NewProfile(o ProfileOptions) (*record.Plan, error) {
	warmup, window, trace := profileWarmup, profileWindow, traceWindow
	if o.Window > 0 {
		window = o.Window
	}
	if o.Quick {
		warmup, window, trace = 300*time.Millisecond, time.Second, time.Second
	}
	all := choice(o.CPUs, o.Targets)
	if len(o.Targets) == 0 {
		o.Targets = []string{all[0].Name, all[1].Name}
	}
	targets, err := selectTargets(all, o.Targets, false)
	if err != nil {
		return nil, err
	}
	for i := range targets {
		if targets[i].Argv[0] == plainGo {
			targets[i].Argv = append([]string{profiledGo}, targets[i].Argv[1:]...)
		}
	}
	rules := ProfileRules()
	p := &record.Plan{
		SchemaVersion: record.SchemaVersion, Kit: o.Kit, Kind: record.Profiling, Quick: o.Quick, Seed: o.Seed,
		Part: partOf(o.CPUs, targets), Blocks: 1, Targets: targets, Rules: DefaultRules(), RequestTimeout: 5 * time.Second,
	}
	p.Rules.Profile = &rules
	load := record.Scenario{Name: PlainLoad, Kind: record.Closed, Requests: get, Connections: profileConnections, Warmup: warmup, Window: window}
	p.Scenarios = []record.Scenario{load}
	have := map[string][]string{}
	for _, t := range targets {
		r := runtimeOf(t)
		if profilesOf[r] == nil {
			return nil, fmt.Errorf("plan profile: %s runs on %s, of which there are no profiles; Go and Node have them", t.Name, r)
		}
		for _, of := range profilesOf[r] {
			have[of] = append(have[of], t.Name)
		}
	}
	for _, of := range []string{record.ProfileCPU, record.ProfileMemory, record.ProfileHeap, record.ProfileWaits, record.ProfileTrace} {
		if len(have[of]) == 0 {
			continue
		}
		sc := load
		sc.Name, sc.Profile, sc.Targets = "profile-"+of, of, have[of]
		if of == record.ProfileTrace {
			sc.Window = min(window, trace)
		}
		p.Scenarios = append(p.Scenarios, sc)
	}
	p.Steps = Order(p)
	p.Expected = contractTime
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		p.Expected += StepTime(sc)
	}
	p.Budget = p.Expected
	return p, nil
}
