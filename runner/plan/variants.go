package plan

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// Variant is a server of ours with one thing exchanged.
type Variant struct {
	Name  string // what follows the + in the name of a target
	Of    string // go or node: the servers that there is one of
	About string // what is exchanged, in a few words

	env     []string
	program string   // in place of bin/server-go
	script  string   // in place of server-node/server.mjs
	flags   []string // of node
	needs   string   // a file beyond those of the default run
	known   []string // cases of the contract that it answers in its own way
	chunked bool
}

// Variants are all of them, in the order in which they are printed.
var Variants = []Variant{
	// encoding/json takes a name in any case, and the last spelling wins.
	{Name: "typed", Of: "go", About: "a body is decoded into a struct", env: inside("typed"),
		known: []string{"C01a key case", "C01b key case of one", "C02b other spelling is another member"}},
	{Name: "json2", Of: "go", About: "encoding/json/v2, of a build with GOEXPERIMENT=jsonv2", env: inside("json2"), program: "bin/server-go-json2", needs: "bin/server-go-json2"},
	{Name: "pooled", Of: "go", About: "answers are encoded into pooled buffers", env: inside("pooled")},
	{Name: "servemux", Of: "go", About: "net/http's own router", env: inside("servemux")},
	{Name: "admission", Of: "go", About: "at most 256 requests under way, others get 503 at once", env: inside("admission")},
	{Name: "mutex", Of: "go", About: "a store with a lock that readers do not share", env: inside("mutex")},
	{Name: "rwmutex", Of: "go", About: "the plain store, reached as the other stores are: what that costs", env: inside("rwmutex")},
	{Name: "sharded-256", Of: "go", About: "a store of 256 maps with a lock each, by FNV-1a", env: inside("sharded-256")},
	{Name: "syncmap", Of: "go", About: "a store in a sync.Map", env: inside("syncmap")},
	{Name: "gogc-50", Of: "go", About: "GOGC=50: the heap may grow by half", env: []string{"GOGC=50"}},
	{Name: "gogc-100", Of: "go", About: "GOGC=100, which is the default: a second A/A twin", env: []string{"GOGC=100"}},
	{Name: "gogc-300", Of: "go", About: "GOGC=300: the heap may grow by three times", env: []string{"GOGC=300"}},
	{Name: "gomemlimit", Of: "go", About: "GOGC=off with GOMEMLIMIT=64MiB: no collection before 64 MiB", env: []string{"GOGC=off", "GOMEMLIMIT=64MiB"}},
	{Name: "chunked", Of: "node", About: "writeHead without a length: users are sent in chunks", env: inside("chunked"), script: ofNode("chunked"), chunked: true,
		known: []string{"C22h HTTP/1.0"}},
	// It knows no empty type, and reads a body before it knows the method.
	{Name: "fastify", Of: "node", About: "the API on Fastify", env: inside("fastify"), script: ofNode("fastify"), needs: "server-node/variants/node_modules/fastify/package.json",
		known: []string{`C15 "Content-Type:"`, "C13k over the cap elsewhere"}},
	{Name: "express", Of: "node", About: "the API on Express", env: inside("express"), script: ofNode("express"), needs: "server-node/variants/node_modules/express/package.json"},
	{Name: "semi-space-64", Of: "node", About: "--max-semi-space-size=64, in MiB: a larger nursery", flags: []string{"--max-semi-space-size=64"}},
}

// inside tells a server what variant it is to be, and what it has to call itself.
func inside(name string) []string { return []string{"VARIANT=" + name} }

func ofNode(name string) string { return "server-node/variants/" + name + ".mjs" }

// joint is between the name of a target and that of its variant.
const joint = "+"

// of is the variant of a plain target; false where there is none. What is a script of
// its own is one process.
func (v Variant) of(t record.Target) (record.Target, bool) {
	if runtimeOf(t) != v.Of || v.script != "" && t.Workers > 1 {
		return t, false
	}
	t.Base = t.Name
	t.Name += joint + v.Name
	t.Variant, t.Known, t.Chunked = v.Name, v.known, v.chunked
	t.Env = slices.Concat(t.Env, v.env)
	if v.Of == "go" {
		t.Argv = []string{cmp.Or(v.program, t.Argv[0])}
		return t, true
	}
	script := len(t.Argv) - 1
	t.Argv = slices.Concat(t.Argv[:1], v.flags, t.Argv[1:script], []string{cmp.Or(v.script, t.Argv[script])})
	return t, true
}

