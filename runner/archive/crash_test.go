package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gonogo/runner/disk"
	"gonogo/runner/internal/baddisk"
	"gonogo/runner/record"
)

// dead is what stands here for the end of the process: a panic runs no line of the
// code under test that comes after the call, but its deferred ones, which have
// nothing to do without an error.
type dead struct{}

// job makes a session as compare does, all the way to benchmark.json: kept are the
// runs of which it was told that they are.
type job struct {
	out, benchmark string
	kept           []record.Run
	again          bool // goes on with the session that is there
}

// run is the job, and tells how it ended; died without a word if a death was planted.
func (j *job) run() (err error, died bool) {
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case dead:
			died = true
		default:
			panic(r)
		}
	}()
	if j.again {
		return j.goOn(), false
	}
	w, err := Create(j.out, smallPlan(), record.Host{OS: "linux"})
	if err != nil {
		return err, false
	}
	if err := w.AddContract([]record.Parity{{Target: "go-1", Cases: 60}}); err != nil {
		return err, false
	}
	if err := w.AddProbes([]record.Probe{}); err != nil {
		return err, false
	}
	return j.rest(w), false
}

// goOn resumes what is there, or begins anew where there is nothing, or has nothing
// to do.
func (j *job) goOn() error {
	ids, err := List(j.out)
	if err != nil || len(ids) == 0 {
		return errors.Join(err, fs.ErrNotExist)
	}
	w, s, err := Open(filepath.Join(j.out, ids[0]))
	if finished := (*Finished)(nil); errors.As(err, &finished) {
		return nil
	}
	if err != nil {
		return err
	}
	if !s.Finished.IsZero() {
		return j.derive(w.Dir())
	}
	if err := w.Resumed(record.Resume{At: s.Started}); err != nil {
		return err
	}
	if s.Contract == nil {
		if err := w.AddContract([]record.Parity{{Target: "go-1", Cases: 60}}); err != nil {
			return err
		}
	}
	j.kept = s.Runs
	return j.rest(w)
}

func (j *job) rest(w *Writer) error {
	for _, st := range w.plan.Steps[len(j.kept):] {
		r := doneRun(st)
		r.LogFile = w.LogName(st, 0)
		if err := os.WriteFile(filepath.Join(w.Dir(), r.LogFile), []byte("log\n"), 0o644); err != nil {
			return err
		}
		if err := w.Append(r); err != nil {
			return err
		}
		j.kept = append(j.kept, *r)
	}
	if err := w.Finish(nil); err != nil {
		return err
	}
	return j.derive(w.Dir())
}

func (j *job) derive(dir string) error {
	s, err := Load(dir)
	if err != nil {
		return err
	}
	if err := WriteFile(filepath.Join(dir, "report.md"), func(w io.Writer) error {
		_, err := io.WriteString(w, "# report\n")
		return err
	}); err != nil {
		return err
	}
	if err := Publish(j.benchmark, s); err != nil {
		return err
	}
	return WriteManifest(dir)
}

// TestAFaultAtEveryCall goes through every call that a session's archive makes of
// the disk, and has it fail, or the process end at it, in each way. Afterwards
// every run that was kept is readable, benchmark.json is the old or the new one,
// whole, and the session goes on to its end. The same then with a fault in the
// resumed part. All ways are tried with GONOGO_CRASH, and otherwise the two that
// leave most behind.
func TestAFaultAtEveryCall(t *testing.T) {
	sync := disk.Sync // takes most of the time, and shows only in a power cut
	disk.Sync = func(*os.File) error { return nil }
	defer func() { disk.Sync = sync }()
	tried, right := 0, 0
	kinds := []baddisk.Kind{baddisk.Short, baddisk.Torn}
	if os.Getenv("GONOGO_CRASH") != "" {
		kinds = slices.Concat(baddisk.Errors, baddisk.Deaths)
	}
	for _, kind := range kinds {
		for _, again := range []bool{false, true} {
			for at := 1; ; at++ {
				call := faultAt(t, kind, at, again)
				if call == "" {
					if at < 40 {
						t.Errorf("%s: only %d calls were met", kind, at-1)
					}
					break
				}
				tried++
				if !t.Failed() {
					right++
				}
			}
		}
	}
	fmt.Printf("calls of an archive: %d of %d\n", right, tried)
}

