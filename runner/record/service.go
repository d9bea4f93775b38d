package record

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Service is what a session of services that were not written for this kit has
// besides: the agreement between them is a list of requests.
type Service struct {
	Folder   string          `json:"folder"`             // of the plan file; the targets' folders are relative to it
	Requests []Request       `json:"requests"`           // sent to each target before the first run, and compared
	Ignore   []string        `json:"ignore,omitempty"`   // members of answers in which the targets may differ
	IDs      int             `json:"ids"`                // {id} is drawn from 1 to this
	SLO      *SLO            `json:"slo,omitempty"`      // that the open loop is held against
	Inputs   *DecisionInputs `json:"decision,omitempty"` // what decide takes unless it is told otherwise
}

// SLO is a quantile of the response time and its limit.
type SLO struct {
	Quantile float64       `json:"quantile"` // 0..1
	Limit    time.Duration `json:"limit_ns"`
}

// Foreign is what a target that was not written for this kit is started and found
// by. It has no ready line, no token and no account of itself: what ours say on
// /healthz is unknown of it.
type Foreign struct {
	URL   string `json:"url"`   // http://HOST:PORT, {port} for one that is chosen
	Ready string `json:"ready"` // path that answers 200 when it is ready
	// ReadyWithin is how long it may take to be so, StopSignal what it is asked to end with.
	ReadyWithin time.Duration `json:"ready_within_ns"`
	StopSignal  string        `json:"stop_signal,omitempty"`
	Dir         string        `json:"dir,omitempty"` // working folder, relative to Service.Folder
	// Before are processes of the same target, started in this order before its own and
	// stopped in reverse after it.
	Before []Companion `json:"before,omitempty"`
	Setup  [][]string  `json:"setup,omitempty"` // commands, once before the targets are compared
	Reset  [][]string  `json:"reset,omitempty"` // commands before each fresh process
	// Version is a command of the user's, and Runtime the first line that it printed: the
	// runtime and its version.
	Version []string `json:"version,omitempty"`
	Runtime string   `json:"runtime,omitempty"`
}

// Companion is a further process of a target, such as the backend of a gateway.
type Companion struct {
	Name        string        `json:"name"`
	Argv        []string      `json:"argv"`
	Env         []string      `json:"env"`
	Dir         string        `json:"dir,omitempty"`
	URL         string        `json:"url"`
	Ready       string        `json:"ready"`
	ReadyWithin time.Duration `json:"ready_within_ns"`
	StopSignal  string        `json:"stop_signal,omitempty"`
}

// Remote reports whether the target is a server that runs already: nobody here
// starts it, stops it, or can see its CPU time and memory.
func (t Target) Remote() bool { return t.Foreign != nil && len(t.Argv) == 0 }

// onThisMachine reports whether a remote target has a loopback address.
func (t Target) onThisMachine() bool {
	u, err := url.Parse(t.Foreign.URL)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// Remote lists the targets that run already.
func (p *Plan) Remote() (names []string) {
	for _, t := range p.Targets {
		if t.Remote() {
			names = append(names, t.Name)
		}
	}
	return names
}

// Question is what a session of the plan is about.
func (p *Plan) Question() string {
	if p.Service == nil {
		return "Should this Node.js service be rewritten in Go?"
	}
	var pairs []string
	for _, t := range p.Targets {
		if t.Base != "" && !t.Twin {
			pairs = append(pairs, t.Base+" by "+t.Name)
		}
	}
	if len(pairs) == 0 {
		return "How do these services behave under load?"
	}
	return "Should one service take the place of another: " + strings.Join(pairs, ", ") + "?"
}

// ServicePlan is the file that gonogo compare --plan reads.
type ServicePlan struct {
	Schema  string          `json:"$schema,omitempty"` // for editors
	Targets []ServiceTarget `json:"targets"`
	// Requests is the file of requests, a JSON object a line: method, path, headers,
	// body, status, want, weight, ignore.
	Requests    string   `json:"requests"`
	Ignore      []string `json:"ignore,omitempty"`      // members of answers in which targets may differ, such as createdAt
	IDs         int      `json:"ids,omitempty"`         // {id} in a request is drawn from 1 to this; 10000 if absent
	Connections []int    `json:"connections,omitempty"` // one or two numbers of connections; 50 if absent
	// RatePerSec is the rate of the open loop over all connections; absent: half of the
	// smaller capacity.
	RatePerSec float64         `json:"rate_per_sec,omitempty"`
	Warmup     string          `json:"warmup,omitempty"`   // such as 1s, before each window
	SLO        string          `json:"slo,omitempty"`      // such as p99<20ms
	Decision   *DecisionInputs `json:"decision,omitempty"` // inputs of gonogo decide
}

// ServiceTarget is one of the services. With a command it is started afresh for
// each run; without one it runs already, and its url says where.
type ServiceTarget struct {
	Name    string            `json:"name"`
	Base    string            `json:"base,omitempty"`    // the target that it is compared with
	Command []string          `json:"command,omitempty"` // an argument list, never a shell line; {port} becomes the port
	Dir     string            `json:"dir,omitempty"`     // working folder, relative to this file
	Env     map[string]string `json:"env,omitempty"`     // {port} becomes the port, {port:NAME} that of another of its processes
	URL     string            `json:"url,omitempty"`     // http://127.0.0.1:{port} if absent
	Ready   string            `json:"ready"`             // path that answers 200 when it is ready
	// ReadyWithin is how long it may take to be so: 20s if absent.
	ReadyWithin string           `json:"ready_within,omitempty"`
	StopSignal  string           `json:"stop_signal,omitempty"` // SIGTERM if absent
	CPUs        []int            `json:"cpus,omitempty"`        // of all its processes; chosen if absent
	Workers     int              `json:"workers,omitempty"`     // how many CPUs it is meant to use: 1 if absent
	Processes   []ServiceProcess `json:"processes,omitempty"`   // started before it, in this order
	Setup       [][]string       `json:"setup,omitempty"`       // argument lists, run once before the targets are compared
	Reset       [][]string       `json:"reset,omitempty"`       // argument lists, run before each fresh process
	Version     []string         `json:"version,omitempty"`     // prints its runtime and version, such as node --version
}

// ServiceProcess is a further process of a target, such as the backend of a gateway.
type ServiceProcess struct {
	Name        string            `json:"name"`
	Command     []string          `json:"command"`
	Dir         string            `json:"dir,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	URL         string            `json:"url,omitempty"`
	Ready       string            `json:"ready"`
	ReadyWithin string            `json:"ready_within,omitempty"`
	StopSignal  string            `json:"stop_signal,omitempty"`
}

// Fill puts ports in the place of {port}, which is this process's own, and of
// {port:NAME}.
func Fill(text string, own int, ports map[string]int) string {
	text = strings.ReplaceAll(text, "{port}", strconv.Itoa(own))
	for name, port := range ports {
		text = strings.ReplaceAll(text, "{port:"+name+"}", strconv.Itoa(port))
	}
	return text
}

// StopSignals are the signals that a service may be asked to end with.
var StopSignals = []string{"SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2"}
