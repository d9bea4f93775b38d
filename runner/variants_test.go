package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonogo/runner/internal/example"
	"gonogo/runner/plan"
)

// Every command treats a session of variants as what it is.
func TestASessionOfVariants(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	dir := filed(t, out, example.Variants())
	id := filepath.Base(dir)
	if _, err := os.Stat(filepath.Join(out, "benchmark.json")); err == nil {
		t.Error("a session of variants became the project's record")
	}
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"report", id}, exitDone, []string{"What is each variant of these servers worth?", "CAPACITY TIME", "AT ONE RATE", "against go-1, GET", "against node-1, GET", "A/A twins", "GET less, POST less", "GET more, POST more", "asked no question"}},
		{[]string{"report", id, "--format", "md"}, exitDone, []string{"## CAPACITY TIME", "many-effects", "gonogo compare --targets PLAIN,PLAIN+VARIANT"}},
		{[]string{"report", id, "--format", "html"}, exitDone, []string{"<h1>What is each variant", `id="variants"`, "capacity time, µs", `data-metric="variant p99_ns"`}},
		{[]string{"report", id, "--format", "json"}, exitDone, []string{`"variants": [`, `"variant": "typed"`, `"moved": "less"`}},
		{[]string{"verify", id}, exitDone, []string{"every printed number follows from the raw record"}},
		{[]string{"list"}, exitDone, []string{"variants", "go-1+typed"}},
		{[]string{"show", id, "go-1+typed/get-c50/b01"}, exitDone, nil},
		{[]string{"decide", id}, exitInvalid, []string{"it measured variants of the servers"}},
		{[]string{"diff", id, id}, exitDone, nil},
	} {
		r := inProcess(append(c.args, "--out", out)...)
		if r.code != c.code {
			t.Errorf("%v: exit %d, want %d\n%s%s", c.args, r.code, c.code, r.out, r.err)
		}
		for _, text := range c.want {
			if !strings.Contains(r.out+r.err, text) {
				t.Errorf("%v: no %q in\n%.3000s%s", c.args, text, r.out, r.err)
			}
		}
	}
}

func TestVariantsUsage(t *testing.T) {
	t.Parallel()
	inProcess("variants", "--dry-run", "typd").refused(t, exitUsage, `"typd"`)
	inProcess("variants", "--dry-run", "node-1").refused(t, exitUsage, `"node-1"`)
	r := inProcess("variants", "--list")
	for _, v := range plan.Variants {
		if !strings.Contains(r.out, v.Of+"-1+"+v.Name+" ") || !strings.Contains(r.out, v.About) {
			t.Errorf("--list lacks %s", v.Name)
		}
	}
	if !strings.Contains(r.out, "deno-1 ") || r.code != exitDone {
		t.Errorf("exit %d\n%s", r.code, r.out)
	}
}

// What is not there is left out with a word, and asked for by name it is refused with
// the make target that brings it.
func TestAbsentVariants(t *testing.T) {
	t.Parallel()
	k := kit{root: t.TempDir()}
	names, why := absent(k, plan.Targets(plan.CPUSets{K: 2}))
	if text := strings.Join(names, " "); text != "go-1+json2 node-1+fastify node-1+express go-2+json2" && text != "go-1+json2 go-2+json2 node-1+fastify node-1+express" {
		t.Errorf("absent: %s", text)
	}
	if len(why) != 3 || !strings.Contains(why[0], "go-1+json2 needs bin/server-go-json2") || !strings.Contains(why[0], "make variant-servers") {
		t.Errorf("%q", why)
	}
	for _, c := range []struct{ target, file, from string }{
		{"go-1+json2", "bin/server-go-json2", "make variant-servers"},
		{"bun-1", "runtimes/bun/bun", "make runtimes"},
	} {
		p, err := plan.New(plan.Options{Targets: []string{c.target}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = checkCommands(t.Context(), k, p)
		f, ok := err.(*failure)
		if !ok || f.code != exitPreflight || !strings.Contains(f.Error(), c.file) || !strings.Contains(f.hint, c.from) {
			t.Errorf("%s: %v", c.target, err)
		}
	}
}
