package findings_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

func armOf(t *testing.T, s *record.Session, name string) findings.ScaleArm {
	t.Helper()
	e := findings.Evaluate(s)
	if e.Scale == nil {
		t.Fatal("no sweep")
	}
	for _, a := range e.Scale.Arms {
		if a.Arm == name {
			return a
		}
	}
	t.Fatalf("no arm %s", name)
	return findings.ScaleArm{}
}

// lightSweep is the example without its latencies, which take time to read.
func lightSweep() *record.Session {
	s := example.Scale()
	for i := range s.Runs {
		s.Runs[i].Load.Service = nil
	}
	return s
}

// The truth of the example is written beside it: sigma 0.02, kappa 0.0005, 1000/s for
// one, highest at sqrt(0.98/0.0005) = 44.27, and 12 KiB a connection over 60 MiB.
func TestALawThatIsKnown(t *testing.T) {
	s := example.Scale()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	a := armOf(t, s, "node-1")
	l := a.Law
	if l == nil {
		t.Fatalf("no law: %s", a.NoLaw)
	}
	for _, c := range []struct {
		name  string
		i     findings.Interval
		truth float64
		off   float64
	}{{"rate of one", l.Rate, 1000, 0.03}, {"contention", l.Contention, 0.02, 0.15}, {"coherence", l.Coherence, 0.0005, 0.05}} {
		if c.i.Lo > c.truth || c.i.Hi < c.truth || c.i.Lo >= c.i.Hi || math.Abs(c.i.Value/c.truth-1) > c.off {
			t.Errorf("%s %+v, want %g inside it, and within %g of it", c.name, c.i, c.truth, c.off)
		}
	}
	if l.Peak == nil || math.Abs(l.Peak.Value/44.27-1) > 0.1 || l.Peak.Lo > 44.27 || l.Peak.Hi < 44.27 || l.Until != 256 {
		t.Errorf("peak %+v until %g, want 44.27 within a tenth, and nothing beyond 256", l.Peak, l.Until)
	}
	if x := a.Each; x == nil || !x.Straight || !x.Bytes.Reached || x.Bytes.Lo > 12<<10 || x.Bytes.Hi < 12<<10 || math.Abs(x.At0/(60<<20)-1) > 0.01 || x.Blocks != 6 {
		t.Errorf("memory %+v, want 12 KiB a connection inside its interval and 60 MiB without one", x)
	}
	r := a.Rows[4] // 16 connections: 1000*16 / (1 + 0.02*15 + 0.0005*240) = 16000/1.42 = 11267.6
	if r.Level != 16 || r.Rate == nil || math.Abs(r.Rate.Value/11267.6-1) > 0.02 || !r.Rate.Reached || r.N != 6 || r.Held != 6 || r.Limit != findings.ByServer {
		t.Errorf("at 16: %+v", r)
	}
	if low := a.Rows[0]; low.Limit != findings.ByTrip || !low.Counts {
		t.Errorf("at 1: limited by %q, counts %v; want the round trip, and that it counts", low.Limit, low.Counts)
	}
}

// From 32 connections on the generator is the limit of go-1: those levels take no part,
// five are left, and a fit takes six. What would be fitted with them is another law.
func TestNoLawOfTheGenerator(t *testing.T) {
	s := lightSweep()
	a := armOf(t, s, "go-1")
	if a.Law != nil || !strings.Contains(a.NoLaw, "5 levels count, and a fit takes 6: at 32, 64, 128 the generator was the limit") {
		t.Errorf("law %+v, %q", a.Law, a.NoLaw)
	}
	if r := a.Rows[7]; r.Limit != findings.ByGenerator || r.Counts || r.Rate == nil {
		t.Errorf("at 128: %+v, want the rate, bound by the generator, and no part in a fit", r)
	}
	e := findings.Evaluate(s)
	f := find(e.Findings, "level-not-the-server")
	if f == nil || f.Observed != "go-1 at 32, 64, 128" || f.Severity != record.Warn || len(f.Steps) != 18 {
		t.Errorf("finding %+v, want the three levels with their 18 runs", f)
	}
	if find(e.Findings, "no-scalability-law") == nil || e.Invalid() || !s.Complete() || len(e.Verdicts) > 0 {
		t.Errorf("findings %+v, invalid %v", e.Findings, e.Invalid())
	}
}

