package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gonogo/runner/load"
	"gonogo/runner/plan"
	"gonogo/runner/record"
)

func loadServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/users/") {
			w.WriteHeader(404)
		}
		fmt.Fprint(w, "ok")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// generate runs a command line in this process. The engine that shares it with a
// server is the portable one.
func generate(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // whoever runs the tests may have calibrated
	var o, e bytes.Buffer
	code = run(t.Context(), args, streams{strings.NewReader(""), &o, &e})
	return code, o.String(), e.String()
}

func TestLoadExits(t *testing.T) {
	url := loadServer(t) + "/users/1"
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	file := filepath.Join(t.TempDir(), "requests")
	if err := os.WriteFile(file, []byte(`{"path":"/users/1"`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		text string // in what it says
	}{
		{"--threshold p99<1m " + url, exitDone, ""},
		{"--threshold p99<1ns --threshold max<1m " + url, exitThreshold, "threshold missed: p99<1ns"},
		{"--threshold p99 " + url, exitUsage, "want such as p99<5ms"},
		{"--want-status 201 " + url, exitFailed, "wrong status"},
		{"--want-body no " + url, exitFailed, "wrong body"},
		{"--want-body okay " + url, exitFailed, "wrong length"},
		{strings.TrimSuffix(url, "/users/1") + "/user/1", exitFailed, "nothing right in"}, // C25
		{"-c 0 " + url, exitUsage, "0 connections"},
		{"-c 100000000 " + url, exitPreflight, ""},
		{"-r -5 " + url, exitUsage, ""},
		{"-n x " + url, exitUsage, "is no number such as 20k"},
		{"", exitUsage, "no URL"},
		{"https://127.0.0.1/", exitUsage, "speaks http, not https"},
		{"ftp://127.0.0.1/", exitUsage, "speaks http, not ftp"},
		{"http://", exitUsage, "names no host"},
		{"http://" + closed.Addr().String(), exitPreflight, "refused"},
		{"http://nowhere.invalid/", exitPreflight, "resolve nowhere.invalid"},
		{"unix:/nowhere/socket:/", exitPreflight, "no such file"},
		{"--engine warp " + url, exitUsage, "engine"},
		{"--worker 2/2 " + url, exitUsage, "want K/N"},
		{"--mix get=80,put=20 " + url, exitUsage, "no request \"put\""},
		{"--mix get " + url, exitUsage, "want shares"},
		{"--requests-file " + file + " " + url, exitUsage, "line 1"},
		{"--requests-file /nowhere " + url, exitUsage, "no such file"},
		{"-X get " + url, exitUsage, "capital letters"},
		{"--spec /nowhere", exitUsage, "no such file"},
		{"merge /nowhere", exitUsage, "no such file"},
	} {
		args := append([]string{"load"}, strings.Fields(c.args)...)
		if !strings.Contains(c.args, "--engine") && !strings.HasPrefix(c.args, "merge") {
			args = append(args, "--engine=net", "-d50ms", "--warmup=10ms")
		}
		if !strings.Contains(c.args, "-c") {
			args = append(args, "-c2")
		}
		if strings.HasPrefix(c.args, "merge") {
			args = args[:3]
		}
		code, out, err := generate(t, args...)
		// A busy machine may void a run before its thresholds are looked at.
		if code == exitInvalid && (c.code == exitDone || c.code == exitThreshold) {
			continue
		}
		if code != c.code || !strings.Contains(out+err, c.text) {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", c.args, code, c.code, c.text, out, err)
		}
		if c.code == exitPreflight && out != "" || c.code == exitUsage && out != "" {
			t.Errorf("%s: printed %q of a run that was not made", c.args, out)
		}
		if c.code == exitFailed && strings.Contains(out, "rate ") {
			t.Errorf("%s: prints a rate of no right answers:\n%s", c.args, out)
		}
	}
}

func TestLoadPrints(t *testing.T) {
	url := loadServer(t) + "/users/{id}"
	dir := t.TempDir()
	hlog, hgrm := filepath.Join(dir, "hlog"), filepath.Join(dir, "hgrm")
	_, out, errs := generate(t, "load", "-c", "2", "-r", "0.2k", "-d", "300ms", "--warmup", "10ms", "--engine", "net", "--json", "--hlog", hlog, "--hgrm", hgrm, url)
	var r record.LoadRecord
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	if r.SchemaVersion != record.SchemaVersion || r.Spec.RatePerSec != 200 || r.Spec.IDs != 10_000 || r.Spec.Window != 300*time.Millisecond ||
		r.Result.Counts.OK != 60 || r.Result.Engine != "net" || r.Kit == "" {
		t.Errorf("record %+v", r)
	}
	log, err := os.ReadFile(hlog)
	if err != nil || !strings.Contains(string(log), "Tag=planned,0.000,0.300,") || !strings.Contains(string(log), "Tag=sent,") {
		t.Errorf("log %v\n%s", err, log)
	}
	if text, err := os.ReadFile(hgrm); err != nil || !strings.Contains(string(text), "Total count    =           60") {
		t.Errorf("distribution %v\n%s", err, text)
	}
	_, out, _ = generate(t, "load", "-c", "2", "-n", "0.1k", "--engine", "net", url)
	if !strings.Contains(out, "100 right answers") || !strings.Contains(out, "does not show queueing") || !strings.Contains(out, "errors         0 of 100 requests") {
		t.Errorf("printed\n%s", out)
	}
}

// Two workers send what one would, and their records merge to its counts.
func TestLoadWorkersMerge(t *testing.T) {
	url := loadServer(t) + "/users/{id}"
	dir := t.TempDir()
	var files []string
	for k := range 2 {
		_, out, errs := generate(t, "load", "--engine=net", "-c2", "-n101", fmt.Sprintf("--worker=%d/2", k), "--json", url)
		path := filepath.Join(dir, fmt.Sprint(k))
		if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
			t.Fatal(err, errs)
		}
		files = append(files, path)
	}
	code, out, errs := generate(t, append([]string{"load", "merge", "--json"}, files...)...)
	var r record.LoadRecord
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, out, errs)
	}
	if r.Result.Counts.OK != 101 || r.Result.Service.Count != 101 || r.Spec.Connections != 4 || r.Result.Connections != 4 {
		t.Errorf("merged %+v", r.Result.Counts)
	}
	if code, _, errs := generate(t, "load", "merge", files[0], files[0]); code != exitUsage || !strings.Contains(errs, "twice") {
		t.Errorf("the same worker twice: exit %d, %s", code, errs)
	}
	if code, _, errs := generate(t, "load", "merge", files[0]); code != exitUsage || !strings.Contains(errs, "1 records of a plan of 2 workers") {
		t.Errorf("a worker is missing: exit %d, %s", code, errs)
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]target{
		"http://h:8080/users/{id}?x=1#top": {name: "h", port: "8080", host: "h:8080", path: "/users/{id}?x=1"},
		"h":                                {name: "h", port: "80", host: "h", path: "/"},
		"http://[::1]:9/a":                 {name: "::1", port: "9", host: "[::1]:9", path: "/a"},
		"http://[::1]/a":                   {name: "::1", port: "80", host: "[::1]", path: "/a"},
		"http://h?q":                       {name: "h", port: "80", host: "h", path: "/?q"},
		"unix:/run/s:/users/1":             {socket: "/run/s", host: "localhost", path: "/users/1"},
		"unix:/run/s":                      {socket: "/run/s", host: "localhost", path: "/"},
	} {
		if got, err := parseTarget(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// Ctrl-C keeps what was measured and prints it.
func TestLoadInterrupted(t *testing.T) {
	for _, how := range []string{"-n1m", "-n1m -r100k --poisson"} {
		t.Run(how, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var n atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) == 500 {
					interrupt()
				}
				fmt.Fprint(w, "ok")
			}))
			defer s.Close()
			var out, errs bytes.Buffer
			args := append([]string{"load", "--engine=net", "-c2"}, strings.Fields(how)...)
			code := run(ctx, append(args, s.URL), streams{strings.NewReader(""), &out, &errs})
			if code != exitInterrupted || !strings.Contains(out.String(), "right answers in the window") || !strings.Contains(out.String(), "ended before its time") {
				t.Errorf("exit %d after %d requests\n%s%s", code, n.Load(), out.String(), errs.String())
			}
		})
	}
}

