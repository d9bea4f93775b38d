// Package archive keeps sessions on disk: one folder each, written as the
// session goes and never overwritten.
//
//	results/20261130T194100Z-a1b2c3/
//	  plan.json         what will run, in which order, under which rules; before the first run
//	  host.json         what machine this is
//	  contract.json     the proof that the targets answer alike
//	  probes.json       the capacities that an open loop's rate is a share of
//	  resumes.json      when it went on after an interruption; absent if it never was
//	  runs/0001-go-1.get-c50.b01.json …  one file a run, on disk before the next one starts (-again1 for a repeat)
//	  logs/0001-go-1.get-c50.b01.log  …  what the servers printed
//	  session.json      the finish time and the SHA-256 of every file above it but the logs; after the last run
//	  report.md, runs.csv …                  what is derived from the files above
//	  MANIFEST.sha256   the SHA-256 of every file above it, as sha256sum writes it; last of all
//
// A folder without session.json was cut short. It loads, as incomplete, and it can
// be resumed: what is left to do follows from the plan and the runs, and no file of
// its own says it again.
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gonogo/runner/disk"
	"gonogo/runner/record"
)

const (
	planFile     = "plan.json"
	hostFile     = "host.json"
	contractFile = "contract.json"
	probesFile   = "probes.json"
	resumesFile  = "resumes.json"
	sealFile     = "session.json"
	runsDir      = "runs"
	logsDir      = "logs"
)

// stamp is the part of an id that is a time, UTC, to the second.
const stamp = "20060102T150405Z"

// seal is the content of session.json. A run that was taken away, added or
// changed afterwards no longer agrees with it.
type seal struct {
	SchemaVersion int               `json:"schema_version"`
	ID            string            `json:"id"`
	Started       time.Time         `json:"started"`
	Finished      time.Time         `json:"finished"`
	Changes       []record.Check    `json:"changes,omitempty"`
	SHA256        map[string]string `json:"sha256"` // by name, relative to the folder
}

// Writer adds to the folder of a session that is running. It is not safe for
// concurrent use.
type Writer struct {
	dir     string
	plan    *record.Plan
	started time.Time
	size    size
	sums    map[string]string
	resumes []record.Resume
}

// Create makes a new folder under out, which it creates if need be, and writes
// the plan and the host into it.
func Create(out string, p *record.Plan, h record.Host) (*Writer, error) {
	return create(out, p, h, time.Now(), suffix)
}

// create makes the folder under another name, which no reader takes for an
// archive, and renames it once it holds plan and host: an archive without a plan
// could be neither read nor resumed.
func create(out string, p *record.Plan, h record.Host, now time.Time, suffix func(time.Time) string) (w *Writer, err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, fmt.Errorf("create archive folder: %w", err)
	}
	w = &Writer{plan: p, started: now.UTC().Truncate(time.Second), sums: map[string]string{}}
	sweepOut(out, now)
	w.dir = filepath.Join(out, newPrefix+w.started.Format(stamp)+"-"+random()+tempSuffix)
	defer func() {
		if err != nil {
			err = fmt.Errorf("create archive: %w", join(err, disk.RemoveAll(w.dir)))
			w = nil
		}
	}()
	for _, d := range []string{"", runsDir, logsDir} {
		if err := disk.Mkdir(filepath.Join(w.dir, d), 0o755); err != nil {
			return w, err
		}
	}
	if err := errors.Join(w.put(planFile, p), w.put(hostFile, h), syncDir(w.dir)); err != nil {
		return w, err
	}
	for {
		dir := filepath.Join(out, w.started.Format(stamp)+"-"+suffix(now))
		err := disk.Rename(w.dir, dir)
		if err == nil {
			w.dir = dir
			if err := syncDir(out); err != nil {
				return w, fmt.Errorf("%s: %w", dir, err)
			}
			return w, nil
		}
		if !errors.Is(err, fs.ErrExist) { // a folder of that name is another session's
			return w, fmt.Errorf("%s: %w", dir, step(err))
		}
	}
}

