// Package soak repeats sessions in one process for hours and watches what they
// leave in it and beside it. What grows with the sessions is a leak: it would not
// be seen in the one session that a user runs.
package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"
)

// Config is what a soak needs.
type Config struct {
	Dir string        // an empty folder of its own; Run puts sessions, samples and temporary files there
	For time.Duration // no session begins later than this after the start
	Log io.Writer     // a line for each session
	// Session runs one session into a folder of archives and gives its exit code.
	Session func(ctx context.Context, results string) int
	// Refused tells whether a code means that nothing was run: another session holds
	// the machine, say. It is tried again, and does not count.
	Refused func(code int) bool
	Pause   time.Duration // before it is tried again
}

// The names in a soak's folder.
const (
	resultsDir  = "results"
	tempDir     = "tmp"
	SamplesFile = "soak.jsonl"
)

// keepLast is how many sessions are left on the disk, to be looked at.
const keepLast = 3

// refusalsMax bounds how often in a row a session may be refused.
const refusalsMax = 60

// Run repeats sessions until the time is over or ctx ends, and returns a sample of
// each one that ended by itself. Each sample is on the disk before the next session
// begins. It sets HOME and TMPDIR of this process: servers are given no other
// variable by which they could be found when they outlive their session.
func Run(ctx context.Context, c Config) ([]Sample, error) {
	results, temp := filepath.Join(c.Dir, resultsDir), filepath.Join(c.Dir, tempDir)
	if err := errors.Join(os.Mkdir(results, 0o755), os.Mkdir(temp, 0o755), os.Setenv("TMPDIR", temp), os.Setenv("HOME", c.Dir)); err != nil {
		return nil, fmt.Errorf("prepare soak: %w", err)
	}
	samples, refusals := []Sample{}, 0
	for end := time.Now().Add(c.For); ctx.Err() == nil && (time.Now().Before(end) || len(samples) == 0); {
		began := time.Now()
		before, err := names(results)
		if err != nil {
			return samples, err
		}
		code := c.Session(ctx, results)
		took := time.Since(began)
		if ctx.Err() != nil {
			break // what it left is what an interrupted session may leave
		}
		if c.Refused(code) {
			if refusals++; refusals == refusalsMax {
				return samples, fmt.Errorf("run session: refused %d times in a row, the last with exit code %d", refusals, code)
			}
			fmt.Fprintf(c.Log, "refused with exit code %d, again in %v\n", code, c.Pause)
			wait(ctx, c.Pause)
			continue
		}
		refusals = 0
		s, err := take(c.Dir, before)
		if err != nil {
			return samples, err
		}
		s.Session, s.Began, s.Took, s.ExitCode = len(samples)+1, began.UTC(), took, code
		samples = append(samples, s)
		fmt.Fprintln(c.Log, s)
		if err := errors.Join(keep(filepath.Join(c.Dir, SamplesFile), s), prune(results)); err != nil {
			return samples, err
		}
	}
	return samples, nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// take samples this process and its folder after a session.
func take(dir string, before []string) (Sample, error) {
	debug.FreeOSMemory() // collects, too: what is left is in use
	s := process(dir)
	live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(live)
	s.HeapBytes, s.Goroutines = live[0].Value.Uint64(), live[1].Value.Uint64()
	after, err := names(filepath.Join(dir, resultsDir))
	if err != nil {
		return s, err
	}
	for _, name := range after {
		path := filepath.Join(dir, resultsDir, name)
		info, err := os.Lstat(path)
		if err != nil {
			return s, fmt.Errorf("look at archive: %w", err)
		}
		switch {
		case !info.IsDir() || name[0] == '.':
			s.Leftovers++
		case !slices.Contains(before, name):
			s.ID = name
			if s.DiskBytes, err = size(path); err != nil {
				return s, err
			}
		}
	}
	temps, err := names(filepath.Join(dir, tempDir))
	s.Leftovers += len(temps)
	return s, err
}

// names are the entries of a folder, in order; those of sessions begin with their
// time.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list folder: %w", err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all, nil
}

// size is the length of all files under a folder.
func size(dir string) (int64, error) {
	total := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("measure archive: %w", err)
	}
	return total, nil
}

// prune deletes all sessions but the last few.
func prune(results string) error {
	all, err := names(results)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(name string) bool { return name[0] == '.' })
	for _, name := range all[:max(0, len(all)-keepLast)] {
		if err := os.RemoveAll(filepath.Join(results, name)); err != nil {
			return fmt.Errorf("delete old session: %w", err)
		}
	}
	return nil
}

// keep appends a sample to the file of samples.
func keep(path string, s Sample) error {
	line, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keep sample: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("keep sample: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep sample: %w", err)
	}
	return nil
}

// Read gives the samples of a file that Run wrote. A last line without an end is
// left out: the soak was killed while it wrote.
func Read(path string) ([]Sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	defer f.Close()
	samples := []Sample{}
	for r, n := bufio.NewReader(f), 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return samples, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
		var s Sample
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("read samples: %s line %d: %w", path, n, err)
		}
		samples = append(samples, s)
	}
}
