package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"gonogo/runner/archive"
	"gonogo/runner/record"
	"gonogo/runner/session"
)

// sitting is the part of a session that one process runs: all of it, unless it was
// interrupted.
type sitting struct {
	kit      kit
	plan     *record.Plan
	host     record.Host // as archived; what the machine is at the end is held against it
	w        *archive.Writer
	kept     *record.Session // what was on disk before
	progress *progress
}

// measure archives a new session and returns its folder.
func measure(ctx context.Context, kit kit, p *record.Plan, h record.Host, out string, s streams) (string, error) {
	w, err := archive.Create(out, p, h)
	if err != nil {
		return "", fail(exitPreflight, "name another folder with --out", "%w", err)
	}
	x := &sitting{kit: kit, plan: p, host: h, w: w, kept: &record.Session{}, progress: newProgress(s.err, p)}
	return w.Dir(), x.run(ctx)
}

// run does what is left to do. The targets are proved alike whatever was proved
// before: that also puts their files into the page cache again.
func (x *sitting) run(ctx context.Context) error {
	defer x.progress.done()
	cfg, err := sessionConfig(x.kit, x.plan, x.w)
	if err != nil {
		return err
	}
	dir := x.w.Dir()
	cfg.Kept, cfg.Observe = x.kept.Runs, x.progress.observe
	cfg.Append = func(r *record.Run) error { return errors.Join(x.w.Append(r), pilot(dir, x.plan, r, x.progress)) }
	x.progress.say("proving that the targets answer alike")
	parity, err := session.Prove(ctx, cfg, filepath.Dir(cfg.LogPath(record.Step{}, 0)))
	if err != nil {
		return unproved(ctx, err, dir)
	}
	if x.kept.Contract == nil {
		if err := x.w.AddContract(parity); err != nil {
			return unkept(err, dir)
		}
	}
	probes, err := x.probes(ctx, cfg)
	if err != nil {
		return err
	}
	if err := execute(ctx, cfg, dir, probes, x.progress); err != nil {
		if ctx.Err() != nil {
			next := resumeCommand(dir) + " goes on"
			if x.plan.Kind.Searched() {
				next = fmt.Sprintf("a search begins anew: gonogo %s", x.plan.Kind)
			}
			return fail(exitInterrupted, "the finished runs are kept in "+dir+"; "+next,
				"compare: interrupted by a signal; no conclusion is drawn")
		}
		return unkept(err, dir)
	}
	if err := x.w.Finish(changes(ctx, x.kit, x.plan, x.host)); err != nil {
		return unkept(err, dir)
	}
	return nil
}

// probes are those on disk: the open loop's rates must not change within a session.
// Where there are none, they are made.
func (x *sitting) probes(ctx context.Context, cfg session.Config) ([]record.Probe, error) {
	if x.kept.Probes != nil || x.plan.Probe == nil {
		return x.kept.Probes, nil
	}
	x.progress.say("finding the capacities that the open loop's rate is a share of")
	probes, err := session.Probe(ctx, cfg)
	if err != nil {
		return nil, unproved(ctx, err, x.w.Dir())
	}
	if err := x.w.AddProbes(probes); err != nil {
		return nil, unkept(err, x.w.Dir())
	}
	return probes, nil
}

// sessionConfig is what every session of this kit has in common.
func sessionConfig(k kit, p *record.Plan, w *archive.Writer) (session.Config, error) {
	dir, err := filepath.Abs(w.Dir())
	if err != nil {
		return session.Config{}, err
	}
	groups, err := groupsFor(p)
	if err != nil {
		return session.Config{}, err
	}
	return session.Config{
		Plan: p, Groups: groups, Root: k.root, Guard: []string{k.exe, "guard"}, Generator: []string{k.exe, "load", "--spec", "-"},
		PlanSHA256: w.PlanSHA256(), Meter: []string{k.exe, "meter"},
		LogPath: func(st record.Step, attempt int) string { return filepath.Join(dir, w.LogName(st, attempt)) }, LogName: w.LogName,
		ProfileDir: func(st record.Step, attempt int) (string, string) {
			name := w.ProfileName(st, attempt)
			return filepath.Join(dir, name), name
		},
		Append: w.Append, Observe: func(session.Event) {},
	}, nil
}
