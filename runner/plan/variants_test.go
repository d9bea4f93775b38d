package plan

import (
	"slices"
	"strings"
	"testing"

	"gonogo/runner/record"
)

func named(t *testing.T, targets []record.Target, name string) record.Target {
	t.Helper()
	i := slices.IndexFunc(targets, func(x record.Target) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return targets[i]
}

func TestVariantsStartWhatTheyName(t *testing.T) {
	all := Targets(twoCPUs)
	for _, c := range []struct {
		name string
		argv string
		env  string
	}{
		{"go-1+typed", "bin/server-go", "GOMAXPROCS=1 VARIANT=typed"},
		{"go-2+sharded-256", "bin/server-go", "GOMAXPROCS=2 VARIANT=sharded-256"},
		{"go-1+json2", "bin/server-go-json2", "GOMAXPROCS=1 VARIANT=json2"},
		{"go-1+gomemlimit", "bin/server-go", "GOMAXPROCS=1 GOGC=off GOMEMLIMIT=64MiB"},
		{"node-1+chunked", "node server-node/variants/chunked.mjs", "VARIANT=chunked"},
		{"node-1+semi-space-64", "node --max-semi-space-size=64 server-node/server.mjs", ""},
		{"node-cluster-2+semi-space-64", "node --max-semi-space-size=64 server-node/cluster.mjs", "WORKERS=2"},
		{"deno-1", "runtimes/deno/deno run --allow-all server-node/server.mjs", ""},
	} {
		x := named(t, all, c.name)
		if argv, env := strings.Join(x.Argv, " "), strings.Join(x.Env, " "); argv != c.argv || env != c.env {
			t.Errorf("%s runs %s with %s, want %s with %s", c.name, argv, env, c.argv, c.env)
		}
		if base, _, _ := strings.Cut(c.name, "+"); x.Variant != "" && x.Base != base {
			t.Errorf("%s is held against %q", c.name, x.Base)
		}
	}
	seen := map[string]bool{}
	for _, x := range all {
		if seen[x.Name] || strings.HasPrefix(x.Name, "node-cluster-2+") && x.Variant != "semi-space-64" || strings.Contains(x.Name, "twin+") {
			t.Errorf("%s should not be, or is twice", x.Name)
		}
		seen[x.Name] = true
	}
	if x := named(t, all, "go-1"); x.Env[0] != "GOMAXPROCS=1" || len(x.Env) != 1 {
		t.Errorf("the plain target has become %v", x)
	}
}

// A variant brings the twin of what it is held against, and no decision is about it.
func TestComparingAVariant(t *testing.T) {
	for _, c := range []struct{ names, want, decides string }{
		{"go-1,go-1+typed", "go-1< go-1-twin<go-1 go-1+typed<go-1", ""},
		{"go-1+typed,node-1", "node-1< node-1-twin<node-1 go-1+typed<node-1", ""},
		{"go-1,node-1,go-1+typed", "go-1<node-1 go-1-twin<go-1 node-1< node-1-twin<node-1 go-1+typed<go-1", "go-1"},
		{"node-1,node22-1", "node-1< node-1-twin<node-1 node22-1<node-1", ""},
		{"go-1,node-1", "go-1<node-1 node-1< node-1-twin<node-1", "go-1"},
		{"go-1+typed", "go-1+typed<", ""},
	} {
		p, err := New(Options{CPUs: twoCPUs, Targets: strings.Split(c.names, ","), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var is, decides []string
		for _, x := range p.Targets {
			is = append(is, x.Name+"<"+x.Base)
			if x.Twin != strings.HasSuffix(x.Name, "-twin") {
				t.Errorf("%s is a twin: %v", x.Name, x.Twin)
			}
		}
		if p.Decision != nil {
			for _, pair := range p.Decision.Pairs {
				decides = append(decides, pair.Target)
			}
		}
		if got := strings.Join(is, " "); got != c.want || strings.Join(decides, " ") != c.decides || !p.Part {
			t.Errorf("%s: %s, decides %v, part %v; want %s, decides %s", c.names, got, decides, p.Part, c.want, c.decides)
		}
	}
	p, err := New(Options{CPUs: twoCPUs, Seed: 1})
	if err != nil || p.Part || len(p.Targets) != 5 {
		t.Errorf("the default has %d targets, part %v, %v", len(p.Targets), p.Part, err)
	}
}
