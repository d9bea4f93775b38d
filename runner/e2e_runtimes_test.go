package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runtimesKit is a kit with runtimes that are the node on PATH under other names: the
// real ones come from npm. Node 22 here ends every answer with a blank.
func runtimesKit(t *testing.T) string {
	t.Helper()
	kit := alteredKit(t, "store.mjs", "10_000", "10_000")
	for name, script := range map[string]string{
		"runtimes/bun/bun":          "exec node \"$@\"\n",
		"runtimes/deno/deno":        "shift 2\nexec node \"$@\"\n", // run --allow-all
		"runtimes/node22/node":      "exec node --require ./runtimes/node22/blank.cjs \"$@\"\n",
		"runtimes/node22/blank.cjs": "",
	} {
		path := filepath.Join(kit, name)
		text := "#!/bin/sh\n" + script
		if script == "" {
			text = "const was = JSON.stringify;\nJSON.stringify = (v) => was(v) + ' ';\n"
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return kit
}

// A runtime is a target like any other: proved, refused where it differs, and where it
// is not there the command that brings it is named.
func TestRuntimes(t *testing.T) {
	needNode(t)
	t.Parallel()
	u := newUser(t, runtimesKit(t))
	r := u.run("check", "--targets", "node-1,bun-1,deno-1")
	// Known differences are of the real ones: of Node under their names there are none
	// to be seen, and none is demanded.
	if r.code != exitDone || r.err != "" {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for _, text := range []string{" cases, 0 differences", "bun-1 is known to answer in its own way: C16 nobody 18 *"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("no %q in\n%s", text, r.out)
		}
	}
	u.run("check", "--targets", "node24-1").refused(t, exitPreflight, "find runtimes/node24/node of target node24-1", "make runtimes, or leave node24-1 out")
	u.run("compare", "--quick", "--targets", "node-1,node22-1").refused(t, exitWrong, "they break the contract", "gonogo check --targets node22-1 repeats this")
}

// A variant is started as one, says so, and is proved with what is known of it.
func TestVariantsAreStarted(t *testing.T) {
	needNode(t)
	t.Parallel()
	u := newUser(t, theKit(t))
	r := u.run("check", "--targets", "node-1,go-1+typed,go-1+gomemlimit,node-1+chunked")
	if r.code != exitDone || r.err != "" {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for _, text := range []string{" cases, 0 differences", "go-1+typed is known to answer in its own way: C01a key case", "node-1+chunked is known to send users in chunks"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("no %q in\n%s", text, r.out)
		}
	}
	// A server that is not the variant that was asked for is not measured as one.
	other := alteredKit(t, "variants/chunked.mjs", "variant = 'chunked'", "variant = 'other'")
	newUser(t, other).run("check", "--targets", "node-1+chunked").refused(t, exitPreflight, `VARIANT is "other", want "chunked"`)
}
