package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonogo/runner/contract"
	"gonogo/runner/plan"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// checkCmd proves servers against the contract and against each other. Nothing
// is timed and nothing is archived.
type checkCmd struct {
	Targets []string `help:"Targets to start and check, separated by commas." default:"go-1,node-1,node-cluster-2" placeholder:"NAME,..."`
	Fuzz    uint64   `help:"Also send so many random requests to all targets and compare the answers." placeholder:"N"`
	Seed    *uint64  `help:"Seed of the random requests (default: random; printed)." placeholder:"N"`
	Case    uint64   `help:"Number of the first random request; with --fuzz 1 it repeats one." placeholder:"I"`
	JSON    bool     `help:"Print the result as JSON." name:"json"`

	Requests string   `help:"Instead of the contract, send the requests of this file (JSON lines, as gonogo load --requests-file takes them) to all and hold the answers against each other: same status, same JSON." placeholder:"FILE"`
	Plan     string   `help:"Instead of the contract, start the services of this plan file and hold their answers against each other: docs/your-own-service.md." placeholder:"FILE"`
	IDs      int      `name:"ids" help:"With --requests: {id} becomes the first, the middle and the last of 1 to this." default:"10000" placeholder:"N"`
	Ignore   []string `help:"With --requests: members of JSON answers that may differ, such as createdAt,ts." placeholder:"NAME,..."`

	URLs []string `arg:"" optional:"" name:"url" help:"Servers that run already, such as http://127.0.0.1:3000; then no target is started."`
}

// checkResult is what --json prints.
type checkResult struct {
	Contract contract.Result      `json:"contract"`
	Fuzz     *contract.FuzzResult `json:"fuzz,omitempty"`
}

const (
	checkReady = 15 * time.Second
	checkGrace = 2 * time.Second
)

// Run checks, prints, and fails with exit code 4 when anything differs.
func (c *checkCmd) Run(ctx context.Context, s streams) (err error) {
	beware(s)
	switch {
	case c.Plan != "":
		return c.checkPlan(ctx, s)
	case c.Requests != "" && c.Fuzz > 0:
		return fail(exitUsage, "leave one of them out", "check: --requests and --fuzz exclude each other")
	case c.Requests == "" && c.Ignore != nil:
		return fail(exitUsage, "name the file of requests with --requests", "check: --ignore without --requests: the contract is held to the byte")
	}
	servers, stop, err := c.servers(ctx)
	defer func() { err = errors.Join(err, stop()) }()
	if err != nil {
		return err
	}
	if len(c.URLs) > 0 {
		beyond(ctx, s, addressesOf(servers)...)
	}
	if c.Requests != "" {
		return c.checkRequests(ctx, s, servers)
	}
	var result checkResult
	if result.Contract, err = contract.Check(ctx, servers); err != nil {
		return cannotAsk(err)
	}
	if c.Fuzz > 0 {
		seed := rand.Uint64N(1 << 32) // short enough to be typed again
		if c.Seed != nil {
			seed = *c.Seed
		}
		fuzz, err := contract.Fuzz(ctx, servers, contract.FuzzOptions{Seed: seed, First: c.Case, N: c.Fuzz})
		if err != nil {
			return err
		}
		result.Fuzz = &fuzz
	}
	if err := c.print(s.out, servers, result); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	if n := result.differences(); n > 0 {
		return fail(exitWrong, "nothing that is timed between servers that differ proves anything: mend the server that breaks the contract", "check targets: %d differences", n)
	}
	return nil
}

func addressesOf(servers []contract.Server) (list []string) {
	for _, server := range servers {
		list = append(list, server.Address)
	}
	return list
}

// cannotAsk is for a server that does not even take a connection.
func cannotAsk(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fail(exitPreflight, "is the server running, and is this its address?", "%w", err)
}

func (r checkResult) differences() int {
	n := len(r.Contract.Differences)
	if r.Fuzz != nil {
		n += len(r.Fuzz.Differences)
	}
	return n
}

// servers gives the servers that were named, or starts the targets. stop is
// never nil, also beside an error.
func (c *checkCmd) servers(ctx context.Context) (servers []contract.Server, stop func() error, err error) {
	stop = func() error { return nil }
	if len(c.URLs) > 0 {
		servers, err = c.foreign()
		return servers, stop, err
	}
	if err := named(c.Targets); err != nil {
		return nil, stop, err
	}
	// Two workers are enough to be a cluster. The check is not timed, so nothing
	// is pinned.
	p, err := plan.New(plan.Options{CPUs: plan.CPUSets{K: 2}, Targets: c.Targets})
	if unknown := (*plan.UnknownTarget)(nil); errors.As(err, &unknown) {
		return nil, stop, fail(exitUsage, "name targets with --targets, or running servers by their URL", "%w", err)
	}
	if err != nil {
		return nil, stop, err
	}
	k, err := findKit()
	if err != nil {
		return nil, stop, err
	}
	if _, err := checkCommands(ctx, k, p); err != nil {
		return nil, stop, err
	}
	// A plan adds a twin to measure against itself; here it would prove nothing.
	asked := slices.DeleteFunc(p.Targets, func(t record.Target) bool { return !slices.Contains(c.Targets, t.Name) })
	return startAll(ctx, k, asked)
}