// The program itself, with the engine that is the default here.
func TestLoadProgram(t *testing.T) {
	u := newUser(t, theKit(t))
	r := u.run("load", "-c", "8", "-n", "2k", "--mix", "get=3,miss=1", strings.TrimSuffix(contractServer(t), "/"))
	for _, part := range []string{"2000 right answers", "of them answered 404, as expected", "errors         0 of 2000 requests", "misses    "} {
		if !strings.Contains(r.out, part) {
			t.Errorf("exit %d, no %q in\n%s%s", r.code, part, r.out, r.err)
		}
	}
}

// contractServer answers as the targets do.
func contractServer(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := strings.CutPrefix(r.URL.Path, "/users/")
		if n, err := strconv.Atoi(id); err != nil || n < 1 || n > 10_000 {
			w.WriteHeader(404)
			fmt.Fprint(w, `{"error":"not found"}`)
			return
		}
		fmt.Fprintf(w, `{"id":"%s","name":"User %s","email":"user%s@example.com"}`, id, id, id)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// What a plan archives of the generator's own rules is what the generator applies.
func TestPlanKnowsTheRulesOfTheGenerator(t *testing.T) {
	if r := plan.DefaultRules(); r.DutyRatioMin != load.DutyRatioMin || r.DutyRatioMax != load.DutyRatioMax {
		t.Errorf("the plan says %v..%v, the generator applies %v..%v", r.DutyRatioMin, r.DutyRatioMax, load.DutyRatioMin, load.DutyRatioMax)
	}
}
