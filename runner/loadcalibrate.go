package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/internal/null"
	"gonogo/runner/load"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// ceilings are what the generator can do on a machine, requests per second by
// engine. They are kept in the user's cache folder and hold for the machine that
// they name.
type ceilings struct {
	Machine string             `json:"machine"`
	Kit     string             `json:"kit"`
	Ceiling map[string]float64 `json:"ceiling_per_sec"`
}

func ceilingsFile() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "gonogo", "ceiling.json"), err
}

// machine names what a ceiling depends on.
func machine(h record.Host) string {
	return fmt.Sprintf("%s, %d CPUs, %s %s", h.CPUModel, len(h.CPUs), h.OS, h.Kernel)
}

// ceiling is what was calibrated on this machine, or nil.
func ceiling(engine string) *float64 {
	path, err := ceilingsFile()
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var c ceilings
	if json.Unmarshal(text, &c) != nil || c.Machine != machine(host.Describe(context.Background(), "")) {
		return nil
	}
	if rate, ok := c.Ceiling[engine]; ok {
		return &rate
	}
	return nil
}

// A ceiling is the best of so many runs, and none at all if they differ by more
// than a share: that is what the machine can do, not what it was left to do.
const (
	calibrations      = 5
	calibrationSpread = 0.15
)

// calibrate loads the null server, which is on a CPU of its own, with each
// engine, from the CPUs that it can use: epoll one, net all others. With more
// than two CPUs the null server may be the limit of net, whose ceiling is then
// too low: a run is doubted, never wrongly believed.
func calibrate(ctx context.Context, s streams) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	h := host.Describe(ctx, "")
	var generator, server []int
	if len(h.CPUs) > 1 && h.OS == "linux" {
		server, generator = h.CPUs[:1], h.CPUs[1:]
	}
	guard, err := sut.StartGuard(exe, "guard")
	if err != nil {
		return err
	}
	defer guard.Close()
	address, stop, err := startNull(guard, exe, server)
	if err != nil {
		return err
	}
	defer stop()
	c := ceilings{Machine: machine(h), Kit: version(), Ceiling: map[string]float64{}}
	for _, engine := range load.Engines() {
		spec := record.LoadSpec{
			Address: address, Host: address, Kind: record.Closed, Engine: engine, Connections: 50,
			Requests: []record.Request{{Method: "GET", Path: "/users/500", WantStatus: 200, WantBody: null.Body}},
			Warmup:   200 * time.Millisecond, Window: time.Second, Timeout: 5 * time.Second,
		}
		var rates []float64
		for range calibrations {
			res, err := runApart(guard, exe, allotment(engine, generator), spec)
			if err != nil {
				return fmt.Errorf("calibrate %s: %w", engine, err)
			}
			rates = append(rates, float64(res.Counts.InWindow)/res.Window.Seconds())
		}
		c.Ceiling[engine] = slices.Max(rates)
		fmt.Fprintf(s.out, "%-6s %.0f to %.0f requests a second\n", engine, slices.Min(rates), slices.Max(rates))
		if slices.Min(rates) < (1-calibrationSpread)*slices.Max(rates) {
			return fail(exitPreflight, "gonogo doctor tells what disturbs it", "calibrate %s: the machine is not quiet: its rates differ by more than %.0f %%", engine, 100*calibrationSpread)
		}
	}
	return c.save(s)
}

// allotment is which of the free CPUs an engine uses.
func allotment(engine string, free []int) []int {
	if engine == "net" || len(free) == 0 {
		return free
	}
	return free[:1]
}

func (c ceilings) save(s streams) error {
	path, err := ceilingsFile()
	if err != nil {
		return fmt.Errorf("keep ceiling: %w", err)
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append(text, '\n'), 0o644)); err != nil {
		return fmt.Errorf("keep ceiling: %w", err)
	}
	fmt.Fprintln(s.out, "kept in", path)
	return nil
}

func startNull(g *sut.Guard, exe string, cpus []int) (address string, stop func(), err error) {
	cmd := exec.Command(exe, "null")
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := sut.Spawn(g, cmd, cpus); err != nil {
		return "", nil, fmt.Errorf("start null server: %w", err)
	}
	stop = func() { in.Close(); sut.Reap(g, cmd) }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("await null server: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

// runApart runs a generator as a process of its own.
func runApart(g *sut.Guard, exe string, cpus []int, spec record.LoadSpec) (*record.LoadResult, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, "load", "--spec", "-")
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(text)+"\n"), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := sut.Spawn(g, cmd, cpus); err != nil {
		return nil, err
	}
	var e record.LoadEvent
	err = json.NewDecoder(out).Decode(&e)
	if err = errors.Join(err, sut.Reap(g, cmd)); err != nil {
		return nil, err
	}
	if e.Result == nil {
		return nil, errors.New(e.Error)
	}
	return e.Result, nil
}
