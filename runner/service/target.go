package service

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// plainName is what a name may be: it becomes part of file names.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

func (c *check) name(member, name string, taken []string) {
	switch {
	case !plainName.MatchString(name):
		c.bad(member, "%.50q cannot be a name; write up to 40 letters, digits, dots, dashes and underscores", name)
	case slices.Contains(taken, name):
		c.bad(member, "%s is there twice; give each its own", name)
	case strings.HasSuffix(name, plan.TwinSuffix):
		c.bad(member, "%s is how the second run of a target against itself is called; end it otherwise", name)
	}
}

// argv checks an argument list. There is no shell that would take a whole line.
func (c *check) argv(member string, argv []string) {
	switch {
	case len(argv) == 0 || argv[0] == "":
		c.bad(member, `it is empty; write an argument list, such as ["node", "server.js"]`)
	case len(argv) == 1 && strings.ContainsAny(argv[0], " \t"):
		c.bad(member, "%q is a line for a shell, and there is none; write each argument as a text of its own", argv[0])
	case strings.Contains(strings.Join(argv, ""), "\x00"):
		c.bad(member, "it holds a zero byte, which no command can be given")
	}
}

func (c *check) commands(member string, list [][]string) [][]string {
	for i, argv := range list {
		at := fmt.Sprintf("%s[%d]", member, i)
		c.argv(at, argv)
		if strings.Contains(strings.Join(argv, " "), "{port") {
			c.bad(at, "no port is chosen when it runs; leave {port} out")
		}
	}
	return list
}

// target turns a service into a target. Both kinds are checked: one that is started,
// and one that runs already.
func (c *check) target(at string, t record.ServiceTarget) record.Target {
	if len(t.Command) == 0 {
		return c.remote(at, t)
	}
	names := []string{}
	for i, p := range t.Processes {
		c.name(fmt.Sprintf("%s.processes[%d].name", at, i), p.Name, names)
		names = append(names, p.Name)
	}
	own := process{at, record.ServiceProcess{Command: t.Command, Dir: t.Dir, Env: t.Env, URL: t.URL, Ready: t.Ready, ReadyWithin: t.ReadyWithin, StopSignal: t.StopSignal}, names}
	main := c.process(own)
	f := &record.Foreign{URL: main.URL, Ready: main.Ready, ReadyWithin: main.ReadyWithin, StopSignal: main.StopSignal, Dir: main.Dir,
		Setup: c.commands(at+".setup", t.Setup), Reset: c.commands(at+".reset", t.Reset)}
	for i, p := range t.Processes {
		companion := c.process(process{fmt.Sprintf("%s.processes[%d]", at, i), p, names})
		companion.Name = p.Name
		f.Before = append(f.Before, companion)
	}
	if t.Workers < 0 || t.Workers > 1024 {
		c.bad(at+".workers", "%d is no number of workers; write how many CPUs it is meant to use", t.Workers)
	}
	cpus := slices.Sorted(slices.Values(t.CPUs))
	if len(slices.Compact(slices.Clone(cpus))) < len(cpus) || len(cpus) > 0 && (cpus[0] < 0 || cpus[len(cpus)-1] > 1023) {
		c.bad(at+".cpus", "%v is no set of CPUs; write each number once", t.CPUs)
	}
	return record.Target{Name: t.Name, Base: t.Base, Argv: main.Argv, Env: main.Env, Workers: t.Workers, CPUs: cpus, Foreign: f}
}

