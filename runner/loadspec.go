package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"gonogo/runner/load"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// askedFlags say which requests are sent and which answers are right.
type askedFlags struct {
	Method     string            `short:"X" default:"GET" help:"Method."`
	Header     map[string]string `short:"H" sep:"none" placeholder:"NAME=VALUE" help:"Header. May be repeated."`
	Body       string            `short:"b" help:"Body; {id} in it becomes the id of the path."`
	WantStatus int               `help:"Status that is right (default: any 2xx)." placeholder:"CODE"`
	WantBody   string            `help:"Body that is right (default: any); {id} as above, {digits} once for a number of the server's." placeholder:"TEXT"`
	IDs        amount            `name:"ids" default:"10000" help:"{id} is drawn from 1 to this."`
	Mix        string            `placeholder:"get=80,post=20" help:"Instead of one request, shares of the users API's own: get, post, miss (404 is right)."`
	File       string            `name:"requests-file" placeholder:"FILE" help:"Instead of one request, those of a file: a JSON object a line with method, path, headers, body, status, want, weight, ignore."`
}

// amount is a number with a suffix: k is 1000, m a million.
type amount float64

// UnmarshalText reads such as 20k.
func (a *amount) UnmarshalText(text []byte) error {
	s, unit := strings.ToLower(string(text)), 1.0
	if cut, ok := strings.CutSuffix(s, "k"); ok {
		s, unit = cut, 1e3
	} else if cut, ok := strings.CutSuffix(s, "m"); ok {
		s, unit = cut, 1e6
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n*unit > 1e15 {
		return fmt.Errorf("%q is no number such as 20k", text)
	}
	*a = amount(n * unit)
	return nil
}

// spec turns the flags into a load specification. The hint is for when the
// server cannot be reached.
func (c *loadRunCmd) spec(ctx context.Context) (spec record.LoadSpec, hint string, err error) {
	to, err := parseTarget(c.URL)
	if err != nil {
		return spec, "", fail(exitUsage, "such as gonogo load -c 50 -d 15s http://127.0.0.1:8080/users/500", "%w", err)
	}
	spec = record.LoadSpec{
		Host: to.host, IDs: int(c.Asked.IDs), Seed: c.Seed, Kind: record.Closed, Connections: c.Connections,
		Window: c.Duration, Count: uint64(c.Requests), Timeout: c.Timeout, Engine: c.Engine,
		NewConns: c.NewConns, StartAt: c.StartAt, Intervals: c.Hlog != "",
	}
	if c.Rate > 0 {
		spec.Kind, spec.RatePerSec, spec.Arrivals = record.Open, float64(c.Rate), "constant"
		if c.Poisson {
			spec.Arrivals = "poisson"
		}
	}
	if c.Requests > 0 {
		spec.Window = 0
	} else {
		spec.Warmup = time.Second
	}
	if c.Warmup != nil {
		spec.Warmup = *c.Warmup
	}
	if spec.Worker, spec.Workers, err = parseWorker(c.Worker); err != nil {
		return spec, "", fail(exitUsage, "", "%w", err)
	}
	if spec.Requests, err = c.requests(to.path); err != nil {
		return spec, "", fail(exitUsage, "", "%w", err)
	}
	if spec.Address, hint, err = to.resolve(ctx); err != nil {
		return spec, "", fail(exitPreflight, "", "load %s: %w", c.URL, err)
	}
	return spec, hint, nil
}

// requests are those of the file, of the mix, or the one of the flags.
func (c *loadRunCmd) requests(path string) ([]record.Request, error) {
	a := c.Asked
	list := []record.Request{{Method: a.Method, Path: path, Header: a.Header, Body: a.Body, WantStatus: a.WantStatus, WantBody: a.WantBody}}
	var err error
	switch {
	case a.Mix != "" && a.File != "":
		return nil, fmt.Errorf("--mix and --requests-file exclude each other")
	case a.Mix != "":
		list, err = parseMix(a.Mix)
	case a.File != "":
		f, openErr := os.Open(a.File)
		if openErr != nil {
			return nil, fmt.Errorf("read requests: %w", openErr)
		}
		defer f.Close()
		list, err = load.ReadRequests(f)
	}
	if err == nil && c.NewConns { // then the server need not wait for another request
		for i := range list {
			header := map[string]string{"Connection": "close"}
			for k, v := range list[i].Header {
				header[k] = v
			}
			list[i].Header = header
		}
	}
	return list, err
}

// parseMix reads such as get=80,post=20.
func parseMix(text string) (list []record.Request, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, share, _ := strings.Cut(part, "=")
		weight, err := strconv.Atoi(share)
		if err != nil || weight < 1 {
			return nil, fmt.Errorf("mix %q: want shares such as get=80,post=20", text)
		}
		r, ok := plan.Request(name)
		if !ok {
			return nil, fmt.Errorf("mix %q: no request %q, there are get, post and miss", text, name)
		}
		r.Weight = weight
		list = append(list, r)
	}
	return list, nil
}

// parseWorker reads such as 0/4; "" is the only worker.
func parseWorker(text string) (k, n int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	a, b, _ := strings.Cut(text, "/")
	k, errK := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if errK != nil || errN != nil || n < 1 || k < 0 || k >= n {
		return 0, 0, fmt.Errorf("worker %q: want K/N with K from 0 to N-1", text)
	}
	return k, n, nil
}

// target is where a URL points.
type target struct {
	name, port string // or
	socket     string
	host       string // the Host header
	path       string
}

// parseTarget does not use package url: it would escape the braces of {id}.
func parseTarget(text string) (target, error) {
	if text == "" {
		return target{}, fmt.Errorf("no URL to load")
	}
	if rest, ok := strings.CutPrefix(text, "unix:"); ok {
		socket, path, _ := strings.Cut(rest, ":")
		if socket == "" {
			return target{}, fmt.Errorf("url %q names no socket", text)
		}
		return target{socket: socket, host: "localhost", path: withSlash(path)}, nil
	}
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "http", text
	}
	if scheme != "http" {
		return target{}, fmt.Errorf("url %q: this generator speaks http, not %s", text, scheme)
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	path, _, _ = strings.Cut(path, "#")
	t := target{host: authority, path: withSlash(path)}
	var err error
	if t.name, t.port, err = net.SplitHostPort(authority); err != nil {
		t.name, t.port = strings.Trim(authority, "[]"), "80"
	}
	if t.name == "" || strings.ContainsAny(authority, " @") {
		return target{}, fmt.Errorf("url %q names no host", text)
	}
	return t, nil
}

func withSlash(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

// resolve chooses one address, before the window and for all connections: the
// first of version 4, else the first. The hint tells of a name that means ::1
// only, where a server on 127.0.0.1 is not found.
func (t target) resolve(ctx context.Context) (address, hint string, err error) {
	if t.socket != "" {
		return "unix:" + t.socket, "", nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.name)
	if err != nil {
		return "", "", fmt.Errorf("resolve %s: %w", t.name, err)
	}
	chosen := ips[0]
	for _, ip := range ips {
		if ip.Unmap().Is4() {
			chosen = ip.Unmap()
			break
		}
	}
	if _, err := netip.ParseAddr(t.name); err != nil && chosen == netip.IPv6Loopback() {
		hint = fmt.Sprintf("%s resolves to ::1 only; a server bound to 127.0.0.1 is reached by that address alone", t.name)
	}
	return net.JoinHostPort(chosen.String(), t.port), hint, nil
}
