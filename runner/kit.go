package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// release is the version of the kit; CHANGELOG.md tells what is in it.
const release = "0.1.0"

// minNodeMajor is the oldest Node whose http server closes idle connections on
// close() by itself and knows buffer.isUtf8.
const minNodeMajor = 20

// version is the release and, where the build knows it, the revision.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	v := release
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			v += "+" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			v += "-modified"
		}
	}
	return v
}

// kit is where this gonogo and its servers are.
type kit struct {
	root string // holds bin/server-go and server-node/
	exe  string
}

// findKit looks beside the executable first, then in the working folder.
func findKit() (kit, error) {
	exe, err := os.Executable()
	if err != nil {
		return kit{}, fmt.Errorf("find kit: %w", err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return kit{}, fmt.Errorf("find kit: %w", err)
	}
	for _, root := range []string{filepath.Dir(filepath.Dir(exe)), cwd} {
		if _, err := os.Stat(filepath.Join(root, "server-node", "server.mjs")); err == nil {
			return kit{root, exe}, nil
		}
	}
	return kit{}, fail(exitPreflight, "run gonogo in the folder that holds server-node", "find kit: no server-node/server.mjs beside %s nor in %s", exe, cwd)
}

// preflight refuses before the first run what would spoil the last.
func preflight(ctx context.Context, k kit, p *record.Plan, out string) (record.Host, error) {
	nodePath, err := checkCommands(ctx, k, p)
	if err != nil {
		return record.Host{}, err
	}
	if err := archive.Probe(out); err != nil {
		return record.Host{}, fail(exitPreflight, "name another folder with --out", "%w", err)
	}
	if err := host.Preflight(needs(p)); err != nil {
		return record.Host{}, fail(exitPreflight, "raise it: ulimit -n in a shell that may, sysctl net.ipv4.ip_local_port_range as root", "%w", err)
	}
	h := host.Describe(ctx, nodePath)
	if h.Binaries, err = measured(k, p); err != nil {
		return record.Host{}, fail(exitPreflight, "make build", "%w", err)
	}
	return h, nil
}

// needs is what the largest server and its generator need each.
func needs(p *record.Plan) host.Need {
	need := host.Need{}
	for _, s := range p.Scenarios {
		need.Ports = max(need.Ports, s.Connections)
		need.Files = max(need.Files, s.Connections+64) // and log, listener, epoll, worker pipes
	}
	return need
}

// checkCommands finds every target's command, and for Node its version too.
func checkCommands(ctx context.Context, k kit, p *record.Plan) (nodePath string, err error) {
	for _, t := range p.Targets {
		if t.Foreign != nil {
			found, err := checkService(k, t)
			if err != nil {
				return "", err
			}
			nodePath = cmp.Or(nodePath, found)
			continue
		}
		name := t.Argv[0]
		if file, from := plan.Needs(t); file != "" {
			if _, err := os.Stat(filepath.Join(k.root, file)); err != nil {
				return "", fail(exitPreflight, from+", or leave "+t.Name+" out", "find %s of target %s: %w", file, t.Name, err)
			}
		}
		if strings.ContainsRune(name, filepath.Separator) {
			if _, err := os.Stat(filepath.Join(k.root, name)); err != nil {
				return "", fail(exitPreflight, "make build", "find %s of target %s: %w", name, t.Name, err)
			}
			continue
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fail(exitPreflight, withoutNode(p), "find %s of target %s: %w", name, t.Name, err)
		}
		if name == "node" && nodePath == "" {
			if err := checkNode(ctx, path); err != nil {
				return "", fail(exitPreflight, withoutNode(p), "%w", err)
			}
			nodePath = path
		}
	}
	return nodePath, nil
}

func checkNode(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second // a wrapper's child may hold its output open
	out, err := cmd.Output()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return fmt.Errorf("ask %s for its version: %w; it wrote %q", path, err, ended.Stderr)
	}
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", path, err)
	}
	text := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < minNodeMajor {
		return fmt.Errorf("check %s: version %q, need %d or newer", path, text, minNodeMajor)
	}
	return nil
}

// withoutNode tells how to get Node, and how to go on without it.
func withoutNode(p *record.Plan) string {
	var rest []string
	for _, t := range p.Targets {
		if t.Argv[0] != "node" {
			rest = append(rest, t.Name)
		}
	}
	hint := fmt.Sprintf("install Node.js %d or newer (nodejs.org or your system's packages)", minNodeMajor)
	if len(rest) > 0 {
		hint += "; or measure Go alone: --targets " + strings.Join(rest, ",")
	}
	return hint
}