// remote is a server that runs already: what could only be done to a process of ours
// has no place in it.
func (c *check) remote(at string, t record.ServiceTarget) record.Target {
	if t.URL == "" {
		c.bad(at, `it has neither command nor url; write how to start it, such as "command": ["node", "server.js"], or where it runs already`)
	}
	for _, m := range []struct {
		name  string
		given bool
	}{{"dir", t.Dir != ""}, {"env", t.Env != nil}, {"stop_signal", t.StopSignal != ""}, {"cpus", t.CPUs != nil}, {"processes", t.Processes != nil}, {"workers", t.Workers != 0}} {
		if m.given {
			c.bad(at+"."+m.name, "a server that runs already is not started here; leave it out, or add a command")
		}
	}
	if t.URL != "" {
		c.address(at+".url", t.URL, nil, false)
	}
	c.ready(at+".ready", t.Ready)
	return record.Target{Name: t.Name, Base: t.Base, Argv: []string{}, Env: []string{}, Foreign: &record.Foreign{
		URL: t.URL, Ready: t.Ready, ReadyWithin: c.within(at, t.ReadyWithin), Setup: c.commands(at+".setup", t.Setup), Reset: c.commands(at+".reset", t.Reset)}}
}

// process is one of a target's, with the names of the others.
type process struct {
	at string
	record.ServiceProcess
	names []string
}

func (c *check) process(p process) record.Companion {
	if filepath.IsAbs(p.Dir) || strings.Contains(p.Dir, "\x00") {
		c.bad(p.at+".dir", "%.80q is not relative; write the folder as seen from the plan file", p.Dir)
	}
	c.argv(p.at+".command", p.Command)
	c.ports(p.at+".command", strings.Join(p.Command, " "), p.names)
	env := []string{}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		at := p.at + ".env." + printable(name)
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(p.Env[name], "\x00"):
			c.bad(at, "no process can be given that; name a variable and its text")
		case strings.HasPrefix(name, "GONOGO_"):
			c.bad(at, "names with GONOGO_ are this kit's own; choose another")
		}
		c.ports(at, p.Env[name], p.names)
		env = append(env, name+"="+p.Env[name])
	}
	if p.URL == "" {
		p.URL = defaultURL
	}
	if p.StopSignal == "" {
		p.StopSignal = defaultStop
	}
	if !slices.Contains(record.StopSignals, p.StopSignal) {
		c.bad(p.at+".stop_signal", "%.30q is none of %s", p.StopSignal, strings.Join(record.StopSignals, ", "))
	}
	c.address(p.at+".url", p.URL, p.names, true)
	c.ready(p.at+".ready", p.Ready)
	return record.Companion{Argv: p.Command, Env: env, Dir: p.Dir, URL: p.URL, Ready: p.Ready, ReadyWithin: c.within(p.at, p.ReadyWithin), StopSignal: p.StopSignal}
}

func (c *check) within(at, text string) time.Duration {
	return c.duration(at+".ready_within", text, defaultReady, 100*time.Millisecond, 10*time.Minute)
}

func (c *check) ready(member, path string) {
	if !strings.HasPrefix(path, "/") || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		c.bad(member, "%.50q is no path; write one that answers 200 as soon as the service is ready, such as /health or /", path)
	}
}

var portOf = regexp.MustCompile(`\{port:([^}]*)\}`)

// ports checks that {port:NAME} names another process of the target.
func (c *check) ports(member, text string, names []string) {
	for _, m := range portOf.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			c.bad(member, "{port:%.40s} names none of its processes; write {port} for its own, or one of %v", m[1], names)
		}
	}
}

// address checks a URL. What is started here listens on an address of this machine.
func (c *check) address(member, text string, names []string, here bool) {
	c.ports(member, text, names)
	chosen := strings.Contains(text, "{port")
	u, err := url.Parse(portOf.ReplaceAllString(strings.ReplaceAll(text, "{port}", "1"), "1"))
	switch {
	case err != nil || u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		c.bad(member, "%.80q is no address of a service; write http://HOST:PORT", text)
		return
	case strings.Trim(u.Path, "/") != "":
		c.bad(member, "%.80q holds a path; write http://HOST:PORT here, and whole paths in the file of requests", text)
	case u.Port() == "" && here:
		c.bad(member, "%.80q names no port; write {port} for one that is chosen", text)
	case chosen && !here:
		c.bad(member, "%.80q: a server that runs already has its port; write it", text)
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if here && (err != nil || !ip.IsLoopback()) {
		c.bad(member, "%.80q: a service that is started here has to listen on 127.0.0.1 or [::1]; write that", text)
	}
}