// startAll starts targets as servers. stop ends those that were started, also
// beside an error.
func startAll(ctx context.Context, k kit, targets []record.Target) (servers []contract.Server, stop func() error, err error) {
	logs, err := os.MkdirTemp("", "gonogo-check-")
	if err != nil {
		return nil, func() error { return nil }, fail(exitPreflight, "", "%w", err)
	}
	guard, err := sut.StartGuard(k.exe, "guard")
	if err != nil {
		return nil, func() error { return os.RemoveAll(logs) }, fail(exitPreflight, "", "%w", err)
	}
	var started []*sut.Process
	stop = func() error {
		var errs []error
		for _, p := range started {
			_, err := p.Stop()
			errs = append(errs, err)
		}
		return errors.Join(append(errs, guard.Close(), os.RemoveAll(logs))...)
	}
	for _, t := range targets {
		p, err := sut.Start(ctx, guard, sut.Spec{Target: t, Dir: k.root, LogPath: filepath.Join(logs, t.Name+".log"), ReadyTimeout: checkReady, Grace: checkGrace})
		if err != nil && ctx.Err() == nil {
			err = fail(exitPreflight, "make build, then start it by hand to see more", "%w", err)
		}
		if err != nil {
			return nil, stop, err
		}
		started = append(started, p)
		servers = append(servers, contract.Server{Name: t.Name, Address: p.Address(), Known: t.Known, Chunked: t.Chunked})
	}
	return servers, stop, nil
}

// foreign takes the URLs of servers that run already. They get the table, and
// not thousands of users out of the fuzzer.
func (c *checkCmd) foreign() ([]contract.Server, error) {
	if c.Fuzz > 0 {
		return nil, fail(exitUsage, "leave out --fuzz, or the URL", "fuzz %s: the fuzzer fills a store, so it runs against servers of its own only", c.URLs[0])
	}
	var servers []contract.Server
	for _, raw := range c.URLs {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "http" || u.Port() == "" || strings.Trim(u.Path, "/") != "" {
			return nil, fail(exitUsage, "give it as http://127.0.0.1:3000", "check %s: not the URL of a server: need http, a host, a port and no path", raw)
		}
		servers = append(servers, contract.Server{Name: u.Host, Address: u.Host})
	}
	return servers, nil
}

// print writes the report: a line each for what was checked, and every difference.
func (c *checkCmd) print(w io.Writer, servers []contract.Server, r checkResult) error {
	if c.JSON {
		return writeJSON(w, r)
	}
	var b strings.Builder
	b.WriteString(r.Contract.String())
	fmt.Fprintf(&b, "contract: %d cases, %d differences\n", r.Contract.Cases, len(r.Contract.Differences))
	for _, p := range r.Contract.Parity {
		fmt.Fprintf(&b, "  %-15s %d bytes a reply to GET /users/500\n", p.Target, p.ReplyBytesGET)
	}
	for _, s := range servers {
		if len(s.Known) > 0 {
			fmt.Fprintf(&b, "  %s is known to answer in its own way: %s\n", s.Name, strings.Join(s.Known, ", "))
		}
		if s.Chunked {
			fmt.Fprintf(&b, "  %s is known to send users in chunks\n", s.Name)
		}
	}
	if f := r.Fuzz; f != nil {
		b.WriteString(f.String())
		fmt.Fprintf(&b, "fuzz: %d cases, seed %d, %d differences, %v; demanded %s\n", f.Cases, f.Seed, len(f.Differences), f.Elapsed.Round(100*time.Millisecond), demanded(f.Demanded))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// demanded tells which answers a fuzz run was about.
func demanded(byStatus map[int]uint64) string {
	var keys []int
	for status := range byStatus {
		keys = append(keys, status)
	}
	slices.Sort(keys)
	var parts []string
	for _, status := range keys {
		name := fmt.Sprint(status)
		if status == 0 {
			name = "refusal"
		}
		parts = append(parts, fmt.Sprintf("%s: %d", name, byStatus[status]))
	}
	return strings.Join(parts, ", ")
}
