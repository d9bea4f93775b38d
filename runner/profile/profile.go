// Package profile has a server tell where it spends its time and its memory: it starts
// it so that it can be asked, asks at the edges of a timed window, and sums what it
// yields by function. A run that is profiled is a run for that alone: a profiler takes
// time of its own, and memory.
//
// Go servers of ours open a listener for pprof (server-go/profile.go). Node writes its
// own profiles when it ends; a file of ours that --import puts before its program,
// preload.mjs, tells what Node does not write.
package profile

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/record"
)

//go:embed preload.mjs
var preload []byte

const preloadFile = "preload.mjs"

// Runtime is go or node by a target's command, or "" for what cannot be profiled.
func Runtime(t record.Target) string {
	if len(t.Argv) == 0 {
		return ""
	}
	switch name := filepath.Base(t.Argv[0]); {
	case name == "node":
		return "node"
	case name == "bun", name == "deno":
		return ""
	}
	return "go"
}

// Profiler takes the profiles of one run. Its calls come in the order in which they are
// declared, from one goroutine.
type Profiler struct {
	run       record.ProfileRun
	dir       string // absolute, ours alone
	addresses []string
	pending   chan error // of a profile that takes as long as the window; nil without one
}

// Prepare makes the folder dir, from which what lies there is removed, and gives the
// target as it has to be started. dir must be absolute: a server has another working folder.
func Prepare(t record.Target, of, dir string) (record.Target, *Profiler, error) {
	p := &Profiler{run: record.ProfileRun{Of: of, Runtime: Runtime(t)}, dir: dir}
	flags, ok := arguments[p.run.Runtime][of]
	if !ok {
		return t, nil, fmt.Errorf("prepare profile of %s: there is no profile %q of it", t.Name, of)
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return t, nil, fmt.Errorf("prepare profile of %s: %w", t.Name, err)
	}
	p.run.Env = []string{"PROFILE=" + of}
	p.run.Argv = slices.Clone(t.Argv)
	if p.run.Runtime == "node" {
		if err := os.WriteFile(filepath.Join(dir, preloadFile), preload, 0o644); err != nil {
			return t, nil, fmt.Errorf("prepare profile of %s: %w", t.Name, err)
		}
		p.run.Argv = slices.Concat(t.Argv[:1], []string{"--import", placeholder + "/" + preloadFile}, flags, t.Argv[1:])
	} else {
		p.run.Env = append(p.run.Env, "PROFILE_ADDR=127.0.0.1:0")
	}
	t.Env = slices.Concat(t.Env, p.run.Env)
	t.Argv = nil
	for _, a := range p.run.Argv {
		t.Argv = append(t.Argv, strings.ReplaceAll(a, placeholder, dir))
	}
	return t, p, nil
}

// placeholder stands for the folder in what is archived: its path is of this machine.
const placeholder = "{dir}"

// arguments are the profiles that there are of a runtime, with the flags that node
// takes. The interval of a heap profile is a quarter of V8's default: 128 KiB.
var arguments = map[string]map[string][]string{
	"go": {record.ProfileCPU: nil, record.ProfileMemory: nil, record.ProfileWaits: nil, record.ProfileTrace: nil},
	"node": {
		record.ProfileCPU:    {"--cpu-prof", "--cpu-prof-dir=" + placeholder},
		record.ProfileMemory: nil,
		record.ProfileHeap:   {"--heap-prof", "--heap-prof-interval=131072", "--heap-prof-dir=" + placeholder},
		record.ProfileWaits:  nil,
	},
}

// Find takes the addresses of the listeners from what the server has logged so far.
// Every process of Node has one, of Go the only one.
func (p *Profiler) Find(log []byte, processes int) error {
	p.addresses = nil
	for line := range strings.Lines(string(log)) {
		if a, ok := address(line); ok {
			p.addresses = append(p.addresses, a)
		}
	}
	if len(p.addresses) != processes {
		return fmt.Errorf("find profiles: %d of %d processes said where they can be asked: is the program built with them?", len(p.addresses), processes)
	}
	return nil
}

