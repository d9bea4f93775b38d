package service

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gonogo/runner/plan"
	"gonogo/runner/record"
)

// files writes files into a folder and returns the plan's path.
func files(t *testing.T, plan, requests string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"plan.json": plan, "r.jsonl": requests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "plan.json")
}

const request = `{"path":"/items/{id}","status":200,"ignore":["ts"]}`

// whole has every member there is.
const whole = `{
 "$schema": "service.json",
 "targets": [
  {"name": "new", "base": "old", "command": ["./new", "--port={port}"], "dir": "a/b", "env": {"B": "2", "A": "{port:db}"},
   "url": "http://[::1]:{port}", "ready": "/ready?x=1", "ready_within": "3s", "stop_signal": "SIGINT", "cpus": [2, 0], "workers": 2,
   "processes": [{"name": "db", "command": ["./db"], "dir": "d", "env": {"P": "{port}"}, "url": "http://127.0.0.1:5000", "ready": "/", "ready_within": "1m", "stop_signal": "SIGQUIT"}],
   "setup": [["make"]], "reset": [["rm", "-f", "x"], ["true"]], "version": ["go", "version"]},
  {"name": "old", "url": "http://old.example", "ready": "/"}
 ],
 "requests": "r.jsonl", "ignore": ["createdAt"], "ids": 5, "connections": [10, 20], "rate_per_sec": 1e3, "warmup": "2s", "slo": "p99.9<20ms",
 "decision": {"replicas": 3, "parts": [{"name": "p"}]}
}`

