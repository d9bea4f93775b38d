package example

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"gonogo/runner/floor"
	plans "gonogo/runner/plan"
	"gonogo/runner/record"
)

// Needs are the MiB that the servers of Floors need, told of the limit or not.
var Needs = map[string]uint64{"go-1": 22, "node-1": 64}

// Floors is a complete session of memory floors, whose servers are arithmetic. Each call
// gives another copy.
func Floors() *record.Session {
	var s record.Session
	if err := json.Unmarshal(floorsEncoded(), &s); err != nil {
		panic("example session: " + err.Error()) // it was written below
	}
	return &s
}

var floorsEncoded = sync.OnceValue(func() []byte {
	b, err := json.Marshal(floorsSession())
	if err != nil {
		panic("example session: " + err.Error())
	}
	return b
})

func floorsSession() *record.Session {
	p, err := plans.NewFloor(plans.FloorOptions{Kit: "example", Targets: []string{"go-1", "node-1"}, Seed: 1, Repeats: 1, Quantile: 0.95, SLO: 20 * time.Millisecond,
		Rate: 750, Window: 4 * time.Second, Ceiling: 512, CPUs: plans.CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}})
	if err != nil {
		panic("example session: " + err.Error())
	}
	s := &record.Session{SchemaVersion: record.SchemaVersion, ID: "20261130T204100Z-example", Started: epoch, Finished: epoch.Add(6 * time.Minute), Plan: *p, Host: session().Host}
	for _, t := range p.Targets {
		s.Contract = append(s.Contract, record.Parity{Target: t.Name, Cases: 120, ReplyBytesGET: 200})
	}
	rng := rand.New(rand.NewPCG(1, 3))
	for _, st := range p.Steps {
		sc, _ := p.Scenario(st.Scenario)
		target, _ := p.Target(st.Target)
		search := floor.New(*p.Rules.Floor)
		for limit, more := search.Next(); more; limit, more = search.Next() {
			st.Trial++
			r := limited(sc, st, limit, rng)
			if err := search.Tell(floor.Look(*p.Rules.Capacity, *p.Rules.Floor, &r, target.Shared())); err != nil {
				panic("example session: " + err.Error())
			}
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

// limited is a run that is killed below what its server needs.
func limited(sc record.Scenario, st record.Step, limit uint64, rng *rand.Rand) record.Run {
	plain := strings.TrimSuffix(st.Target, plans.MatchedLimit)
	need, none := Needs[plain]<<20, uint64(0)
	asked := record.GroupLimits{MemoryBytes: limit}
	count := record.GroupCounts{OOMKills: &none, LimitHits: &none, MajorFaults: &none, Refaults: &none}
	if limit < need {
		one, hits := uint64(1), uint64(40)
		life := count
		life.OOMKills, life.LimitHits, life.PeakBytes = &one, &hits, &limit
		return record.Run{SchemaVersion: record.SchemaVersion, Step: st, Outcome: record.Failed, Reason: "target ended under load: signal: killed", ExitStatus: "signal: killed",
			Started: epoch.Add(time.Duration(st.Index*60+st.Trial*6) * time.Second), Took: 2 * time.Second, Ready: 20 * time.Millisecond, OfferedPerSec: sc.RatePerSec,
			LogFile: logOf(st), Limits: &asked, Group: &record.Group{Version: 2, Limits: asked, Life: life}}
	}
	as := st
	as.Target = plain // the queues are named after the plain target
	r := queued(sc, as, sc.RatePerSec, 5*time.Second, rng)
	r.Step, r.LogFile = st, logOf(st)
	r.Load.Intervals = nil
	window, life := count, count
	life.PeakBytes = &need
	r.Limits, r.Group = &asked, &record.Group{Version: 2, Limits: asked, Window: &window, Life: life}
	return r
}

func logOf(st record.Step) string {
	return fmt.Sprintf("logs/%04d-%s.%s.b%02d.t%02d.log", st.Index+1, st.Target, st.Scenario, st.Block, st.Trial)
}