// Each condition of a fit refuses by itself, with its reason.
func TestALawIsRefused(t *testing.T) {
	loads := func(s *record.Session, do func(r *record.Run, connections float64)) {
		for i := range s.Runs {
			if r := &s.Runs[i]; r.Memory == nil && r.Step.Target == "node-1" {
				do(r, float64(r.Load.Connections))
			}
		}
	}
	for _, c := range []struct {
		name, want string
		alter      func(*record.Session)
	}{
		{"too few levels", "levels count, and a fit takes 9", func(s *record.Session) { s.Plan.Rules.Scale.LevelsMin = 9 }},
		{"too short a span", "span 128 x, and a fit takes 200 x", func(s *record.Session) { s.Plan.Rules.Scale.SpanMin = 200 }},
		{"no level of the server", "at its limit at no level", func(s *record.Session) {
			loads(s, func(r *record.Run, _ float64) { r.ServerCPU.User = r.Load.Window / 2 })
		}},
		{"idle connections", "at 1, 2, 4 the generator was the limit", func(s *record.Session) {
			loads(s, func(r *record.Run, n float64) {
				if *r.Load.InFlightMean = 0.9 * n; n > 4 {
					*r.Load.InFlightMean = 0.99 * n
				}
			})
		}},
		{"something else", "at 32 something else was the limit", func(s *record.Session) {
			s.Plan.Rules.Scale.LevelsMin = 8
			loads(s, func(r *record.Run, n float64) {
				if n == 32 {
					r.ServerCPU.User = r.Load.Window / 2
				}
			})
		}},
		{"another shape", "off the law (standard deviation)", func(s *record.Session) { // a step: all or a third
			loads(s, func(r *record.Run, n float64) {
				if n >= 8 && n < 64 {
					r.Load.Counts.InWindow /= 3
				}
			})
		}},
		{"few processes", "too few processes a level", func(s *record.Session) {
			s.Runs = slices.DeleteFunc(s.Runs, func(r record.Run) bool { return r.Step.Block > 5 })
		}},
	} {
		s := lightSweep()
		c.alter(s)
		if a := armOf(t, s, "node-1"); a.Law != nil || !strings.Contains(a.NoLaw, c.want) {
			t.Errorf("%s: law %+v, %q; want none, because of %q", c.name, a.Law, a.NoLaw, c.want)
		}
	}
}

// A number of blocks that somebody wrote into an archive is not counted to.
func TestASweepOfManyBlocks(t *testing.T) {
	s := lightSweep()
	s.Plan.Blocks = math.MaxInt
	if x := armOf(t, s, "node-1").Each; x == nil || x.Blocks != 6 {
		t.Errorf("%+v, want the six blocks that there are", x)
	}
}

// Memory that jumps is no line, whatever its mean slope is; and a decision takes no
// cost of one from it.
func TestMemoryThatBends(t *testing.T) {
	s := lightSweep()
	for i := range s.Runs {
		if r := &s.Runs[i]; r.Memory != nil && r.Step.Target == "node-1" && r.Load.Connections >= 16 {
			*r.Memory.LoadEnd.PSS += 8 << 20
		}
	}
	e := findings.Evaluate(s)
	x := e.Scale.Arms[slices.IndexFunc(e.Scale.Arms, func(a findings.ScaleArm) bool { return a.Arm == "node-1" })].Each
	if x == nil || x.Straight || find(e.Findings, "memory-bends") == nil {
		t.Errorf("%+v, want no line and a note", x)
	}
	if uses := strings.Join(e.Scale.Uses(), "; "); strings.Contains(uses, "costs node-1") || !strings.Contains(uses, "costs go-1 20") {
		t.Errorf("a decision is told %q, want the cost of go-1's connection alone", uses)
	}
}