func TestRead(t *testing.T) {
	path := files(t, whole, request)
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	three := 3
	want := plan.ServiceOptions{
		Service: record.Service{Folder: filepath.Dir(path), Requests: []record.Request{{Method: "GET", Path: "/items/{id}", WantStatus: 200, Ignore: []string{"ts"}}},
			Ignore: []string{"createdAt"}, IDs: 5, SLO: &record.SLO{Quantile: 0.999, Limit: 20 * time.Millisecond},
			Inputs: &record.DecisionInputs{Replicas: &three, Parts: []record.DecisionPart{{Name: "p"}}}},
		Targets: []record.Target{
			{Name: "new", Base: "old", Argv: []string{"./new", "--port={port}"}, Env: []string{"A={port:db}", "B=2"}, Workers: 2, CPUs: []int{0, 2}, Foreign: &record.Foreign{
				URL: "http://[::1]:{port}", Ready: "/ready?x=1", ReadyWithin: 3 * time.Second, StopSignal: "SIGINT", Dir: "a/b",
				Before: []record.Companion{{Name: "db", Argv: []string{"./db"}, Env: []string{"P={port}"}, Dir: "d", URL: "http://127.0.0.1:5000", Ready: "/", ReadyWithin: time.Minute, StopSignal: "SIGQUIT"}},
				Setup:  [][]string{{"make"}}, Reset: [][]string{{"rm", "-f", "x"}, {"true"}}, Version: []string{"go", "version"}}},
			{Name: "old", Argv: []string{}, Env: []string{}, Foreign: &record.Foreign{URL: "http://old.example", Ready: "/", ReadyWithin: 20 * time.Second}},
		},
		Connections: []int{10, 20}, RatePerSec: 1000, Warmup: 2 * time.Second,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
}

// TestReadDefaults: the least that a plan has to say.
func TestReadDefaults(t *testing.T) {
	got, err := Read(files(t, `{"targets":[{"name":"a","command":["x"],"ready":"/"}],"requests":"r.jsonl"}`, request))
	if err != nil {
		t.Fatal(err)
	}
	want := record.Foreign{URL: "http://127.0.0.1:{port}", Ready: "/", ReadyWithin: 20 * time.Second, StopSignal: "SIGTERM"}
	if f := got.Targets[0].Foreign; !reflect.DeepEqual(*f, want) || !reflect.DeepEqual(got.Connections, []int{50}) {
		t.Errorf("read %+v and %v", f, got.Connections)
	}
}

// TestReadRefuses: one change of the whole plan each, and what is said of it: the line
// or member, why, and what to do.
func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"a slip":                     {`"command": ["./new"`, `"comand": ["./new"`, "line 4: targets[0].comand: there is no such member; did you mean command?"},
		"no member at all":           {`"ids"`, `"kubernetes"`, "kubernetes: there is no such member; there are $schema, targets, requests, ignore, ids,"},
		"capitals":                   {`"ids"`, `"IDs"`, "IDs: there is no such member; did you mean ids?"},
		"of a process":               {`"name": "db"`, `"nam": "db"`, "targets[0].processes[0].nam: there is no such member; did you mean name?"},
		"of the decision":            {`"replicas"`, `"replica"`, "decision.replica: there is no such member; did you mean replicas?"},
		"twice":                      {`"ids": 5`, `"ids": 5, "ids": 6`, "ids: it is there twice"},
		"a variable twice":           {`"B": "2"`, `"A": "2"`, "targets[0].env.A: it is there twice"},
		"a shell line":               {`["./new", "--port={port}"]`, `"./new --port={port}"`, "targets[0].command: it is a text; write a list"},
		"a shell line in a list":     {`["./new", "--port={port}"]`, `["./new --port={port}"]`, `targets[0].command: "./new --port={port}" is a line for a shell, and there is none`},
		"a number for a text":        {`"B": "2"`, `"B": 2`, "targets[0].env.B: it is the number 2; write a text"},
		"half an id":                 {`"ids": 5`, `"ids": 5.5`, "ids: it is the number 5.5; write a whole number"},
		"null":                       {`"ids": 5`, `"ids": null`, "ids: it is null; write a whole number"},
		"a list of texts":            {`[["make"]]`, `["make"]`, "targets[0].setup[0]: it is a text; write a list"},
		"trailing":                   {"3, \"parts\": [{\"name\": \"p\"}]}\n}", "3}\n} {}", "line 12: something follows the end of the plan"},
		"cut short":                  {"3, \"parts\": [{\"name\": \"p\"}]}\n}", "3", "the file ends in the middle"},
		"no JSON":                    {`"ids": 5`, `ids: 5`, "line 10: the plan: this is no JSON"},
		"a name for a path":          {`"name": "new"`, `"name": "../new"`, `targets[0].name: "../new" cannot be a name`},
		"one name for both":          {`"name": "old"`, `"name": "new"`, "targets[1].name: new is there twice"},
		"the twin's name":            {`"name": "old"`, `"name": "old-twin"`, "targets[1].name: old-twin is how"},
		"no such base":               {`"base": "old"`, `"base": "older"`, `targets[0].base: there is no target "older"`},
		"its own base":               {`"base": "old"`, `"base": "new"`, "targets[0].base: it is the target itself"},
		"a chain":                    {`"name": "old", `, `"name": "old", "base": "new", `, "targets[0].base: old has a base of its own"},
		"no start":                   {`"url": "http://old.example", `, ``, "targets[1]: it has neither command nor url"},
		"CPUs of a remote one":       {`"url": "http://old.example", `, `"url": "http://old.example", "cpus": [1], `, "targets[1].cpus: a server that runs already"},
		"https":                      {`http://old.example`, `https://old.example`, "targets[1].url: \"https://old.example\" is no address"},
		"a path in the URL":          {`http://old.example`, `http://old.example/api`, "holds a path; write http://HOST:PORT here, and whole paths in the file of requests"},
		"a chosen port elsewhere":    {`http://old.example`, `http://old.example:{port}`, "a server that runs already has its port"},
		"no port here":               {`http://[::1]:{port}`, `http://[::1]`, "targets[0].url: \"http://[::1]\" names no port"},
		"a name for this machine":    {`http://[::1]:{port}`, `http://localhost:{port}`, "has to listen on 127.0.0.1 or [::1]"},
		"not this machine":           {`http://[::1]:{port}`, `http://10.0.0.1:{port}`, "has to listen on 127.0.0.1 or [::1]"},
		"no ready path":              {`"ready": "/ready?x=1", `, ``, `targets[0].ready: "" is no path`},
		"another process's port":     {`{port:db}`, `{port:dbs}`, "targets[0].env.A: {port:dbs} names none of its processes; write {port} for its own, or one of [db]"},
		"a port for a setup":         {`[["make"]]`, `[["make", "{port}"]]`, "targets[0].setup[0]: no port is chosen when it runs"},
		"an empty command":           {`[["make"]]`, `[[]]`, "targets[0].setup[0]: it is empty"},
		"a signal nobody takes":      {`SIGINT`, `SIGKILL`, `targets[0].stop_signal: "SIGKILL" is none of SIGTERM,`},
		"no time":                    {`"3s"`, `"3"`, `targets[0].ready_within: "3" is no time`},
		"a CPU twice":                {`[2, 0]`, `[2, 2]`, "targets[0].cpus: [2 2] is no set"},
		"a folder of this machine":   {`"dir": "a/b"`, `"dir": "/a"`, "targets[0].dir: \"/a\" is not relative"},
		"a variable of ours":         {`"B": "2"`, `"GONOGO_TOKEN": "2"`, "targets[0].env.GONOGO_TOKEN: names with GONOGO_"},
		"no requests":                {`"r.jsonl"`, `"none.jsonl"`, "requests: open "},
		"connections that fall":      {`[10, 20]`, `[20, 10]`, "connections: [20 10] cannot be run"},
		"an SLO of nobody's":         {`p99.9<20ms`, `p98<20ms`, `slo: "p98<20ms": no report has that percentile`},
		"no SLO":                     {`p99.9<20ms`, `20ms`, `slo: "20ms" is no limit`},
		"text direction in a name":   {`"ids": 5`, "\"i\u202eds\": 5", `"i\u202eds": there is no such member; there are $schema`},
		"a plan of the archive's":    {`"requests": "r.jsonl"`, `"requests": [{}]`, "requests: it is a list; write a text"},
		"a rate below nothing":       {`1e3`, `-1`, "rate_per_sec: -1 is no rate"},
		"a warm-up without an end":   {`"2s"`, `"24h"`, `warmup: "24h" is no time`},
		"an id below nothing":        {`"ids": 5`, `"ids": -5`, "ids: -5 is no number of ids"},
		"more workers than there is": {`"workers": 2`, `"workers": 5000`, "targets[0].workers: 5000 is no number"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(whole, c.old) == 0 {
				t.Fatalf("the plan holds no %q", c.old)
			}
			path := files(t, strings.Replace(whole, c.old, c.new, 1), request)
			_, err := Read(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "read plan "+path+": ") {
				t.Errorf("said %v, want %q in it", err, c.want)
			}
		})
	}
}