// faultAt makes a session meet a fault at one call, and checks what is left. It
// gives the call, "" if the job made fewer.
func faultAt(t *testing.T, kind baddisk.Kind, at int, again bool) string {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	j := &job{out: filepath.Join(dir, "results"), benchmark: filepath.Join(dir, "benchmark.json")}
	if err := os.WriteFile(j.benchmark, []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if again { // cut after its first run
		w := mustCreate(t, j.out)
		r := doneRun(w.plan.Steps[0])
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.Dir(), logsDir, "0002-killed.log"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(w.Dir(), runsDir), ".0002-x.json.0a1b2c.tmp", nil)
		j.again = true
	}
	fault := baddisk.Plant(at, kind, func() { panic(dead{}) })
	err, died := j.run()
	call := fault.Lift()
	name := fmt.Sprintf("%s at call %d, %s", kind, at, strings.ReplaceAll(call, dir, ""))
	if call == "" {
		if err != nil || died {
			t.Errorf("%s: no fault, and it ended with %v", name, err)
		}
		return ""
	}
	checkTold(t, name, kind, call, err, died)
	checkLeft(t, name, j)
	if kind == baddisk.Fails || kind == baddisk.Short {
		checkTidy(t, name, call, dir)
	}
	checkWhole(t, name, j)
	return call
}

// checkTold: an error says which call failed and how. What was only to be swept may
// fail without a word.
func checkTold(t *testing.T, name string, kind baddisk.Kind, call string, err error, died bool) {
	t.Helper()
	if dies := kind == baddisk.Dies || kind == baddisk.Torn; dies != died {
		t.Errorf("%s: died %v", name, died)
	}
	if died {
		return
	}
	op, path, _ := strings.Cut(call, " ")
	if err == nil {
		t.Errorf("%s: nobody was told", name)
		return
	}
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) {
		t.Errorf("%s: the cause is lost: %v", name, err)
	}
	if !strings.Contains(err.Error(), op) {
		t.Errorf("%s: the error does not tell which call failed: %v", name, err)
	}
	if named := strings.Contains(path, ".new-") || op == "remove"; strings.Contains(err.Error(), ".tmp") && !named && kind != baddisk.Gone {
		t.Errorf("%s: the error names a temporary file: %v", name, err)
	}
}

// checkLeft: what is there after the fault.
func checkLeft(t *testing.T, name string, j *job) {
	t.Helper()
	ids, err := List(j.out)
	if errors.Is(err, fs.ErrNotExist) || len(ids) == 0 {
		ids = nil
	}
	if len(ids) > 1 || len(ids) == 0 && len(j.kept) > 0 {
		t.Fatalf("%s: %d archives, %d runs were kept", name, len(ids), len(j.kept))
	}
	var s *record.Session
	if len(ids) == 1 {
		if s, err = Load(filepath.Join(j.out, ids[0])); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// One more may have been kept, without a word of it.
		if n := len(s.Runs); n < len(j.kept) || n > len(j.kept)+1 {
			t.Errorf("%s: %d runs on disk, %d were told to be kept", name, n, len(j.kept))
		}
	}
	data, err := os.ReadFile(j.benchmark)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if string(data) == "old\n" {
		return
	}
	if s == nil || s.Finished.IsZero() {
		t.Fatalf("%s: benchmark.json is %.20q of no session", name, data)
	}
	if same, err := Same(j.benchmark, s); err != nil || !same {
		t.Errorf("%s: benchmark.json is neither the old nor the new one: %v", name, err)
	}
}

