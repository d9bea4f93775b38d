package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gonogo/runner/disk"
	"gonogo/runner/record"
)

// Finished says that a session has nothing left to resume.
type Finished struct{ ID string }

func (e *Finished) Error() string { return "resume session " + e.ID + ": it is finished" }

// Open readies the folder of a session that was cut short for being added to, and
// loads what is in it. A session is finished when its manifest is there, which is
// the last of its files to be written; the error is then a *Finished. Where all runs
// were made and only what is derived from them is missing, Session.Finished is set.
//
// Nothing of the folder is changed but leftovers of a killed writer: temporary files
// go, and logs without a run get another name, for the step that
// wrote them will write them again.
func Open(dir string) (*Writer, *record.Session, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("resume session %s: %w", dir, err)
	}
	if _, err := os.Lstat(filepath.Join(abs, ManifestFile)); err == nil {
		return nil, nil, &Finished{filepath.Base(abs)}
	}
	if !isID(filepath.Base(abs)) {
		return nil, nil, fmt.Errorf("resume session %s: it is not the folder of a session", dir)
	}
	for _, folder := range []string{runsDir, logsDir} { // a link would lead the sweep, and what is written, outside
		if info, err := os.Lstat(filepath.Join(abs, folder)); err != nil || !info.IsDir() {
			return nil, nil, fmt.Errorf("resume session %s: %s is no folder", dir, folder)
		}
	}
	s, err := Load(dir)
	if err != nil {
		return nil, nil, err
	}
	w := &Writer{dir: dir, plan: &s.Plan, started: s.Started, sums: map[string]string{}, resumes: s.Resumes}
	if err := w.adopt(); err != nil {
		return nil, nil, fmt.Errorf("resume session %s: %w", dir, cause(err))
	}
	err = errors.Join(w.sweep(".", tempForm), w.sweep(runsDir, tempForm), w.sweep(logsDir, cutForm))
	if s.Finished.IsZero() {
		err = errors.Join(err, w.setLogsAside(s))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("resume session %s: %w", dir, err)
	}
	return w, s, nil
}

// adopt takes the sums and sizes of the files that the seal will cover, as Load has
// read them.
func (w *Writer) adopt() error {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	r := &reader{root: root}
	names, err := r.runs()
	if err != nil {
		return err
	}
	for _, name := range append(names, planFile, hostFile, contractFile, probesFile, resumesFile) {
		data, err := r.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := w.size.add(data); err != nil {
			return err
		}
		w.sums[name] = sum(data)
	}
	return nil
}

// setLogsAside renames the logs that no run names: of the proof, of the probes, and
// of the step that was killed. What they say may be why.
func (w *Writer) setLogsAside(s *record.Session) error {
	kept := map[string]bool{}
	for i := range s.Runs {
		kept[s.Runs[i].LogFile] = true
	}
	for i := range s.Probes {
		kept[s.Probes[i].Run.LogFile] = true
	}
	entries, err := os.ReadDir(filepath.Join(w.dir, logsDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, isLog := strings.CutSuffix(e.Name(), ".log")
		if !isLog || kept[logsDir+"/"+e.Name()] || asideForm.MatchString(name) {
			continue
		}
		err = errors.Join(err, w.setAside(name))
	}
	return err
}

// setAside takes the first number that is free: a resume may be killed too, before
// it is on disk.
func (w *Writer) setAside(name string) error {
	base := filepath.Join(w.dir, logsDir, name)
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s-cut%d.log", base, n)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return disk.Rename(base+".log", aside)
		}
	}
}

var asideForm = regexp.MustCompile(`-cut\d+$`)

// Resumed keeps that the session goes on. One that could not be kept is not kept
// by the next call either.
func (w *Writer) Resumed(r record.Resume) error {
	r.At = r.At.UTC().Truncate(time.Millisecond)
	all := append(slices.Clone(w.resumes), r)
	if err := w.put(resumesFile, all); err != nil {
		return fmt.Errorf("keep resume: %w", err)
	}
	w.resumes = all
	return nil
}
