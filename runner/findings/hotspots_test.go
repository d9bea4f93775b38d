package findings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

var profileRules = record.ProfileRules{BusyMin: 0.85, IdleMax: 0.5, LockMin: 0.1, GCMin: 0.2, LiveMin: 64, LiveLeast: 1 << 20,
	LoopMin: 10 * time.Millisecond, LoopFactor: 3, LatencyMean: 2}

// quietTarget serves 50 connections at 20 000 a second with 45 µs of CPU each: 90 % busy,
// 2.5 ms a request, 2.25 ms to serve every connection once.
func quietTarget(runtime string) TargetProfile {
	v := func(name string, total int64, functions ...record.Function) one {
		return one{record.ProfileVector{Name: name, Total: total, Functions: functions, Categories: map[string]int64{"gc": total / 20}}, 10_000, 20_000}
	}
	t := TargetProfile{Target: "t", Runtime: runtime, Connections: 50, Rate: 20_000, Busy: 0.9, CPU: 45e3, P99: 5e6, Generator: 0.3, Work: 50 * 45e3,
		vectors: map[string]one{
			record.VectorCPU:   v(record.VectorCPU, 1e9, record.Function{Name: "net/http.serve", Category: "http", Self: 4e8}, record.Function{Name: "read api.mjs", Category: "own", Self: 1e8}),
			record.VectorAlloc: v(record.VectorAlloc, 1e7, record.Function{Name: "readRequest", Self: 1e6}),
			record.VectorLive:  v(record.VectorLive, 1e5, record.Function{Name: "newStore", Self: 1e5}),
		},
		live: &record.LiveHeap{Begin: 5 << 20, End: 5<<20 + 1000}, liveOver: 10_000}
	if runtime == "go" {
		// 1 µs of 2.5 ms a request.
		t.vectors[record.VectorLock] = v(record.VectorLock, 10_000*1000, record.Function{Name: "main.get", Self: 1})
		t.vectors[record.VectorMutex] = v(record.VectorMutex, 10_000*1000, record.Function{Name: "main.add", Self: 1})
		t.vectors[record.VectorBlock] = v(record.VectorBlock, 10_000*1000, record.Function{Name: "main.wait", Self: 1})
	} else {
		t.loop = &record.EventLoop{Processes: 1, Samples: 900, P50: time.Millisecond, P99: 3 * time.Millisecond, Max: 6 * time.Millisecond}
	}
	return t
}

func words(t *TargetProfile) []string {
	var all []string
	for _, d := range t.Diagnosis {
		all = append(all, d.Vector+" "+d.Word)
	}
	return all
}