// checkTidy: after an error of one call nothing temporary is left, unless it was the
// call that would have removed it.
func checkTidy(t *testing.T, name, call, dir string) {
	t.Helper()
	if strings.HasPrefix(call, "remove") || strings.HasPrefix(call, "unlinkat") {
		return
	}
	for _, path := range temporary(t, dir) {
		if !strings.Contains(path, "0a1b2c") { // put there by the test, for a resume to sweep
			t.Errorf("%s: it left %s", name, path)
		}
	}
}

func temporary(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); strings.Contains(rel, ".tmp") || strings.Contains(rel, ".probe-") {
			found = append(found, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// checkWhole: with a disk that does its work the session goes on, or another one
// begins where it had not begun, and comes to its end with every run of before.
func checkWhole(t *testing.T, name string, j *job) {
	t.Helper()
	before := runsOf(t, j.out)
	*j = job{out: j.out, benchmark: j.benchmark, again: true}
	err, _ := j.run()
	if errors.Is(err, fs.ErrNotExist) {
		j.again = false
		err, _ = j.run()
	}
	if err != nil {
		t.Fatalf("%s: it does not go on: %v", name, err)
	}
	ids, err := List(j.out)
	if err != nil || len(ids) != 1 {
		t.Fatalf("%s: %d archives, %v", name, len(ids), err)
	}
	dir := filepath.Join(j.out, ids[0])
	s := mustLoad(t, dir)
	sums, err := CheckManifest(dir)
	if err != nil || len(sums.Problems) > 0 || len(sums.Extra) > 0 || !s.Complete() {
		t.Errorf("%s: complete %v, problems %v, extra %v, %v", name, s.Complete(), sums.Problems, sums.Extra, err)
	}
	if same, err := Same(j.benchmark, s); err != nil || !same {
		t.Errorf("%s: benchmark.json is not the session's: %v", name, err)
	}
	if left := temporary(t, dir); len(left) > 0 {
		t.Errorf("%s: the resumed session holds %v", name, left)
	}
	if n := len(s.Resumes); n > 2 {
		t.Errorf("%s: %d resumes are told of", name, n)
	}
	for path, data := range before {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
			t.Errorf("%s: %s is another one now: %v", name, path, err)
		}
	}
}

// runsOf are the files of the runs that are kept.
func runsOf(t *testing.T, out string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(out, "2*", runsDir, "0*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if files[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestProbeOnABadDisk: whatever fails is told, and nothing is left unless it was the
// removal that failed.
func TestProbeOnABadDisk(t *testing.T) {
	for _, kind := range baddisk.Errors {
		for at := 1; ; at++ {
			dir := t.TempDir()
			fault := baddisk.Plant(at, kind, nil)
			err := Probe(dir)
			call := fault.Lift()
			if call == "" {
				if err != nil || at < 8 {
					t.Errorf("%s at call %d: %v", kind, at, err)
				}
				break
			}
			name := fmt.Sprintf("%s at call %d, %s", kind, at, strings.ReplaceAll(call, dir, ""))
			if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: %v", name, err)
			}
			if kind == baddisk.Fails || kind == baddisk.Short {
				checkTidy(t, name, call, dir)
			}
		}
	}
}

// TestAResumeThatCouldNotBeKept is told of once when the second attempt keeps it.
func TestAResumeThatCouldNotBeKept(t *testing.T) {
	w := mustCreate(t, t.TempDir())
	fault := baddisk.Plant(1, baddisk.Fails, nil)
	err := w.Resumed(record.Resume{})
	fault.Lift()
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := w.Resumed(record.Resume{Grade: "B"}); err != nil {
		t.Fatal(err)
	}
	if s := mustLoad(t, w.Dir()); len(s.Resumes) != 1 || s.Resumes[0].Grade != "B" {
		t.Errorf("%d resumes: %+v", len(s.Resumes), s.Resumes)
	}
}
