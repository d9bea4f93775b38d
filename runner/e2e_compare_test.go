package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/record"
)

// TestCompare is the main job from end to end, and then what a second one does
// to the first: nothing.
func TestCompare(t *testing.T) {
	t.Parallel()
	needNode(t)
	u := newUser(t, theKit(t))
	u.env = append(u.env, canary)
	r := u.run("compare", "--quick", "--targets", "go-1,node-1", "--seed", "1")
	s := u.load()
	for _, run := range s.Runs {
		if !kept(run.Outcome) {
			t.Errorf("%s: %s: %s", run.Step.Key(), run.Outcome, run.Reason)
		}
	}
	want := map[bool]int{true: exitDone, false: exitInvalid}[s.Complete()]
	if r.code != want || s.Finished.IsZero() || s.Plan.Seed != 1 || len(s.Contract) != 2 || len(s.Runs) < len(s.Plan.Steps) {
		t.Fatalf("exit %d, want %d; finished %v, seed %d, %d targets proved, %d runs\n%s", r.code, want, s.Finished, s.Plan.Seed, len(s.Contract), len(s.Runs), r.err)
	}
	dir := u.sessions()[0]
	files := tree(t, dir)
	checkLayout(t, files, s)
	checkOutput(t, r, s)
	for name, text := range files {
		if strings.Contains(text, "canary-5b1f") || strings.Contains(text, "API_SECRET") {
			t.Errorf("%s holds a variable of the user's environment, which the plan does not name", name)
		}
	}
	for format, want := range map[string]string{"table": r.out, "html": files["report.html"], "md": files["report.md"], "csv": files["runs.csv"]} {
		for _, ref := range []string{"latest", s.ID} {
			if got := u.run("report", ref, "--format", format); got.code != r.code || got.out != want {
				t.Errorf("report %s as %s: exit %d, %q; %d bytes, compare had %d", ref, format, got.code, got.err, len(got.out), len(want))
			}
		}
	}
	if got := u.run("verify", s.ID); got.code != exitDone || got.err != "" {
		t.Errorf("verify: exit %d\n%s%s", got.code, got.out, got.err)
	}
	if _, err := os.Lstat(filepath.Join(u.dir, "benchmark.json")); !os.IsNotExist(err) {
		t.Errorf("a quick session wrote benchmark.json: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(u.dir, "tmp")); len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v", left)
	}

	// Another one into the same folder, ended in its second run.
	second := u.start("compare", "--quick", "--targets", "go-1", "--seed", "1")
	second.await("step 1 of ")
	second.cmd.Process.Signal(os.Interrupt)
	second.wait().refused(t, exitInterrupted)
	if after := tree(t, dir); !maps.Equal(after, files) {
		t.Error("a second compare touched the files of the first")
	}
	if dirs := u.sessions(); len(dirs) != 2 || dirs[0] != dir {
		t.Errorf("archives: %q", dirs)
	}
	if got := u.run("report", s.ID); got.out != r.out {
		t.Error("the report of the first session is another one now")
	}
}

// canary is what nobody wants to find in an archive: servers inherit the environment,
// and a record of it would be handed on with the record.
const canary = "API_SECRET=canary-5b1f"

// kept tells whether a run was made to its end. On a machine that is busy, as with
// other tests, it is void: the machine was not quiet enough for its numbers.
func kept(o record.Outcome) bool { return o == record.Done || o == record.Void }