// TestReadSaysAllAtOnce: who writes a plan does not want to run it once for each slip.
func TestReadSaysAllAtOnce(t *testing.T) {
	_, err := Read(files(t, `{"targets":[{"name":"a b","command":["x"],"ready":"up"}],"requests":"r.jsonl"}`, `{"path":"/"`))
	for _, want := range []string{"targets[0].name", "targets[0].ready", "requests: r.jsonl: read requests: line 1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("said %v, want %s too", err, want)
		}
	}
}

func TestReadWithoutTargets(t *testing.T) {
	if _, err := Read(files(t, `{"targets":[],"requests":"r.jsonl"}`, request)); err == nil || !strings.Contains(err.Error(), "targets: there are 0; describe one to eight services") {
		t.Errorf("said %v", err)
	}
}

// FuzzRead: whatever a file holds, it is read or refused, and what is read can be
// planned for or is refused then.
func FuzzRead(f *testing.F) {
	f.Add(whole, request)
	f.Add(`{"targets":[{"name":"a","url":"http://h","ready":"/"}],"requests":"r.jsonl"}`, `{}`)
	f.Fuzz(func(t *testing.T, text, requests string) {
		o, err := Read(files(t, text, requests))
		if err != nil {
			return
		}
		o.CPUs = plan.CPUSets{One: []int{0}, OneGenerator: []int{1}, Many: []int{0, 1}, ManyGenerator: []int{0, 1}, K: 2}
		plan.NewService(o)
	})
}
