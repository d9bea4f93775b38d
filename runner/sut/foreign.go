package sut

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gonogo/runner/record"
)

// foreign is what a process that was not written for this kit is found by.
type foreign struct {
	record.Foreign
	address string // host:port, resolved
	host    string // of the Host header
	part    bool   // it is not the target itself but a companion, and writes into its log

	before []*Process // companions, in the order of their start
	ended  chan struct{}
}

// settled is for how long the processes of a foreign target have to be the same
// before they are taken for all of it: workers may be forked after the first answer.
const settled = 150 * time.Millisecond

// startForeign starts a target's companions in their order and then itself. Each is
// ready when its URL answers 200, and, where the system tells who listens, when it is
// its own process that does.
func startForeign(ctx context.Context, g *Guard, s Spec) (*Process, error) {
	f := *s.Target.Foreign
	if s.Target.Remote() {
		return attach(ctx, s, f)
	}
	ports, err := choosePorts(f)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Target.Name, err)
	}
	log, err := createLog(s.LogPath)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Target.Name, err)
	}
	defer log.file.Close()
	var before []*Process
	fail := func(err error) (*Process, error) {
		for _, c := range slices.Backward(before) {
			_, endErr := c.Stop()
			err = errors.Join(err, endErr)
		}
		return nil, err
	}
	for _, c := range f.Before {
		part := Spec{Dir: s.Dir, LogPath: s.LogPath, ReadyTimeout: s.ReadyTimeout, Grace: s.Grace,
			Target: record.Target{Name: s.Target.Name + "/" + c.Name, Argv: c.Argv, Env: c.Env, CPUs: s.Target.CPUs}}
		own, err := log.again()
		if err != nil {
			return fail(err)
		}
		p, err := startOne(ctx, g, part, &foreign{part: true,
			Foreign: record.Foreign{URL: c.URL, Ready: c.Ready, ReadyWithin: c.ReadyWithin, StopSignal: c.StopSignal, Dir: c.Dir}}, own, ports[c.Name], ports)
		if err != nil {
			return fail(err)
		}
		before = append(before, p)
	}
	p, err := startOne(ctx, g, s, &foreign{Foreign: f}, log, ports[""], ports)
	if err != nil {
		return fail(err)
	}
	p.foreign.before = before
	p.watchAll()
	return p, nil
}

// startOne starts a process and waits until it is ready.
func startOne(ctx context.Context, g *Guard, s Spec, f *foreign, log *logFile, port int, ports map[string]int) (*Process, error) {
	bad := func(err error) error { return fmt.Errorf("start %s: %w", s.Target.Name, err) }
	u, err := url.Parse(record.Fill(f.URL, port, ports))
	if err != nil {
		return nil, bad(err)
	}
	if port, err = strconv.Atoi(u.Port()); err != nil {
		return nil, bad(fmt.Errorf("url %q names no port", f.URL))
	}
	f.address, f.host = u.Host, u.Host
	if err := taken(ctx, f.address); err != nil {
		return nil, bad(err)
	}
	t := &s.Target
	t.Argv, t.Env = filled(t.Argv, port, ports), filled(append([]string{"PORT={port}"}, t.Env...), port, ports)
	s.Dir = filepath.Join(s.Dir, f.Dir)
	if f.ReadyWithin > 0 {
		s.ReadyTimeout = f.ReadyWithin
	}
	p := newProcess(g, s)
	p.foreign, p.log, p.port = f, log, port
	if err := p.launch(); err != nil {
		return nil, bad(err)
	}
	if err = p.poll(ctx, p.askReady); err == nil {
		err = p.settle(ctx)
	}
	if err != nil {
		_, endErr := p.end(0)
		return nil, bad(errors.Join(err, endErr))
	}
	return p, nil
}

// attach finds a server that runs already. It is nobody's to stop.
func attach(ctx context.Context, s Spec, f record.Foreign) (*Process, error) {
	bad := func(err error) error { return fmt.Errorf("reach %s at %s: %w", s.Target.Name, f.URL, err) }
	u, err := url.Parse(f.URL)
	if err != nil {
		return nil, bad(err)
	}
	address, err := resolve(ctx, u)
	if err != nil {
		return nil, bad(err)
	}
	if f.ReadyWithin > 0 {
		s.ReadyTimeout = f.ReadyWithin
	}
	p := newProcess(nil, s)
	p.foreign = &foreign{Foreign: f, address: address, host: u.Host}
	if p.log, err = createLog(s.LogPath); err != nil {
		return nil, bad(err)
	}
	p.log.file.Close()
	p.begun = time.Now()
	if err := p.poll(ctx, p.askReady); err != nil {
		return nil, bad(err)
	}
	return p, nil
}

// resolve chooses one address for the whole run: the first of version 4, else the
// first.
func resolve(ctx context.Context, u *url.URL) (string, error) {
	port := u.Port()
	if port == "" {
		port = "80"
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return "", err
	}
	chosen := ips[0]
	if i := slices.IndexFunc(ips, func(ip netip.Addr) bool { return ip.Unmap().Is4() }); i >= 0 {
		chosen = ips[i].Unmap()
	}
	return net.JoinHostPort(chosen.String(), port), nil
}

// choosePorts finds a free port for the target ("") and for each of its companions.
// All are held until all are found, so that no two are the same.
func choosePorts(f record.Foreign) (map[string]int, error) {
	ports := map[string]int{}
	names := []string{""}
	for _, c := range f.Before {
		names = append(names, c.Name)
	}
	for _, name := range names {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("choose a port: %w", err)
		}
		defer l.Close()
		ports[name] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

func filled(list []string, port int, ports map[string]int) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = record.Fill(s, port, ports)
	}
	return out
}

// taken refuses to start a server where one is already: the other would answer, and
// be measured.
func taken(ctx context.Context, address string) error {
	c, err := (&net.Dialer{Timeout: portTimeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	c.Close()
	return fmt.Errorf("somebody answers on %s already: end that server, or let a free port be chosen with {port}", address)
}

// askReady makes one attempt.
func (p *Process) askReady(ctx context.Context) error {
	f := p.foreign
	address := "http://" + f.address + f.Ready
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	q.Host = f.host
	resp, err := prober.Do(q)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotYet, err)
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: GET %s: status %d, want 200", errNotYet, address, resp.StatusCode)
	}
	ready := time.Since(p.begun)
	if p.cmd == nil {
		p.ready = ready
		return nil
	}
	select {
	case <-p.exited:
		return p.withTail(fmt.Errorf("it ended before it was ready: %s", p.status))
	default:
	}
	members, err := living(p.PID())
	if err == nil {
		if mine, known := listens(p.port, members); known && !mine {
			return p.withTail(fmt.Errorf("port %d is answered by another server: none of its processes %v listens there", p.port, members))
		}
	}
	p.ready = ready
	return nil
}

// settle takes the list of processes once it has been the same for a while, and holds
// the target against its CPUs.
func (p *Process) settle(ctx context.Context) error {
	since := time.Now()
	for deadline := time.Now().Add(p.spec.ReadyTimeout); ; {
		now, err := living(p.PID())
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			p.pids = []int{p.PID()}
			return p.checkCPUs()
		case err != nil:
			return err
		case !slices.Contains(now, p.PID()):
			<-p.exited
			return p.withTail(fmt.Errorf("it ended as soon as it was ready: %s", p.status))
		case !slices.Equal(now, p.pids):
			p.pids, since = now, time.Now()
		case time.Since(since) >= settled:
			return p.checkCPUs()
		case time.Now().After(deadline):
			return fmt.Errorf("its processes still change %v after it was ready", p.spec.ReadyTimeout)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
