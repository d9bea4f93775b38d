package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/calibration"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// twins puts a session of twins on the disk: each run of a label is 1 % faster
// than the one before it, back and forth.
func twins(t *testing.T, out string) {
	t.Helper()
	d, err := plan.New(plan.Options{Seed: 1, CPUs: plan.CPUSets{One: []int{0}, OneGenerator: []int{1}, K: 2}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := calibration.NoisePlan(d, 2)
	if err != nil {
		t.Fatal(err)
	}
	w, err := archive.Create(out, p, record.Host{})
	if err != nil {
		t.Fatal(err)
	}
	for i, st := range p.Steps {
		n := uint64(math.Round(10_000 * (1 + 0.01*float64(i%3))))
		r := record.Run{SchemaVersion: record.SchemaVersion, Step: st, PlanSHA256: w.PlanSHA256(), Outcome: record.Done, Started: time.Unix(int64(i), 0).UTC(),
			ServerCPU: &record.CPUTime{User: time.Second}, Load: &record.LoadResult{Window: time.Second, Counts: record.Counts{Planned: n, OK: n, InWindow: n}}}
		if err := w.Append(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
}

func TestCalibrateFromAnArchive(t *testing.T) {
	t.Chdir("..")
	out := t.TempDir()
	twins(t, out)
	file := filepath.Join(out, "calibration.md")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"calibrate", "--from", "latest", "--out", out, "--sessions", "0", "--sims", "5", "--seed", "3", "--json", "--markdown", file},
		streams{strings.NewReader(""), &stdout, &stderr})
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	var r calibration.Result
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Noise) != 4 || len(r.Simulated) < 2*4 || len(r.Known) != 0 || r.Seed != 3 || r.Blocks < 6 {
		t.Errorf("%d sources, %d rows, %d truths, seed %d, %d blocks", len(r.Noise), len(r.Simulated), len(r.Known), r.Seed, r.Blocks)
	}
	page, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(page), "## Simulated sessions") || !strings.Contains(string(page), r.From) {
		t.Errorf("%v:\n%s", err, page)
	}
}

func TestCalibrateUsage(t *testing.T) {
	for _, args := range [][]string{{"--sims", "0"}, {"--sessions", "-1"}, {"--blocks", "-1"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"calibrate"}, args...), streams{strings.NewReader(""), &stdout, &stderr}); code != exitUsage {
			t.Errorf("%q: exit %d: %s", args, code, &stderr)
		}
	}
}
