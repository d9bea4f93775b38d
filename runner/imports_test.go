package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is the direction of imports: what each package of the runner may
// import of the others. What is not listed may import record alone.
var mayImport = map[string][]string{
	"":            {"archive", "calibration", "capacity", "cgroup", "contract", "decision", "diff", "export", "findings", "foreign", "formats", "host", "internal/null", "internal/soak", "load", "lock", "page", "plan", "profile", "postgres", "record", "recount", "report", "service", "session", "stats", "sut"},
	"archive":     {"disk", "record"},
	"sut":         {"disk", "record"},
	"service":     {"load", "plan", "record"},
	"session":     {"capacity", "cgroup", "floor", "plan", "profile", "sut", "contract", "load", "memory", "host", "record"},
	"calibration": {"findings", "plan", "stats", "record"},
	"recount":     {"findings", "record"},
	"decision":    {"findings", "stats", "record"},
	"diff":        {"findings", "stats", "record"},
	"floor":       {"capacity", "record"},
	"capacity":    {"histogram", "stats", "record"},
	"findings":    {"capacity", "floor", "stats", "histogram", "record"},
	"report":      {"capacity", "findings", "floor", "stats", "histogram", "record"},
	"page":        {"capacity", "floor", "report", "findings", "stats", "histogram", "record"},
	"formats":     {"findings", "stats", "histogram", "record"},
	"load":        {"histogram", "record"},
	"histogram":   {"record"},
	"record":      {},
}

// onlyIn is where each module from outside may be imported.
var onlyIn = map[string][]string{
	"github.com/julienschmidt/httprouter":     {"server-go"},
	"github.com/shirou/gopsutil/v3":           {"memory", "host"},
	"github.com/prometheus/procfs":            {"memory", "host", "sut"},
	"github.com/montanaflynn/stats":           {"stats"},
	"github.com/olekukonko/tablewriter":       {"report"},
	"github.com/HdrHistogram/hdrhistogram-go": {"histogram"},
	"github.com/alecthomas/kong":              {""},
	"github.com/jackc/pgx/v5":                 {"server-go"}, // in a build with the tag postgres alone
	"github.com/google/pprof":                 {"profile"},
	"golang.org/x/sys":                        {"postgres", "sut", "load", "host", "memory", "cgroup"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

// TestImports enforces both tables on the code as it is, tests left out.
func TestImports(t *testing.T) {
	for _, p := range list(t) {
		name, ok := short(p.ImportPath)
		if !ok {
			continue
		}
		allowed, known := mayImport[name]
		if !known {
			allowed = []string{"record"}
		}
		for _, path := range p.Imports {
			if dep, ours := short(path); ours {
				if !slices.Contains(allowed, dep) && !strings.HasPrefix(name, "internal/") {
					t.Errorf("%s imports %s: it may import %v", p.ImportPath, path, allowed)
				}
			} else if strings.Contains(path, ".") && !onlyHere(path, name) {
				t.Errorf("%s imports %s: each module is imported in the packages of its table alone", p.ImportPath, path)
			}
		}
	}
}

func onlyHere(path, name string) bool {
	for module, where := range onlyIn {
		if path == module || strings.HasPrefix(path, module+"/") {
			return slices.Contains(where, name)
		}
	}
	return false
}

// short names a package of ours: "" for main, "stats", "server-go".
func short(path string) (string, bool) {
	if path == "gonogo/runner" {
		return "", true
	}
	if p, ok := strings.CutPrefix(path, "gonogo/runner/"); ok {
		return p, true
	}
	return strings.CutPrefix(path, "gonogo/")
}

func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "gonogo/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
}
