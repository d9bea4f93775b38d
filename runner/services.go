package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonogo/runner/decision"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/service"
	"gonogo/runner/session"
	"gonogo/runner/sut"
)

// services makes the plan of a user's own services from the file of --plan.
func (f planFlags) services(sets plan.CPUSets, seed uint64) (*record.Plan, error) {
	const help = "docs/your-own-service.md has every member; gonogo plan --write FILE starts a plan"
	o, err := service.Read(f.Plan)
	if err == nil && o.Service.Inputs != nil {
		if err = decision.Check(*o.Service.Inputs); err != nil {
			err = fmt.Errorf("read plan %s: decision: %w", f.Plan, err)
		}
	}
	if err != nil {
		return nil, fail(exitUsage, help, "%w", err)
	}
	o.Options = plan.Options{Kit: version(), CPUs: sets, Targets: f.Targets, Seed: seed, Budget: f.Budget, Quick: f.Quick}
	p, err := plan.NewService(o)
	if err != nil {
		return nil, fail(exitUsage, help, "plan %s: %w", f.Plan, err)
	}
	return p, nil
}

// of is the kit for a plan: commands of a user's own services are found from the
// folder of their plan file.
func (k kit) of(p *record.Plan) kit {
	if p.Service != nil {
		k.root = p.Service.Folder
	}
	return k
}

// versionTime is how long a command may take to print a version.
const versionTime = 30 * time.Second

// prepare runs, before anything is looked at, what the user wants run once: a build,
// say. With versions it asks for those too, which belong into the plan.
func prepare(ctx context.Context, k kit, p *record.Plan, versions bool, s streams) error {
	if p.Service == nil {
		return nil
	}
	beyondPlan(ctx, s, p)
	guard, err := sut.StartGuard(k.exe, "guard")
	if err != nil {
		return fail(exitPreflight, "", "%w", err)
	}
	defer guard.Close()
	for i := range p.Targets {
		t := &p.Targets[i]
		if t.Twin { // it is its base under another label
			if base, ok := p.Target(t.Base); ok {
				f := *base.Foreign
				t.Foreign = &f
			}
			continue
		}
		if len(t.Foreign.Setup) > 0 {
			fmt.Fprintf(s.err, "setting up %s\n", t.Name)
		}
		if err := session.Commands(ctx, guard, k.root, *t, t.Foreign.Setup); err != nil {
			return fail(exitPreflight, "it is a command of setup in the plan file", "%w", err)
		}
		if !versions || t.Foreign.Version == nil {
			continue
		}
		out, err := sut.Run(ctx, guard, filepath.Join(k.root, t.Foreign.Dir), t.Env, t.Foreign.Version, versionTime)
		if err != nil {
			return fail(exitPreflight, "it is the version of the plan file; leave it out if there is none", "ask version of %s: %w", t.Name, err)
		}
		line, _, _ := strings.Cut(out, "\n")
		f := *t.Foreign
		f.Runtime = strings.TrimSpace(line[:min(len(line), 120)])
		t.Foreign = &f
	}
	return nil
}

// programs are the commands that a target is made of, each with its folder.
func programs(t record.Target) (list []record.Companion) {
	if t.Foreign == nil {
		return []record.Companion{{Argv: t.Argv}}
	}
	list = slices.Clone(t.Foreign.Before)
	if !t.Remote() {
		list = append(list, record.Companion{Argv: t.Argv, Dir: t.Foreign.Dir})
	}
	return list
}

// checkService finds the commands of a service of the user's, and Node if it is one.
func checkService(k kit, t record.Target) (nodePath string, err error) {
	for _, c := range programs(t) {
		name, dir := c.Argv[0], filepath.Join(k.root, c.Dir)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", fail(exitPreflight, "dir is relative to the plan file", "find folder %s of target %s: %w", dir, t.Name, cmp.Or(err, error(errors.New("it is a file"))))
		}
		path := name
		switch {
		case !strings.ContainsRune(name, filepath.Separator):
			path, err = exec.LookPath(name)
		case filepath.IsAbs(name):
			_, err = os.Stat(name)
		default:
			_, err = os.Stat(filepath.Join(dir, name))
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
			return "", fail(exitPreflight, "build it, or let setup of the plan file do it; a command with a slash is relative to dir", "find %s of target %s in %s: %w", name, t.Name, dir, err)
		}
		if err != nil {
			return "", fail(exitPreflight, "", "find %s of target %s: %w", name, t.Name, err)
		}
		if name == "node" {
			nodePath = path
		}
	}
	return nodePath, nil
}

// beyondPlan warns of services that run already, elsewhere.
func beyondPlan(ctx context.Context, s streams, p *record.Plan) {
	var addresses []string
	for _, t := range p.Targets {
		if u := t.Foreign; u != nil && t.Remote() {
			if at, err := url.Parse(u.URL); err == nil {
				addresses = append(addresses, at.Host)
			}
		}
	}
	beyond(ctx, s, addresses...)
}