// checkLayout: the files of a session are the documented ones and no others.
func checkLayout(t *testing.T, files map[string]string, s *record.Session) {
	t.Helper()
	want := []string{"MANIFEST.sha256", "contract.json", "host.json", "plan.json", "probes.json", "report.html", "report.md", "runs.csv", "session.json"}
	for _, run := range s.Runs {
		want = append(want, strings.NewReplacer("logs/", "runs/", ".log", ".json").Replace(run.LogFile))
		if !strings.HasPrefix(files[run.LogFile], `{"ready":true`) {
			t.Errorf("%s begins with %.40q", run.LogFile, files[run.LogFile])
		}
	}
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(files))
	got = slices.DeleteFunc(got, func(name string) bool { return strings.HasPrefix(name, "logs/") && strings.HasSuffix(name, ".log") })
	if !slices.Equal(got, want) {
		t.Errorf("files\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var timeLeft = regexp.MustCompile(`, (\S+) left: `)

// checkOutput: the report is on stdout, with its mark, and progress on stderr.
func checkOutput(t *testing.T, r result, s *record.Session) {
	t.Helper()
	for _, text := range []string{"SMOKE RUN", "NOT EVIDENCE ***", s.ID, "go-1", "node-1", "get-c300", "memory-c300"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("the report lacks %q", text)
		}
	}
	if told := strings.Count(r.err, "\nstep "); told != len(s.Runs) {
		t.Errorf("%d runs told of, of %d:\n%s", told, len(s.Runs), r.err)
	}
	if !strings.HasPrefix(r.err, "plan: 1 block") {
		t.Errorf("the plan is not told first:\n%s", r.err)
	}
	var left []time.Duration
	for _, m := range timeLeft.FindAllStringSubmatch(r.err, -1) {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			t.Error(err)
		}
		left = append(left, d)
	}
	if n := len(left); n < 2 || left[0] <= left[n-1] || s.Runs[len(s.Runs)-1].Outcome == record.Done && left[n-1] != 0 {
		t.Errorf("the time left does not fall to nothing: %v", left)
	}
	if strings.ContainsAny(r.out+r.err, "\x1b\r") {
		t.Error("escape sequences for what is no terminal")
	}
}

// TestWithoutNode: a machine without Node hears so before anything is started,
// and Go can be measured there all the same.
func TestWithoutNode(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	u.env[0] = "PATH=" + filepath.Join(u.dir, "empty")
	for _, args := range [][]string{{"compare"}, {"compare", "--quick", "--targets", "node-1"}, {"check"}} {
		u.run(args...).refused(t, exitPreflight, "node-1", "install Node.js 20 or newer")
	}
	if !strings.Contains(u.run("compare").err, "--targets go-1,go-") {
		t.Error("the way on without Node is not offered")
	}
	if dirs := u.sessions(); len(dirs) > 0 {
		t.Errorf("a refused session left %q", dirs)
	}
	j := u.start("compare", "--quick", "--targets", "go-1", "--seed", "1")
	j.await("\nstep 1 of ")
	j.cmd.Process.Signal(os.Interrupt)
	j.wait().refused(t, exitInterrupted)
	if s := u.load(); s.Host.NodeVersion != "" || !kept(s.Runs[0].Outcome) {
		t.Errorf("node %q, first run %s", s.Host.NodeVersion, s.Runs[0].Outcome)
	}
}

// TestConclude: a whole session of real length becomes benchmark.json; a quick
// one and one with failed runs do not, and the one before stays.
func TestConclude(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		session   string
		code      int
		published bool
	}{
		{"standard", exitDone, true},
		{"quick", exitDone, false},
		{"incomplete", exitInvalid, false},
	} {
		out := t.TempDir()
		if err := os.WriteFile(filepath.Join(out, "benchmark.json"), []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		id := archived(t, out, c.session, true)
		r := concluded(filepath.Join(out, id), out)
		if want := inProcess("report", id, "--out", out); r.code != c.code || r.out != want.out || r.err != want.err {
			t.Errorf("%s: exit %d, want %d; report the same %v; stderr %q", c.session, r.code, c.code, r.out == want.out, r.err)
		}
		data, err := os.ReadFile(filepath.Join(out, "benchmark.json"))
		if err != nil {
			t.Fatal(err)
		}
		if published := string(data) != "old\n"; published != c.published {
			t.Errorf("%s: published %v", c.session, published)
		}
		if c.published {
			if s, err := archive.Load(filepath.Join(out, "benchmark.json")); err != nil || s.ID != id {
				t.Errorf("published session: %v", err)
			}
		}
	}
}

// concluded is what conclude does to a session, as a result.
func concluded(dir, out string) result {
	var o, e bytes.Buffer
	s := streams{nil, &o, &e}
	code := exitWith(s, conclude(dir, out, s))
	return result{code: code, out: o.String(), err: e.String()}
}
