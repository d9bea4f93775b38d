package decision

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

// floorsOf are limits in MiB at a rate that any replica here stays below.
func floorsOf(mib map[string]float64) record.Beside {
	b := record.Beside{Session: "floors", Kind: record.MemoryFloor}
	for target, m := range mib {
		b.Floors = append(b.Floors, record.FloorLevel{Target: target, Arm: target, Rate: 1e6, Bytes: record.Span{Value: m * mebi, Lo: (m - 4) * mebi, Hi: m * mebi}})
	}
	return b
}

func decideWith(t *testing.T, f *fixture, in record.DecisionInputs, beside ...record.Beside) *record.Decision {
	t.Helper()
	s, e := f.get()
	d, err := Make(s, e, in, beside...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Memory binds, 67 replicas of 134 MiB with 50 MiB of data each: 3350 MiB in all. Under load
// Node takes 84 MiB and Go 32, so 3350 / 50 = 67 and 3350 / 102 = 32.8 replicas. By floors of 74
// and 34 MiB it is 3350 / 60 = 55.8 and 3350 / 100 = 33.5; Go at its cheapest is 30/74 of Node.
func TestFloorsTakeThePlaceOfMemory(t *testing.T) {
	f := &fixture{make: func() *record.Session { return session(standard()) }}
	in := with(func(in *record.DecisionInputs) {
		in.Binds, in.ReplicaMemory, in.PeakRate, in.OwnCPU, in.PricePerGiB = byMemory, of(134.0), of(1000.0), of(0.02), of(4.0)
	})
	plain, floored := decideWith(t, f, in), decideWith(t, f, in, floorsOf(map[string]float64{"go-1": 34, "node-1": 74}))
	replicas := func(d *record.Decision) (node, gone float64) {
		if d.Whole == nil || len(d.Whole.Options) < 2 {
			t.Fatalf("%s: %v", d.Answer, d.Why)
		}
		o := d.Whole.Options
		return o[0].Replicas.Value, o[len(o)-1].Replicas.Value
	}
	if node, gone := replicas(plain); node != 67 || gone != 33 {
		t.Errorf("under load %g and %g replicas, want 67 and 33", node, gone)
	}
	if node, gone := replicas(floored); node != 56 || gone != 34 {
		t.Errorf("by floors %g and %g replicas, want 56 and 34", node, gone)
	}
	if len(floored.Beside) != 1 || strings.Contains(strings.Join(floored.NotMeasured, " "), "least memory limit") || !strings.Contains(strings.Join(plain.NotMeasured, " "), "least memory limit") {
		t.Errorf("not measured with floors: %v", floored.NotMeasured)
	}
	// 1000/s over 34 replicas are 29.4/s each: a floor at 20/s says nothing of it.
	slow := floorsOf(map[string]float64{"go-1": 34, "node-1": 74})
	for i := range slow.Floors {
		slow.Floors[i].Rate = 10
	}
	if d := decideWith(t, f, in, slow); d.Answer != record.NotProven || !strings.Contains(strings.Join(d.Why, " "), "gonogo memory-floor --rate 18") { // 1000 / 56
		t.Errorf("%s: %v", d.Answer, d.Why)
	}
	// One without the other is no comparison.
	if node, gone := replicas(decideWith(t, f, in, floorsOf(map[string]float64{"go-1": 34}))); node != 67 || gone != 33 {
		t.Errorf("with one floor %g and %g replicas, want those under load", node, gone)
	}
}

// Who is better is for the verdict to say: floors that differ save nothing where memory
// under load is equal.
func TestFloorsProveNothing(t *testing.T) {
	equal := &fixture{make: func() *record.Session {
		all := standard()
		for _, name := range []string{"go-1", "go-2"} {
			x := all[name]
			x.mebis = map[string]float64{"go-1": 84, "go-2": 190}[name]
			all[name] = x
		}
		return session(all)
	}}
	in := with(func(in *record.DecisionInputs) {
		in.Binds, in.ReplicaMemory, in.PeakRate = byMemory, of(134.0), of(1000.0)
	})
	d := decideWith(t, equal, in, floorsOf(map[string]float64{"go-1": 34, "node-1": 74}))
	if d.Answer != record.NoGo || len(d.Whole.Options) < 2 || d.Whole.Options[1].Replicas.Value != d.Whole.Options[0].Replicas.Value {
		t.Errorf("%s, %+v: %v", d.Answer, d.Whole.Options, d.Why)
	}
}

// 500 000/s over 10 000/s of a replica that is to use 60 % of it: 83.3 replicas, where CPU
// alone asks for 67 of Node; at the low end of the capacity 92.6.
func TestCapacityBoundsAReplica(t *testing.T) {
	f := &fixture{make: func() *record.Session { return session(standard()) }}
	in := with(func(in *record.DecisionInputs) { in.Replicas = of(84) })
	b := record.Beside{Kind: record.Capacity, Capacities: []record.CapacityLevel{{Target: "node-1", Rate: record.Span{Value: 10_000, Lo: 9_000, Hi: 11_000}}, {Target: "go-1", Rate: record.Span{Value: 1e6, Lo: 1e6, Hi: 1e6}}}}
	o := decideWith(t, f, in, b).Whole.Options
	if node, gone := o[0].ByCPU, o[len(o)-1].ByCPU; node.Value != 84 || node.Lo != 76 || node.Hi != 93 || math.Abs(gone.Value-34) > 1 {
		t.Errorf("by CPU %+v and %+v, want 84 (76..93) and 34 by CPU time alone", node, gone)
	}
}

// Beside reads what belongs to the same servers on the same machine, and refuses the rest.
func TestBeside(t *testing.T) {
	mine := session(standard())
	read := func(change func(*record.Session)) (record.Beside, error) {
		other := example.Floors()
		other.Host = mine.Host
		if change != nil {
			change(other)
		}
		return Beside(mine, other, findings.Evaluate(other))
	}
	b, err := read(nil)
	if err != nil || len(b.Floors) != 2 || b.Kind != record.MemoryFloor {
		t.Fatalf("%+v, %v", b, err)
	}
	for _, l := range b.Floors {
		need := float64(example.Needs[l.Target] << 20)
		if need == 0 || l.Bytes.Value < need || l.Bytes.Value > need+4*mebi || l.Arm != l.Target || l.Rate != 750 {
			t.Errorf("%+v, want a need of %g MiB of the arm that comes first", l, need/mebi)
		}
	}
	for want, change := range map[string]func(*record.Session){
		"CPU: ":             func(s *record.Session) { s.Host.CPUModel = "another" },
		"number of CPUs: ":  func(s *record.Session) { s.Host.CPUs = []int{0} },
		"kernel: ":          func(s *record.Session) { s.Host.Kernel = "6.2.0" },
		"it is a smoke run": func(s *record.Session) { s.Plan.Quick = true },
		"it is invalid":     func(s *record.Session) { s.Runs = append(s.Runs[:3:3], s.Runs[4:]...) },
		"it is incomplete":  func(s *record.Session) { s.Finished = mine.Started }, // which is not known
		"version of go-1: ": func(s *record.Session) {
			for i := range s.Runs {
				s.Runs[i].Settings = &record.Settings{Runtime: "go", Version: "go1.27"}
			}
		},
	} {
		if _, err := read(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	_, err = Beside(mine, mine, findings.Evaluate(mine))
	if refused := (*Refused)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), "no session of") {
		t.Errorf("a comparison: %v", err)
	}
	searched := example.Capacity()
	searched.Host = mine.Host
	if b, err := Beside(mine, searched, findings.Evaluate(searched)); err != nil || len(b.Capacities) != 2 {
		t.Errorf("a session of capacity: %+v, %v", b, err)
	}
}