// Each fault of one vector raises that vector's word and no other; a target without a
// fault that is busy has its CPU named and nothing else.
func TestThreeVectors(t *testing.T) {
	waits := func(x *TargetProfile) { x.Busy, x.P99 = 0.2, 50e6 }
	for _, x := range []struct {
		name, runtime string
		plant         func(*TargetProfile)
		want          []string
		paradox       string // "" for none, else a part of it
	}{
		{"quiet go", "go", func(*TargetProfile) {}, []string{"cpu suspect", "locks ok", "memory ok"}, ""},
		{"quiet node", "node", func(*TargetProfile) {}, []string{"cpu suspect", "locks ok", "memory ok"}, ""},
		{"idle and fast", "go", func(x *TargetProfile) { x.Busy, x.P99 = 0.2, 1e6 }, []string{"cpu ok", "locks ok", "memory ok"}, ""},
		{"busy and slow", "go", func(x *TargetProfile) { x.P99 = 50e6 }, []string{"cpu suspect", "locks ok", "memory ok"}, ""},
		// 0.5 ms of the 2.5 ms of a request: 20 %.
		{"lock", "go", func(x *TargetProfile) {
			waits(x)
			x.vectors[record.VectorLock] = one{record.ProfileVector{Total: 5e9, Functions: []record.Function{{Name: "main.get", Self: 5e9}}}, 10_000, 20_000}
		}, []string{"cpu ok", "locks suspect", "memory ok"}, "first at main.get, held by main.add"},
		{"channel", "go", func(x *TargetProfile) {
			waits(x)
			x.vectors[record.VectorBlock] = one{record.ProfileVector{Total: 5e9, Functions: []record.Function{{Name: "main.ask", Self: 5e9}}}, 10_000, 20_000}
		}, []string{"cpu ok", "locks ok", "memory ok"}, "first at main.ask"},
		{"downstream", "go", waits, []string{"cpu ok", "locks ok", "memory ok"}, "what it asks other services"},
		{"blocked loop", "node", func(x *TargetProfile) { waits(x); x.loop.P99 = 30 * time.Millisecond }, []string{"cpu ok", "locks suspect", "memory ok"}, "event loop"},
		{"generator at its limit", "go", func(x *TargetProfile) { waits(x); x.Generator = 0.95 }, []string{"cpu ok", "locks ok", "memory ok"}, ""},
		{"shared CPUs", "go", func(x *TargetProfile) { waits(x); x.Shared = true }, []string{"cpu ok", "locks ok", "memory ok"}, ""},
		{"others ran", "go", func(x *TargetProfile) { waits(x); x.Disturbed = true }, []string{"cpu ok", "locks ok", "memory ok"}, ""},
		{"others held up the loop", "node", func(x *TargetProfile) { x.loopDisturbed, x.loop.P99 = true, 30*time.Millisecond }, []string{"cpu suspect", "locks unknown", "memory ok"}, ""},
		{"collection", "go", func(x *TargetProfile) { x.vectors[record.VectorCPU].Categories["gc"] = 25e7 }, []string{"cpu suspect", "locks ok", "memory suspect"}, ""},
		// 2 MiB over 10 000 requests are 210 bytes each.
		{"leak", "go", func(x *TargetProfile) { x.live.End += 2 << 20 }, []string{"cpu suspect", "locks ok", "memory suspect"}, ""},
		// 0.94 MiB may be what sampling cannot tell, though it is 98 bytes each.
		{"noise of sampling", "go", func(x *TargetProfile) { x.live.End += 15 << 16 }, []string{"cpu suspect", "locks ok", "memory ok"}, ""},
		{"nothing profiled", "go", func(x *TargetProfile) { x.vectors, x.live, x.Busy = nil, nil, 0 }, []string{"cpu unknown", "locks unknown", "memory unknown"}, ""},
	} {
		target := quietTarget(x.runtime)
		x.plant(&target)
		target.diagnose(profileRules, 0.8)
		if got := words(&target); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
		if (target.Paradox == "") != (x.paradox == "") || !strings.Contains(target.Paradox, x.paradox) {
			t.Errorf("%s: paradox %q, want %q", x.name, target.Paradox, x.paradox)
		}
	}
}

// CPU time of a request by row is its share times the whole: 0.4 x 45 µs against 0.1 x 90 µs.
func TestDifferenceOfTwoTargets(t *testing.T) {
	a, b := quietTarget("go"), quietTarget("go")
	b.Target, b.CPU = "b", 90e3
	b.vectors[record.VectorCPU] = one{record.ProfileVector{Total: 100, Functions: []record.Function{{Name: "net/http.serve", Self: 10}, {Name: "main.slow", Self: 90}}, Categories: map[string]int64{"own": 90, "http": 10}}, 1, 1}
	d := difference(&a, &b)
	if d.By != "function" || d.Rows[0].Name != "main.slow" || d.Rows[0].B != 81e3 || d.Rows[0].A != 0 {
		t.Fatalf("by %s, first %+v", d.By, d.Rows[0])
	}
	for _, r := range d.Rows {
		if r.Name == "net/http.serve" && (r.A != 18e3 || r.B != 9e3) {
			t.Errorf("%+v, want 18 µs and 9 µs", r)
		}
	}
	b.Runtime = "node"
	if d := difference(&a, &b); d.By != "category" || d.Rows[0].Name != "own" {
		t.Errorf("two runtimes: by %s, first %+v", d.By, d.Rows[0])
	}
	delete(b.vectors, record.VectorCPU)
	if difference(&a, &b) != nil {
		t.Error("a difference from a target without a profile")
	}
}
