package profile

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"gonogo/runner/record"
)

// Samples at 1000, 2000, 3000, 4000 and 5000 µs, the last for no time. The window is
// 1500..4500: of node 2 it holds 500 µs and 1000 µs, of node 3 1000 µs, of (idle) 500 µs.
const cpuFixture = `{"nodes":[
 {"id":1,"callFrame":{"functionName":"(root)","url":"","lineNumber":-1},"children":[2,3,4]},
 {"id":2,"callFrame":{"functionName":"outer","url":"file:///a/b/c.mjs","lineNumber":6},"children":[5]},
 {"id":3,"callFrame":{"functionName":"","url":"node:_http_server","lineNumber":9}},
 {"id":4,"callFrame":{"functionName":"(idle)","url":"","lineNumber":-1}},
 {"id":5,"callFrame":{"functionName":"stringify","url":"","lineNumber":-1}}],
 "startTime":1000,"endTime":5000,"samples":[2,5,3,4,4],"timeDeltas":[0,1000,1000,1000,1000]}`

func nodeFiles(cpu string) []file {
	return []file{{"CPU.20261201.000000.77.0.001.cpuprofile", []byte(cpu)}, {"window-0.json", []byte(`{"pid":77,"begin_us":1500,"end_us":4500}`)}}
}

