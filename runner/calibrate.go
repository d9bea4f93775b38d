package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/calibration"
	"gonogo/runner/findings"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/session"
)

// stubCommand is the server of known truth; make calibrate builds it.
const stubCommand = "bin/stub"

type calibrateCmd struct {
	From     string  `help:"Take the noise from this archived session instead of measuring it." placeholder:"ARCHIVE"`
	Sessions int     `help:"Real sessions of each truth; 0: simulate only." default:"10" placeholder:"N"`
	Blocks   int     `help:"Blocks of the real sessions (default: those that the default plan gives to one of its rates)." placeholder:"N"`
	Sims     int     `help:"Simulated sessions of each design." default:"1000" placeholder:"N"`
	Seed     *uint64 `help:"Seed of orders and simulations (default: random; printed)." placeholder:"N"`
	Out      string  `help:"Folder of the archives; calibration keeps its own in DIR/calibration." default:"results" placeholder:"DIR"`
	Markdown string  `help:"Write the result as Markdown, too." placeholder:"FILE"`
	JSON     bool    `help:"Print JSON."`
}

// Run finds out how often the verdicts are right on this machine.
func (c *calibrateCmd) Run(ctx context.Context, s streams) error {
	if c.Sessions < 0 || c.Blocks < 0 || c.Sims < 1 {
		return fail(exitUsage, "give numbers above 0", "calibrate: %d sessions of %d blocks, %d simulated", c.Sessions, c.Blocks, c.Sims)
	}
	d, err := planFlags{Seed: c.Seed, Budget: plan.DefaultBudget}.plan()
	if err != nil {
		return err
	}
	k, err := findKit()
	if err != nil {
		return err
	}
	release, err := exclusive("calibrate", s)
	if err != nil {
		return err
	}
	defer release()
	x := &calibrating{calibrateCmd: c, kit: k, keep: filepath.Join(c.Out, "calibration"), standard: d, streams: s}
	if err := x.prepare(ctx); err != nil {
		return err
	}
	if err := x.run(ctx); err != nil {
		return err
	}
	return x.conclude()
}

// calibrating is a calibration that runs.
type calibrating struct {
	*calibrateCmd
	streams
	kit      kit
	keep     string       // where its sessions go: out of the way of report latest
	standard *record.Plan // the default plan of this machine
	noise    *record.Plan // nil with --from
	known    []*record.Plan
	truths   []calibration.Truth // of known
	result   calibration.Result
}

// prepare makes all plans and says how long they take, before anything runs.
func (x *calibrating) prepare(ctx context.Context) (err error) {
	d := x.standard
	if x.Blocks == 0 {
		x.Blocks = calibration.KnownBlocks(d)
	}
	if x.From == "" {
		if x.noise, err = calibration.NoisePlan(d, d.Seed); err != nil {
			return err
		}
	}
	for i := range x.Sessions {
		for j, truth := range []calibration.Truth{calibration.Equal, calibration.Slowed} {
			p, err := calibration.KnownPlan(d, stubCommand, truth, x.Blocks, d.Seed+uint64(2*i+j+1))
			if err != nil {
				return err
			}
			x.known, x.truths = append(x.known, p), append(x.truths, truth)
		}
	}
	h, err := x.preflight(ctx)
	if err != nil {
		return err
	}
	x.result = calibration.Result{Kit: d.Kit, Started: time.Now().UTC(), Host: h, Seed: d.Seed, Blocks: d.Blocks,
		Family: len(d.Primary), Effect: calibration.Effect}
	x.sayPlan()
	return nil
}

func (x *calibrating) preflight(ctx context.Context) (record.Host, error) {
	if x.Sessions > 0 {
		if _, err := os.Stat(filepath.Join(x.kit.root, stubCommand)); err != nil {
			return record.Host{}, fail(exitPreflight, "make calibrate builds it; --sessions 0 does without", "find %s: %w", stubCommand, err)
		}
	}
	for _, p := range append([]*record.Plan{x.noise}, x.known...) {
		if p != nil { // the first one needs all that the others do
			return preflight(ctx, x.kit, p, x.keep)
		}
	}
	return host.Describe(ctx, ""), nil
}

// sayPlan prints the time plan.
func (x *calibrating) sayPlan() {
	var total time.Duration
	if x.noise != nil {
		total += x.noise.Expected
		fmt.Fprintf(x.err, "plan: noise: %d runs of %d targets, %v\n", len(x.noise.Steps), len(x.noise.Targets), x.noise.Expected.Round(time.Second))
	}
	if len(x.known) > 0 {
		each := x.known[0].Expected
		total += time.Duration(len(x.known)) * each
		fmt.Fprintf(x.err, "plan: %d sessions of equal and %d of slowed servers, %d blocks x 3 runs, %v each\n",
			x.Sessions, x.Sessions, x.Blocks, each.Round(time.Second))
	}
	fmt.Fprintf(x.err, "plan: %v in all, up to a fifth more if runs are disturbed, then a minute or two of simulation; seed %d\n",
		total.Round(time.Second), x.standard.Seed)
}

