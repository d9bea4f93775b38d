package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

// An archive may come from a stranger, so what is read of it is bounded. A run
// takes about 20 KB and 1000 values, and ten times that where the machine's
// hiccups are many. Writer keeps the same bounds.
const (
	maxFile   = 16 << 20  // bytes of one file of a folder
	maxTotal  = 128 << 20 // bytes of a session, or of one benchmark.json
	maxValues = 8 << 20   // values of a session: a short text may stand for large structs
	maxRuns   = 10_000    // and cells, targets x scenarios
)

// Load reads a session from its folder or from a benchmark.json, and validates
// it. Errors name the file and what is wrong with it. A folder without
// session.json yields a session whose Finished is zero.
func Load(name string) (*record.Session, error) {
	s, err := load(name)
	if err != nil {
		return nil, fmt.Errorf("load session %s: %w", name, cause(err))
	}
	if err := errors.Join(s.Validate(), oneRunAnAttempt(s), fewCells(&s.Plan)); err != nil {
		return nil, fmt.Errorf("load session %s: %s", name, brief(err))
	}
	return s, nil
}

func load(name string) (*record.Session, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return loadFolder(name)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("neither a folder nor a regular file")
	}
	return loadFile(name)
}

// fewCells bounds what an evaluation multiplies: every target with every
// scenario.
func fewCells(p *record.Plan) error {
	if n := len(p.Targets) * len(p.Scenarios); n > maxRuns {
		return fmt.Errorf("the plan has %d targets and %d scenarios: more than %d cells", len(p.Targets), len(p.Scenarios), maxRuns)
	}
	return nil
}

// oneRunAnAttempt rejects a run that is counted twice.
func oneRunAnAttempt(s *record.Session) error {
	type attempt struct {
		step record.Step
		n    int
	}
	seen := map[attempt]bool{}
	for _, r := range s.Runs {
		a := attempt{r.Step, r.Attempt}
		if seen[a] {
			return fmt.Errorf("attempt %d of step %s has two runs", a.n+1, r.Step.Key())
		}
		seen[a] = true
	}
	return nil
}

// brief is the text of an error about a stranger's data: few lines, and no
// control characters for a terminal to obey.
func brief(err error) string {
	const most = 5
	lines := strings.SplitN(err.Error(), "\n", most+1)
	if len(lines) > most {
		lines[most] = "and more"
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && !strconv.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, strings.Join(lines, "\n"))
}

func loadFolder(dir string) (*record.Session, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &reader{root: root, sums: map[string]string{}}
	s := &record.Session{SchemaVersion: record.SchemaVersion}
	s.ID, s.Started = identity(dir)
	// The seal is read first: its sums say which file is damaged, where a parser
	// would only say that something is.
	var end seal
	sealed, err := r.optional(sealFile, &end)
	if err != nil {
		return nil, err
	}
	if err := r.session(s); err != nil {
		return nil, err
	}
	if sealed {
		if err := r.verify(end.SHA256); err != nil {
			return nil, err
		}
		s.SchemaVersion, s.ID, s.Started, s.Finished, s.Changes = end.SchemaVersion, end.ID, end.Started, end.Finished, end.Changes
	}
	return s, nil
}

// identity is the id and start of a session as its folder's name tells them.
// A folder that was renamed tells no start.
func identity(dir string) (string, time.Time) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	id := filepath.Base(dir)
	if !isID(id) {
		return id, time.Time{}
	}
	started, _ := time.Parse(stamp, id[:len(stamp)])
	return id, started
}

func (r *reader) session(s *record.Session) error {
	if err := r.decode(planFile, &s.Plan); err != nil {
		return err
	}
	if err := r.decode(hostFile, &s.Host); err != nil {
		return err
	}
	if _, err := r.optional(contractFile, &s.Contract); err != nil {
		return err
	}
	if _, err := r.optional(probesFile, &s.Probes); err != nil {
		return err
	}
	if _, err := r.optional(resumesFile, &s.Resumes); err != nil {
		return err
	}
	names, err := r.runs()
	if err != nil {
		return err
	}
	s.Runs = make([]record.Run, len(names))
	for i, name := range names {
		if err := r.decode(name, &s.Runs[i]); err != nil {
			return err
		}
		if named := s.Runs[i].PlanSHA256; named != "" && named != r.sums[planFile] {
			return fmt.Errorf("%s: it ran under another plan than %s, which was changed since", name, planFile)
		}
	}
	// Names sort as steps do up to 9999; the steps themselves always do.
	slices.SortStableFunc(s.Runs, func(a, b record.Run) int {
		return cmp.Or(cmp.Compare(a.Step.Index, b.Step.Index), cmp.Compare(a.Attempt, b.Attempt))
	})
	return nil
}

// runForm is the name of a run's file. Whatever else lies in runs/, such as a
// temporary file that a crash left there, is not a run.
var runForm = regexp.MustCompile(`^\d{4,}-[0-9A-Za-z._-]+\.json$`)

func (r *reader) runs() ([]string, error) {
	d, err := r.root.Open(runsDir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", runsDir, cause(err))
	}
	defer d.Close()
	entries, err := d.ReadDir(maxRuns + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", runsDir, cause(err))
	}
	if len(entries) > maxRuns {
		return nil, fmt.Errorf("%s: more than %d files", runsDir, maxRuns)
	}
	var names []string
	for _, e := range entries {
		if runForm.MatchString(e.Name()) {
			names = append(names, path.Join(runsDir, e.Name()))
		}
	}
	slices.Sort(names)
	return names, nil
}