// ID names the session: when it started, UTC, and six hexadecimal digits. Ids sort
// by the start.
func (w *Writer) ID() string { return filepath.Base(w.dir) }

// suffix ends an id: four digits are the fraction of the second, so that names sort
// by time within one too, and two are random.
func suffix(now time.Time) string {
	return fmt.Sprintf("%04x", uint64(now.Nanosecond())<<16/uint64(time.Second)) + random()[:2]
}

// Dir is the session's folder.
func (w *Writer) Dir() string { return w.dir }

// LogName is where the target of a step's attempt logs, relative to Dir. The file
// is the target's to create.
func (w *Writer) LogName(st record.Step, attempt int) string {
	return path.Join(logsDir, stepName(st, attempt)+".log")
}

// PlanSHA256 is the sum of the plan as archived, for runs to name: a plan that is
// changed afterwards no longer agrees with them.
func (w *Writer) PlanSHA256() string { return w.sums[planFile] }

// AddProbes keeps the capacities that open-loop rates come from.
func (w *Writer) AddProbes(p []record.Probe) error {
	if err := w.put(probesFile, p); err != nil {
		return fmt.Errorf("keep probes: %w", err)
	}
	return nil
}

// AddContract keeps the outcome of the contract check.
func (w *Writer) AddContract(c []record.Parity) error {
	if err := w.put(contractFile, c); err != nil {
		return fmt.Errorf("keep contract: %w", err)
	}
	return nil
}

// Append keeps a run, whatever its outcome. It is on disk when Append returns.
func (w *Writer) Append(r *record.Run) error {
	sc, ok := w.plan.Scenario(r.Step.Scenario)
	if !ok {
		return fmt.Errorf("append run %s: the plan has no scenario %q", r.Step.Key(), r.Step.Scenario)
	}
	if err := r.Validate(sc.Kind); err != nil {
		return fmt.Errorf("append run: %w", err)
	}
	if r.LogFile != "" && !filepath.IsLocal(r.LogFile) {
		return fmt.Errorf("append run %s: log file %q is not relative to the archive", r.Step.Key(), r.LogFile)
	}
	name := RunFile(r)
	if _, twice := w.sums[name]; twice {
		return fmt.Errorf("append run %s: the attempt already has a run", r.Step.Key())
	}
	if err := w.put(name, r); err != nil {
		return fmt.Errorf("append run: %w", err)
	}
	return nil
}

// Finish says that the session ran to its end, and what of the machine had changed
// by then. Whether it is complete depends on its runs too: see
// record.Session.Complete.
func (w *Writer) Finish(changes []record.Check) error {
	s := seal{record.SchemaVersion, w.ID(), w.started, time.Now().UTC(), changes, w.sums}
	if err := w.put(sealFile, s); err != nil {
		return fmt.Errorf("finish archive: %w", err)
	}
	return nil
}

// put writes v as the file of that name and remembers its sum.
func (w *Writer) put(name string, v any) error {
	data, err := encode(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	if len(data) > maxFile { // what could never be loaded again
		return fmt.Errorf("write %s: larger than %d MiB", name, maxFile>>20)
	}
	if err := w.size.add(data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := writeBytes(filepath.Join(w.dir, filepath.FromSlash(name)), data); err != nil {
		return err
	}
	w.sums[name] = sum(data)
	return nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// stepName is a file name without suffix. Names of targets and scenarios may
// come from a user, so what could leave the folder is replaced; the number keeps
// two steps apart all the same.
func stepName(st record.Step, attempt int) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r == '/':
			return '.'
		}
		return '_'
	}, st.Key())
	name := fmt.Sprintf("%04d-%.100s", st.Index+1, safe)
	if attempt > 0 {
		name += fmt.Sprintf("-again%d", attempt)
	}
	return name
}