// run measures, then simulates, so that the simulation disturbs nothing.
func (x *calibrating) run(ctx context.Context) error {
	if err := x.measureNoise(ctx); err != nil {
		return err
	}
	var outcomes []calibration.Outcome
	for i, p := range x.known {
		what := fmt.Sprintf("session %d of %d (%s servers)", i+1, len(x.known), x.truths[i])
		loaded, e, err := x.session(ctx, p, what)
		if err != nil {
			return err
		}
		o := calibration.OutcomeOf(loaded, e, x.truths[i])
		outcomes = append(outcomes, o)
		fmt.Fprintf(x.err, "%s: %s\n", what, o)
	}
	if len(outcomes) > 0 {
		x.result.Known = []calibration.Known{calibration.Count(calibration.Equal, outcomes), calibration.Count(calibration.Slowed, outcomes)}
	}
	fmt.Fprintf(x.err, "simulating %d sessions a design\n", x.Sims)
	rows, err := calibration.Simulate(ctx, calibration.Loudest(x.result.Noise), x.standard, calibration.Blocks(x.standard.Blocks), x.Sims, x.standard.Seed)
	x.result.Simulated = rows
	return err
}

// measureNoise takes the noise of this machine, or that of an archived session.
func (x *calibrating) measureNoise(ctx context.Context) error {
	var loaded *record.Session
	var e findings.Evaluation
	var err error
	if x.noise == nil {
		if loaded, err = open(x.Out, x.From); err == nil {
			e = findings.Evaluate(loaded)
		}
	} else {
		loaded, e, err = x.session(ctx, x.noise, "noise")
	}
	if err != nil {
		return err
	}
	x.result.From = loaded.ID
	x.result.Noise, err = calibration.Sources(loaded, e, x.standard)
	if err != nil {
		return fail(exitInvalid, "gonogo doctor says what disturbs the machine; a session for --from needs 8 undisturbed blocks", "%w", err)
	}
	return nil
}

// session runs and archives a plan by the code that compare runs, but without its
// proof of the contract and without probes, and evaluates what is on the disk.
func (x *calibrating) session(ctx context.Context, p *record.Plan, what string) (*record.Session, findings.Evaluation, error) {
	h, err := preflight(ctx, x.kit, p, x.keep)
	if err != nil {
		return nil, findings.Evaluation{}, err
	}
	w, err := archive.Create(x.keep, p, h)
	if err != nil {
		return nil, findings.Evaluation{}, fail(exitPreflight, "name another folder with --out", "%w", err)
	}
	cfg, err := sessionConfig(x.kit, p, w)
	if err != nil {
		return nil, findings.Evaluation{}, err
	}
	progress := newProgress(x.err, p)
	defer progress.done()
	progress.say(what)
	cfg.Observe = func(e session.Event) {
		// A line for each of hundreds of runs would hide the few that count.
		if progress.terminal || e.Run != nil && e.Run.Outcome != record.Done {
			progress.observe(e)
		}
	}
	err = session.Execute(ctx, cfg, nil)
	if err == nil {
		err = w.Finish(nil)
	}
	if ctx.Err() != nil {
		return nil, findings.Evaluation{}, fail(exitInterrupted, "the finished sessions are kept in "+x.keep, "calibrate: interrupted by a signal; nothing is concluded")
	}
	if err != nil {
		return nil, findings.Evaluation{}, unkept(err, w.Dir())
	}
	loaded, err := archive.Load(w.Dir())
	if err != nil {
		return nil, findings.Evaluation{}, unkept(err, w.Dir())
	}
	return loaded, findings.Evaluate(loaded), nil
}

// conclude prints the result; a missed rate is an error of its own.
func (x *calibrating) conclude() error {
	r := &x.result
	if x.Markdown != "" {
		if err := archive.WriteFile(x.Markdown, func(w io.Writer) error { return calibration.Markdown(w, r) }); err != nil {
			return err
		}
	}
	var err error
	if x.JSON {
		e := json.NewEncoder(x.out)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		err = calibration.Table(x.out, r)
	}
	if err != nil {
		return fmt.Errorf("print calibration: %w", err)
	}
	if missed := r.Missed(); len(missed) > 0 {
		return fail(exitThreshold, "the last lines of the report say what would do", "calibrate: %d of the promised rates were missed, first: %s", len(missed), missed[0])
	}
	return nil
}
