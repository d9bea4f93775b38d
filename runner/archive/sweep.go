package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"gonogo/runner/disk"
)

// A writer that is killed leaves what it was writing under a temporary name.
// Inside the folder of a session that name is enough to tell it, for nobody else
// writes there. Beside it somebody else might, so there it also has to be old.

const (
	tempSuffix = ".tmp"
	newPrefix  = ".new-" // of a session's folder that has no plan yet
	probeName  = ".probe-"
)

// stale is how old a temporary file outside a session's folder must be before it
// counts as left behind: no file takes a writer that lives anything like as long.
const stale = 10 * time.Minute

var (
	// tempForm is the name of a temporary file of WriteFile.
	tempForm = regexp.MustCompile(`^\..+\.[0-9a-f]{6}\.tmp$`)
	// cutForm is that of a log which was being shortened: see package sut.
	cutForm = regexp.MustCompile(`^.+\.log\.\d+$`)
	// newForm is that of a folder which create had not renamed yet.
	newForm = regexp.MustCompile(`^\.new-\d{8}T\d{6}Z-[0-9a-f]{6}\.tmp$`)
	// probeForm is that of what Probe writes, under its own and its temporary name.
	probeForm = regexp.MustCompile(`^(\.probe-[0-9a-f]{6}|\.\.probe-[0-9a-f]{6}\.[0-9a-f]{6}\.tmp)$`)
)

// sweep removes the regular files of that form from a folder of the session.
func (w *Writer) sweep(folder string, form *regexp.Regexp) error {
	return sweepFiles(filepath.Join(w.dir, folder), form, time.Time{})
}

// sweepFiles removes the regular files of that form, of no later date than before
// unless that is zero.
func sweepFiles(dir string, form *regexp.Regexp, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !form.MatchString(e.Name()) || !old(e, before) {
			continue
		}
		if rm := disk.Remove(filepath.Join(dir, e.Name())); !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	}
	return err
}

func old(e fs.DirEntry, before time.Time) bool {
	if before.IsZero() {
		return true
	}
	info, err := e.Info()
	return err == nil && info.ModTime().Before(before)
}

// sweepOut removes, from a folder of archives, what writers left there that were
// killed before they had made a session's folder. What cannot be removed, such as
// another user's, is in nobody's way.
func sweepOut(out string, now time.Time) {
	before := now.Add(-stale)
	sweepFiles(out, probeForm, before)
	entries, _ := os.ReadDir(out)
	for _, e := range entries {
		if dir := filepath.Join(out, e.Name()); e.IsDir() && newForm.MatchString(e.Name()) && old(e, before) && unborn(dir) {
			disk.RemoveAll(dir)
		}
	}
}

// unborn tells whether a folder holds nothing but what create writes.
func unborn(dir string) bool {
	ours := true
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		if err != nil || relErr != nil {
			return errors.Join(err, relErr)
		}
		switch name := d.Name(); {
		case rel == "." || d.IsDir() && (rel == runsDir || rel == logsDir):
		case d.Type().IsRegular() && (rel == planFile || rel == hostFile || rel == name && tempForm.MatchString(name)):
		default:
			ours = false
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && ours
}

// sweepBeside removes what a writer of the file at path left beside it, likewise.
func sweepBeside(path string, now time.Time) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	form := regexp.MustCompile(`^\.` + regexp.QuoteMeta(name) + `\.[0-9a-f]{6}\.tmp$`)
	sweepFiles(dir, form, now.Add(-stale))
	sweepFiles(dir, probeForm, now.Add(-stale))
}
