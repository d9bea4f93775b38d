package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"gonogo/runner/archive"
	"gonogo/runner/diff"
	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/recount"
)

type verifyCmd struct {
	Ref  string `arg:"" optional:"" name:"archive" help:"Session: id, beginning of an id, folder, benchmark.json, or latest." default:"latest"`
	Out  string `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	JSON bool   `help:"What was checked, as JSON."`
}

// verification is what verify prints.
type verification struct {
	Archive string    `json:"archive"`
	Session string    `json:"session,omitempty"`
	Follows bool      `json:"follows"`
	Checked []checked `json:"checked"`
	Notes   []string  `json:"notes,omitempty"`
}

// checked is one thing that was looked at.
type checked struct {
	What     string            `json:"what"`
	Text     string            `json:"text"` // what holds if there are no problems
	Problems []archive.Problem `json:"problems,omitempty"`
}

// Run checks every file and every number of an archive, and says which of which
// file does not follow. All is checked, whatever was found before.
func (c *verifyCmd) Run(s streams) error {
	path, err := resolve(c.Out, c.Ref)
	if err != nil {
		return err
	}
	v := &verification{Archive: path}
	if err := v.verify(path, c.Out); err != nil {
		return err
	}
	first := v.first()
	v.Follows = first == ""
	if err := v.print(s.out, c.JSON); err != nil {
		return err
	}
	if !v.Follows {
		return fail(exitInvalid, "take the file from where the archive was copied from; until then nothing rests on it", "verify archive %s: does not follow: %s", path, first)
	}
	return nil
}

func (v *verification) verify(path, out string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("verify archive: %w", err)
	}
	if info.IsDir() {
		if err := v.sums(path); err != nil {
			return fail(exitFailed, "every file of the folder must be readable", "%w", err)
		}
	}
	s, err := archive.Load(path)
	if err != nil {
		v.add("record", "", archive.Problem{Text: err.Error()})
		return nil
	}
	v.Session = s.ID
	v.add("record", plural(len(s.Runs), "run")+", valid, and as session.json sealed them")
	e := findings.Evaluate(s)
	v.numbers("numbers", "every value, median, range and ratio follows from histograms and counters, worked out a second way", "", recount.Evaluation(s, &e))
	if !info.IsDir() {
		return v.published(path, filepath.Join(out, s.ID))
	}
	v.plan(path, s)
	v.profiles(path, s)
	for _, name := range slices.Sorted(maps.Keys(derived)) {
		v.derived(path, name, s, e)
	}
	v.decision(path, s, e)
	return v.published(benchmarkPath(out), path)
}

func (v *verification) add(what, text string, problems ...archive.Problem) {
	v.Checked = append(v.Checked, checked{what, text, problems})
}

func (v *verification) numbers(what, text, file string, wrong []recount.Mismatch) {
	var problems []archive.Problem
	for _, m := range wrong {
		problems = append(problems, archive.Problem{File: file, Text: m.String()})
	}
	v.add(what, text, problems...)
}

// sums holds every file against the manifest.
func (v *verification) sums(dir string) error {
	sums, err := archive.CheckManifest(dir)
	if err != nil {
		return err
	}
	v.add("checksums", plural(sums.Files, "file")+" as "+archive.ManifestFile+" lists them", sums.Problems...)
	for _, name := range sums.Extra {
		if name == decisionPage || name == decisionData {
			continue // filed later; decided again below
		}
		v.Notes = append(v.Notes, fmt.Sprintf("%q is not in %s: nothing vouches for it", name, archive.ManifestFile))
	}
	return nil
}

// plan: every run names the plan that it was made by.
func (v *verification) plan(dir string, s *record.Session) {
	sum, err := archive.PlanSHA256(dir)
	var problems []archive.Problem
	if err != nil {
		problems = append(problems, archive.Problem{Text: err.Error()})
	}
	for i := range s.Runs {
		if r := &s.Runs[i]; r.PlanSHA256 != "" && r.PlanSHA256 != sum {
			problems = append(problems, archive.Problem{File: archive.RunFile(r), Text: "plan_sha256: made by another plan than the archived one"})
		}
	}
	v.add("plan", "every run names the sum of plan.json", problems...)
}

// derived makes a file anew from the record, and holds it against the one on disk.
func (v *verification) derived(dir, name string, s *record.Session, e findings.Evaluation) {
	says, err := archive.ReadFile(dir, name)
	if errors.Is(err, fs.ErrNotExist) && s.Finished.IsZero() {
		v.Notes = append(v.Notes, name+" was not written: the session was cut short")
		return
	}
	if err != nil {
		v.add(name, "", archive.Problem{File: name, Text: err.Error()})
		return
	}
	var gives bytes.Buffer
	if err := derived[name](&gives, s, e); err != nil {
		v.add(name, "", archive.Problem{File: name, Text: err.Error()})
		return
	}
	var wrong []recount.Mismatch
	if name == "runs.csv" {
		wrong = recount.Rows(s, string(says))
		if len(wrong) == 0 {
			wrong = recount.Cells(string(says), gives.String())
		}
	} else {
		wrong = recount.Text(string(says), gives.String())
	}
	if s.Plan.Kit != version() && letters(string(says)) != letters(gives.String()) {
		// Another build words a page otherwise. Whether somebody altered it is then for
		// its sum to tell; where the words are the same, its numbers have to be.
		v.Notes = append(v.Notes, fmt.Sprintf("%s is as gonogo %s wrote it and this is %s, which writes another page: that build works out its numbers again, this one those of the record",
			name, s.Plan.Kit, version()))
		return
	}
	v.numbers(name, "the record gives it again, to the byte", name, wrong)
}

// letters is a text without its digits.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}

// published holds a benchmark.json against the folder of the same session. Either
// may be away: a record can be copied without the other.
func (v *verification) published(file, dir string) error {
	two, err := archive.Load(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			v.Notes = append(v.Notes, "not compared: "+err.Error())
		}
		return nil
	}
	if !begins(file, two.ID) {
		return nil
	}
	const what = "benchmark.json"
	one, err := archive.Load(file)
	if err != nil {
		v.add(what, "", archive.Problem{File: file, Text: err.Error()})
		return nil
	}
	d, err := diff.Values(one, two)
	if err != nil {
		return err
	}
	var problems []archive.Problem
	for _, x := range d {
		problems = append(problems, archive.Problem{File: file, Text: fmt.Sprintf("%s is %.60s, in %s it is %.60s", x.Path, orAbsent(x.A), dir, orAbsent(x.B))})
	}
	if len(d) == 0 { // what means the same, as another space or a name in capitals, is altered all the same
		same, err := archive.Same(file, two)
		if err != nil {
			return err
		}
		if !same {
			problems = append(problems, archive.Problem{File: file, Text: "altered: it means what " + dir + " holds, and is not what gonogo wrote"})
		}
	}
	v.add(what, "the same as "+dir+", to the byte", problems...)
	return nil
}

// begins tells whether the head of a file names a session. The file may be cut, or
// of another session, or not be there.
func begins(file, id string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4096))
	return err == nil && bytes.Contains(head, []byte(id))
}

// first is the first problem, or "".
func (v *verification) first() string {
	for _, c := range v.Checked {
		if len(c.Problems) > 0 {
			return c.Problems[0].String()
		}
	}
	return ""
}

func (v *verification) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return writeJSON(w, v)
	}
	const most = 10 // problems of one kind on a page
	var b bytes.Buffer
	fmt.Fprintf(&b, "archive %s\n", plain(v.Archive))
	for _, c := range v.Checked {
		if len(c.Problems) == 0 {
			fmt.Fprintf(&b, "  ok     %-15s %s\n", c.What, c.Text)
			continue
		}
		fmt.Fprintf(&b, "  WRONG  %-15s %s\n", c.What, plural(len(c.Problems), "problem"))
		for i, p := range c.Problems {
			if i == most {
				fmt.Fprintf(&b, "         and %d more: --json lists all\n", len(c.Problems)-most)
				break
			}
			fmt.Fprintf(&b, "         %s\n", plain(p.String()))
		}
	}
	for _, n := range v.Notes {
		fmt.Fprintf(&b, "  note   %s\n", plain(n))
	}
	fmt.Fprintln(&b, map[bool]string{true: "every printed number follows from the raw record", false: "NOT EVERYTHING FOLLOWS"}[v.Follows])
	_, err := w.Write(b.Bytes())
	return err
}