// Begin asks for what is to be subtracted, just before the window.
func (p *Profiler) Begin(ctx context.Context) error {
	if p.run.Runtime == "node" {
		return p.each(func(_ int, a string) error { return ask(ctx, a+"/begin", io.Discard) })
	}
	return p.edge(ctx, "begin")
}

// Window asks for what takes as long as the window, which opens now. Profiles of Go
// take whole seconds, at least one.
func (p *Profiler) Window(ctx context.Context, window time.Duration) {
	what := map[string]string{
		record.ProfileCPU:   "/debug/pprof/profile?seconds=" + strconv.Itoa(max(1, int(window.Seconds()))),
		record.ProfileTrace: "/debug/pprof/trace?seconds=" + traceSeconds,
	}[p.run.Of]
	if p.run.Runtime != "go" || what == "" {
		return
	}
	p.pending = make(chan error, 1)
	go func() {
		p.pending <- p.each(func(_ int, a string) error { return p.fetch(ctx, a+what, windowFiles[p.run.Of]) })
	}()
}

// traceSeconds: a trace holds every event, some ten for each request.
const traceSeconds = "1"

var windowFiles = map[string]string{record.ProfileCPU: goCPU, record.ProfileTrace: goTrace}

// End asks for the rest, when the window has closed.
func (p *Profiler) End(ctx context.Context) error {
	if p.pending != nil {
		if err := <-p.pending; err != nil {
			return err
		}
	}
	if p.run.Runtime == "node" {
		return p.each(func(i int, a string) error { return p.fetch(ctx, a+"/end", fmt.Sprintf(nodeWindow, i)) })
	}
	return p.edge(ctx, "end")
}

// edge takes the profiles of Go that count from the start of the process.
func (p *Profiler) edge(ctx context.Context, edge string) error {
	for _, kind := range goEdges[p.run.Of] {
		query := ""
		if kind == "heap" {
			query = "?gc=1" // so that it holds what is in use, and not what nobody has collected yet
		}
		if err := p.each(func(_ int, a string) error {
			return p.fetch(ctx, a+"/debug/pprof/"+kind+query, edgeFile(kind, edge))
		}); err != nil {
			return err
		}
	}
	return nil
}

func (p *Profiler) each(do func(int, string) error) error {
	for i, a := range p.addresses {
		if err := do(i, "http://"+a); err != nil {
			return fmt.Errorf("profile %s: %w", p.run.Of, err)
		}
	}
	return nil
}

func (p *Profiler) fetch(ctx context.Context, url, file string) (err error) {
	f, err := os.OpenFile(filepath.Join(p.dir, file), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return ask(ctx, url, f)
}

// client follows no redirect, takes no proxy from the environment and keeps nothing open.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       5 * time.Minute,
}

func ask(ctx context.Context, url string, to io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
		return fmt.Errorf("GET %s: status %d: %s", url, resp.StatusCode, strings.TrimSpace(string(text)))
	}
	n, err := io.Copy(to, io.LimitReader(resp.Body, MaxFile+1))
	if err == nil && n > MaxFile {
		err = fmt.Errorf("GET %s: more than %d MiB", url, MaxFile>>20)
	}
	return err
}

// Finish sums what the run yielded up, once the server has ended: Node writes its
// profiles then. The names of files begin with name, which is the folder's in the archive.
func (p *Profiler) Finish(name string) (*record.ProfileRun, error) {
	files, err := read(p.dir)
	if err != nil {
		return nil, fmt.Errorf("finish profile: %w", err)
	}
	r := p.run
	for _, f := range files {
		r.Files = append(r.Files, record.ProfileFile{Name: name + "/" + f.name, Bytes: int64(len(f.data)), SHA256: sum(f.data)})
	}
	if err := digest(&r, files); err != nil {
		return nil, fmt.Errorf("finish profile: %w", err)
	}
	return &r, nil
}
