package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// mutant is a check that is taken out. The row of its fault has to go red: an alarm
// that comes without its check would prove nothing.
type mutant struct {
	fault    string // as faultName gives it
	file     string
	old, new string
}

// mutants hold one check, or what reports it, for each fault. Old stands once in its
// file; sources that have moved on make it an error, never a silent pass.
var mutants = []mutant{
	{"slow server", "runner/stats/verdict.go", "v.Word, v.Why = t.Question.side(e.Log.Value),", "v.Word, v.Why = Inconclusive,"},
	{"stall", "runner/findings/findings.go", " artefactMax,", ""},
	{"leak", "runner/findings/findings.go", " memoryGrows,", ""},
	{"wrong body once in 10 000", "runner/load/template.go", "if !t.matches(body, id) || len(body) != int(r.length) {", "if len(body) != int(r.length) {"},
	{"chatty server", "runner/findings/findings.go", "\tchatty,", "\t"},
	{"store not reset", "runner/session/step.go", "if n != plan.IDs {", "if n < plan.IDs {"},
	{"dead worker", "runner/sut/sut.go", "if !slices.Contains(now, pid) {", "if false {"},
	{"refork", "runner/sut/sut.go", "if !slices.Contains(p.pids, pid) {", "if false {"},
	{"cluster of which one worker takes all", "runner/findings/findings.go", " imbalance,", ""},
	{"port stolen", "runner/sut/ready.go", "if h.Token != p.token {", "if false {"},
	{"settings not honoured", "runner/sut/sut.go", "if got != t.Workers {", "if false {"},
	{"saturated generator", "runner/findings/limits.go", "return generatorBound", `return "neither"`},
	{"clock step", "runner/session/clock.go", "OK: by.Abs() <= clockStepMax", "OK: true"},
	{"sampler left on in a latency run", "runner/record/run.go", "} else if r.Memory != nil || r.SampledReads != 0 {", "} else if false {"},
	{"twin that is not a twin", "runner/findings/findings.go", " twinDiffers,", ""},
}

// runMutants takes each check out of a copy of the sources and wants its row red there.
func runMutants(ctx context.Context, names []string, out io.Writer) error {
	dir, err := os.MkdirTemp("", "gonogo-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if text, err := exec.CommandContext(ctx, "cp", "-r", "go.mod", "go.sum", "runner", "server-go", "server-node", "bin", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("copy sources: %w: %s", err, text)
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "check taken out\tin\trow")
	tried, red := 0, 0
	for _, m := range mutants {
		if len(names) > 0 && !slices.Contains(names, m.fault) {
			continue
		}
		tried++
		said, err := m.goesRed(ctx, dir)
		if err != nil {
			return fmt.Errorf("take out the check of %q: %w", m.fault, err)
		}
		word := "STAYS GREEN"
		if said {
			word, red = "red", red+1
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", m.fault, m.file, word)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of %d\n", red, tried)
	if red < tried || tried == 0 {
		return errors.New("take checks out: a row stayed green without its check")
	}
	return nil
}

// goesRed applies the mutant in the copy, asks for its row, and puts the source back.
func (m mutant) goesRed(ctx context.Context, dir string) (bool, error) {
	path := filepath.Join(dir, m.file)
	source, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		return false, fmt.Errorf("%s holds %q %d times, want once: the sources have moved on", m.file, m.old, n)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o644); err != nil {
		return false, err
	}
	defer os.WriteFile(path, source, 0o644)
	binary := filepath.Join(dir, "faults-mutant")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./runner/internal/faults")
	build.Dir = dir
	if text, err := build.CombinedOutput(); err != nil {
		return false, fmt.Errorf("it does not build: %w: %s", err, text)
	}
	ask := exec.CommandContext(ctx, binary, m.fault)
	ask.Dir = dir
	text, err := ask.CombinedOutput()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && ended.ExitCode() == 1 && strings.Contains(string(text), "NONE") {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask for its row: %w: %s", err, text)
	}
	return false, nil
}
