// Package service reads the plan file of a user's own services. What it accepts can
// be run; what it refuses it names by file, member, why, and what to do.
package service

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gonogo/runner/load"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// maxFile bounds a plan file, which people write.
const maxFile = 1 << 20

// Defaults of what a plan file may leave out.
const (
	defaultConnections = 50
	defaultReady       = 20 * time.Second
	defaultURL         = "http://127.0.0.1:{port}"
	defaultStop        = "SIGTERM"
)

// Read reads a plan file and the request file that it names. It gives all that a plan
// is made of but for the command line's part.
func Read(path string) (o plan.ServiceOptions, err error) {
	data, err := readSome(path)
	if err != nil {
		return o, fmt.Errorf("read plan: %w", err)
	}
	var p record.ServicePlan
	if err := strictly(data, &p); err != nil {
		return o, fmt.Errorf("read plan %s: %w", path, err)
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return o, fmt.Errorf("read plan %s: %w", path, err)
	}
	if o, err = convert(p, folder); err != nil {
		return o, fmt.Errorf("read plan %s: %w", path, err)
	}
	return o, nil
}

func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB: that is no plan", path, maxFile>>20)
	}
	return data, err
}

// convert checks all of a plan and gives all that is wrong with it at once.
func convert(p record.ServicePlan, folder string) (o plan.ServiceOptions, err error) {
	c := &check{folder: folder}
	o.Service = record.Service{Folder: folder, Ignore: p.Ignore, IDs: p.IDs, Inputs: p.Decision}
	o.Service.Requests = c.requests(p.Requests)
	if p.IDs < 0 || p.IDs > 1e9 {
		c.bad("ids", "%d is no number of ids; write 1 to 1000000000", p.IDs)
	}
	o.Connections = p.Connections
	if len(o.Connections) == 0 {
		o.Connections = []int{defaultConnections}
	}
	if n := o.Connections; len(n) > 2 || n[0] < 1 || n[len(n)-1] > 10000 || len(n) == 2 && n[0] >= n[1] {
		c.bad("connections", "%v cannot be run; write one or two numbers from 1 to 10000, the smaller first", n)
	}
	if o.RatePerSec = p.RatePerSec; p.RatePerSec < 0 || p.RatePerSec > 1e7 {
		c.bad("rate_per_sec", "%g is no rate; write requests per second, or leave it out for half of the capacity", p.RatePerSec)
	}
	o.Warmup = c.duration("warmup", p.Warmup, 0, 10*time.Millisecond, 10*time.Minute)
	if p.SLO != "" {
		quantile, limit, err := plan.ParseSLO(p.SLO)
		if err != nil {
			c.bad("slo", "%q is no limit; write a percentile and a time, such as p99<20ms", p.SLO)
		}
		known := []float64{0.5, 0.9, 0.95, 0.99, 0.999}
		i := slices.IndexFunc(known, func(q float64) bool { return math.Abs(q-quantile) < 1e-9 }) // 99.9 / 100 is not 0.999
		if i < 0 && err == nil {
			c.bad("slo", "%q: no report has that percentile; write p50, p90, p95, p99 or p99.9", p.SLO)
		} else if err == nil {
			quantile = known[i]
		}
		o.Service.SLO = &record.SLO{Quantile: quantile, Limit: limit}
	}
	o.Targets = c.targets(p.Targets)
	return o, errors.Join(c.errs...)
}

// check gathers what is wrong.
type check struct {
	folder string
	errs   []error
}

func (c *check) bad(member, format string, a ...any) {
	c.errs = append(c.errs, named(member, format, a...))
}

// requests reads the file of requests.
func (c *check) requests(name string) []record.Request {
	if name == "" {
		c.bad("requests", "it is not there; name the file of requests, such as requests.jsonl")
		return nil
	}
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(c.folder, name)
	}
	f, err := os.Open(path)
	if err != nil {
		c.bad("requests", "%w; write that file, a request a line such as {\"path\":\"/items/{id}\",\"status\":200}", err)
		return nil
	}
	defer f.Close()
	list, err := load.ReadRequests(f)
	if err != nil {
		c.bad("requests", "%s: %w; each line is an object with method, path, headers, body, status, want, weight, ignore", name, err)
	}
	return list
}

// duration reads a time, or gives what stands for none.
func (c *check) duration(member, text string, absent, least, most time.Duration) time.Duration {
	if text == "" {
		return absent
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		c.bad(member, "%q is no time from %v to %v; write one such as 2s or 500ms", text, least, most)
	}
	return d
}

func (c *check) targets(list []record.ServiceTarget) (targets []record.Target) {
	if len(list) == 0 || len(list) > 8 {
		c.bad("targets", "there are %d; describe one to eight services, a pair with base", len(list))
	}
	var names []string
	for _, t := range list {
		names = append(names, t.Name)
	}
	for i, t := range list {
		at := fmt.Sprintf("targets[%d]", i)
		c.name(at+".name", t.Name, names[:i])
		if t.Base != "" {
			j := slices.Index(names, t.Base)
			switch {
			case j < 0:
				c.bad(at+".base", "there is no target %q; write the name of the one to compare with", t.Base)
			case j == i:
				c.bad(at+".base", "it is the target itself; write the name of the other one")
			case list[j].Base != "":
				c.bad(at+".base", "%s has a base of its own; compare both with the same one", t.Base)
			}
		}
		target := c.target(at, t)
		if t.Version != nil {
			c.argv(at+".version", t.Version)
			target.Foreign.Version = t.Version
		}
		targets = append(targets, target)
	}
	return targets
}