func TestSamplesOfNodeAreCutToTheWindow(t *testing.T) {
	r := record.ProfileRun{Of: record.ProfileCPU, Runtime: "node"}
	if err := digest(&r, nodeFiles(cpuFixture)); err != nil {
		t.Fatal(err)
	}
	v := r.Vectors[0]
	want := []record.Function{
		{Name: "stringify", Category: "json", Self: 1e6, Cum: 1e6},
		{Name: "(anonymous) node:_http_server:10", Category: "http", Self: 1e6, Cum: 1e6},
		{Name: "outer b/c.mjs", Category: "own", Self: 5e5, Cum: 15e5},
	}
	slices.SortFunc(want[:2], func(a, b record.Function) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	if v.Total != 25e5 || v.Samples != 3 || !slices.Equal(v.Functions, want) {
		t.Errorf("total %d of %d samples, functions %+v, want %+v", v.Total, v.Samples, v.Functions, want)
	}
	if v.Categories["own"] != 5e5 || v.Categories["json"] != 1e6 || v.Categories["http"] != 1e6 {
		t.Errorf("categories %v", v.Categories)
	}
}

func TestDamagedProfilesOfNodeAreErrors(t *testing.T) {
	for name, cpu := range map[string]string{
		"not JSON":      "x",
		"a ring":        `{"nodes":[{"id":2,"callFrame":{"functionName":"a"},"children":[2]}],"samples":[2],"timeDeltas":[0]}`,
		"times missing": `{"nodes":[],"samples":[1],"timeDeltas":[]}`,
	} {
		r := record.ProfileRun{Of: record.ProfileCPU, Runtime: "node"}
		if err := digest(&r, nodeFiles(cpu)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	r := record.ProfileRun{Of: record.ProfileCPU, Runtime: "node"}
	if err := digest(&r, nodeFiles(cpuFixture)[1:]); err == nil {
		t.Error("a process that wrote no profile: no error")
	}
}

// pprofOf makes a profile: each stack from the inside out, with its two values.
func pprofOf(t *testing.T, types []string, stacks map[string][]int64, order ...string) []byte {
	t.Helper()
	p := &profile.Profile{}
	for _, name := range types {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: name, Unit: "x"})
	}
	made := map[string]*profile.Location{}
	for _, key := range order {
		s := &profile.Sample{Value: stacks[key]}
		for _, name := range bytes.Split([]byte(key), []byte(" ")) {
			n := string(name)
			if made[n] == nil {
				f := &profile.Function{ID: uint64(len(made) + 1), Name: n}
				made[n] = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				p.Function, p.Location = append(p.Function, f), append(p.Location, made[n])
			}
			s.Location = append(s.Location, made[n])
		}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func waitFiles(t *testing.T) []file {
	types := []string{"contentions", "delay"}
	const lock, cond, other = "sync.(*Mutex).Lock main.waiter main.main", "sync.(*Cond).Wait main.idle", "internal/sync.(*Mutex).Lock sync.(*Mutex).Lock main.second"
	begin := pprofOf(t, types, map[string][]int64{lock: {2, 100}, cond: {1, 900}}, lock, cond)
	end := pprofOf(t, types, map[string][]int64{lock: {5, 400}, cond: {1, 900}, other: {1, 50}}, lock, cond, other)
	const held = "sync.(*Mutex).Unlock main.holder"
	return []file{{"block-begin.pb.gz", begin}, {"block-end.pb.gz", end},
		{"mutex-begin.pb.gz", pprofOf(t, types, map[string][]int64{held: {1, 10}}, held)}, {"mutex-end.pb.gz", pprofOf(t, types, map[string][]int64{held: {4, 360}}, held)}}
}

// Of the window alone, by who waits: 400 - 100 and 50; a wait that was there before is none.
func TestWaitsAreOfTheWindowAndNamedByWhoWaits(t *testing.T) {
	r := record.ProfileRun{Of: record.ProfileWaits, Runtime: "go"}
	if err := digest(&r, waitFiles(t)); err != nil {
		t.Fatal(err)
	}
	lock, _ := r.Vector(record.VectorLock)
	if lock.Total != 350 || lock.Samples != 4 || lock.Functions[0].Name != "main.waiter" || lock.Functions[0].Self != 300 || lock.Categories["lock"] != 350 {
		t.Errorf("locks %+v", lock)
	}
	if block, _ := r.Vector(record.VectorBlock); block.Total != 0 {
		t.Errorf("others %+v, want none", block)
	}
	if mutex, _ := r.Vector(record.VectorMutex); mutex.Total != 350 || mutex.Functions[0].Name != "main.holder" {
		t.Errorf("held %+v", mutex)
	}
}

func TestWhatDoesNotFollowIsSaid(t *testing.T) {
	files := waitFiles(t)
	r := record.ProfileRun{Of: record.ProfileWaits, Runtime: "go"}
	for _, f := range files {
		r.Files = append(r.Files, record.ProfileFile{Name: "profiles/x/" + f.name, Bytes: int64(len(f.data)), SHA256: sum(f.data)})
	}
	if err := digest(&r, files); err != nil {
		t.Fatal(err)
	}
	open := func(name string) ([]byte, error) { return find(files, name[len("profiles/x/"):]) }
	if wrong := Again(&r, open); wrong != nil {
		t.Errorf("as it was: %v", wrong)
	}
	r.Vectors[0].Functions[0].Self++
	if wrong := Again(&r, open); len(wrong) != 1 {
		t.Errorf("a function altered: %v", wrong)
	}
	r.Vectors[0].Functions[0].Self--
	files[0].data = append(bytes.Clone(files[0].data), 0)
	if wrong := Again(&r, open); len(wrong) != 1 {
		t.Errorf("a file altered: %v", wrong)
	}
}

func TestCategoriesOfGo(t *testing.T) {
	for stack, want := range map[string]string{
		"runtime.mallocgc encoding/json.Marshal main.encode":                                       record.AllocCost,
		"runtime.memmove encoding/json.(*encodeState).string main.encode":                          "json",
		"internal/runtime/syscall.Syscall6 syscall.write net.(*conn).Write net/http.(*conn).serve": "syscall",
		"internal/runtime/syscall.EpollWait runtime.netpoll runtime.findRunnable runtime.schedule": "scheduling",
		"runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker":                                record.GCCategory,
		"runtime.memhash64 internal/runtime/maps.(*Map).get main.(*store).Get":                     "map",
		"main.(*store).Get main.(*API).read net/http.HandlerFunc.ServeHTTP":                        "own",
		"strings.Cut net/http.readRequest net/http.(*conn).serve":                                  "http",
		"github.com/julienschmidt/httprouter.(*Router).ServeHTTP net/http.serverHandler.ServeHTTP": "http",
		"runtime.asyncPreempt": "runtime",
		"runtime.mallocgc runtime/pprof.(*profileBuilder).build": "profiler",
	} {
		var frames []frame
		for _, name := range bytes.Split([]byte(stack), []byte(" ")) {
			frames = append(frames, frame{string(name), pathOf(string(name))})
		}
		if got := goCategory(frames); got != want {
			t.Errorf("%s: %s, want %s", stack, got, want)
		}
	}
}