// runtimeOf is go, node, bun or deno by the program of a target, or "".
func runtimeOf(t record.Target) string {
	switch name := path.Base(t.Argv[0]); {
	case strings.HasPrefix(name, "server-go"):
		return "go"
	case slices.Contains([]string{"node", "bun", "deno"}, name):
		return name
	}
	return ""
}

// Runtimes run server-node, unchanged, on other runtimes than the node on PATH. Their
// programs come from npm, by make runtimes.
func Runtimes(c CPUSets) []record.Target {
	var all []record.Target
	for _, r := range []struct {
		name  string
		argv  []string
		known []string // seen of Bun 1.4.5 and Deno 2.9.6
	}{
		{"node22-1", []string{"runtimes/node22/node"}, nil},
		{"node24-1", []string{"runtimes/node24/node"}, nil},
		// Bun's parser refuses the target *; Deno ends a connection that is cut within
		// a request without a word.
		{"bun-1", []string{"runtimes/bun/bun"}, []string{"C16 nobody 18 *"}},
		{"deno-1", []string{"runtimes/deno/deno", "run", "--allow-all"}, []string{"C14e half-closed in the body", "C14f half-closed in a chunk"}},
	} {
		all = append(all, record.Target{Name: r.name, Base: "node-1", Argv: append(r.argv, "server-node/server.mjs"), Workers: 1, Known: r.known,
			CPUs: c.One, GeneratorCPUs: c.OneGenerator})
	}
	return all
}

// Targets are all that can be named: the default ones, other runtimes, and the
// variants of the default ones.
func Targets(c CPUSets) []record.Target {
	all := append(DefaultTargets(c), Runtimes(c)...)
	for _, t := range DefaultTargets(c) {
		for _, v := range Variants {
			if x, ok := v.of(t); ok && !t.Twin {
				all = append(all, x)
			}
		}
	}
	return all
}

// Needs is a file that a target needs beyond those of the default run, and the make
// target that brings it; "" for none.
func Needs(t record.Target) (file, from string) {
	if strings.HasPrefix(t.Argv[0], "runtimes/") {
		return t.Argv[0], "make runtimes"
	}
	if t.Argv[0] == profiledGo {
		return profiledGo, "make profile"
	}
	for _, v := range Variants {
		if v.Name == t.Variant && v.needs != "" {
			return v.needs, "make variant-servers"
		}
	}
	return "", ""
}

// alternative tells a target that is one of the default targets done otherwise: it is
// held against that one, and no decision is about it.
func alternative(t record.Target) bool {
	return t.Foreign == nil && (t.Variant != "" || strings.HasPrefix(t.Argv[0], "runtimes/"))
}

// withTwins gives each target that an alternative is held against a twin, where it has
// none: an effect without the noise beside it carries no verdict.
func withTwins(targets []record.Target) []record.Target {
	has := map[string]bool{}
	for _, t := range targets {
		has[t.Base] = has[t.Base] || t.Twin
	}
	var all []record.Target
	for _, t := range targets {
		all = append(all, t)
		wants := slices.ContainsFunc(targets, func(o record.Target) bool { return alternative(o) && o.Base == t.Name })
		if wants && !has[t.Name] {
			all = append(all, twinOf(t))
		}
	}
	return all
}

// twinOf is a target under a second label.
func twinOf(t record.Target) record.Target {
	t.Name, t.Base, t.Twin = t.Name+"-twin", t.Name, true
	return t
}

// partOf reports whether some of the default targets were left out.
func partOf(c CPUSets, targets []record.Target) bool {
	return slices.ContainsFunc(DefaultTargets(c), func(d record.Target) bool {
		return !d.Twin && !slices.ContainsFunc(targets, func(t record.Target) bool { return t.Name == d.Name })
	})
}
