package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestExport: what is not expressed stands on stderr and in the output, and a wrong
// demand says what a right one is.
func TestExport(t *testing.T) {
	for engine, begins := range map[string]string{"k6": "// get-c50: closed loop, 50 connections, warm-up 1s, window 1.1s", "vegeta": "#!/bin/sh\n", "hyperfoil": "# get-c50: "} {
		code, out, errText := gonogo("export", "--engine", engine, "get-c50", "http://10.0.0.1:8080")
		if code != exitDone || !strings.HasPrefix(out, begins) || !strings.Contains(out, "10.0.0.1:8080") {
			t.Errorf("%s: exit %d, %q, begins %.100q", engine, code, errText, out)
		}
		const mark = "gonogo: warning: not in the language of "
		lines := strings.Split(strings.TrimSuffix(errText, "\n"), "\n")
		if len(lines) < 2 {
			t.Errorf("%s: stderr %q", engine, errText)
		}
		for _, l := range lines {
			if lost, ok := strings.CutPrefix(l, mark+engine+": "); !ok || !strings.Contains(out, "- "+lost+"\n") {
				t.Errorf("%s: %q is not in the output", engine, l)
			}
		}
	}
	for _, c := range []struct{ args, says string }{
		{"k6 get-open http://h:1", "--rate 20k"},
		{"k6 get-c50 http://h:1 --rate 5k", "a closed loop has no rate"},
		{"k6 get-c51 http://h:1", "there are get-c50, get-c300, get-open"},
		{"k6 get-c50", "no URL to load"},
		{"k6 get-c50 http://h:1/users", "the paths are the scenario's"},
		{"k6 get-c50 https://h:1", "speaks http"},
		{"jmeter get-c50 http://h:1", "must be one of"},
	} {
		args := append([]string{"export", "--engine"}, strings.Fields(c.args)...)
		if code, out, errText := gonogo(args...); code != exitUsage || out != "" || !strings.Contains(errText, c.says) {
			t.Errorf("%s: exit %d, %q, stdout %.50q; want %q", c.args, code, errText, out, c.says)
		}
	}
	_, out, _ := gonogo("export", "--engine", "k6", "get-open", "http://h:1", "--rate", "1.5k", "-c", "7", "-d", "9s")
	for _, want := range []string{`"rate": 1500,`, `"maxVUs": 7,`, `"duration": "9000ms"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%.600s", want, out)
		}
	}
}

const kubernetes = "export --engine kubernetes get-open --rate 40k --target node-cluster-4 --image registry.example/gonogo:1 --workers 4"

// TestExportKubernetes: a worker of the manifest, but for the place of its server, is a
// gonogo load that only misses that server.
func TestExportKubernetes(t *testing.T) {
	start := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	code, out, errText := gonogo(append(strings.Fields(kubernetes), "--start-at", start)...)
	if code != exitDone || strings.Count(errText, "gonogo: warning: not in the language of kubernetes: ") != 2 {
		t.Fatalf("exit %d, %q", code, errText)
	}
	for _, want := range []string{`- "server-node/cluster.mjs"`, "- name: \"WORKERS\"\n          value: \"4\"", `limits: {cpu: "4", memory: 1Gi}`, "completions: 4", `- "40000"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	_, list, _ := strings.Cut(out, "        args:\n")
	list, _, _ = strings.Cut(list, "        resources:")
	var args []string
	for line := range strings.Lines(list) {
		var arg string
		if err := json.Unmarshal([]byte(strings.TrimPrefix(strings.TrimSpace(line), "- ")), &arg); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		args = append(args, strings.NewReplacer("$(JOB_COMPLETION_INDEX)", "3", "gonogo-server:8080", "127.0.0.1:1").Replace(arg))
	}
	if code, out, errText := gonogo(args...); code != exitPreflight || out != "" || !strings.Contains(errText, "load http://127.0.0.1:1/users/{id}: ") || !strings.Contains(errText, "refused") {
		t.Errorf("gonogo %q: exit %d, %q", args, code, errText)
	}
	for _, c := range []struct{ args, says string }{
		{kubernetes, "wants target, image, workers and start-at"},
		{kubernetes + " http://h:1 --start-at " + start, "the server is one of the manifests"},
		{strings.Replace(kubernetes, "node-cluster-4", "node-1-twin", 1) + " --start-at " + start, "no target"},
		{strings.Replace(kubernetes, "--workers 4", "--workers 3", 1) + " --start-at " + start, "200 connections cannot be shared evenly by 3 workers"},
		{"export --engine k6 get-c50 http://h:1 --workers 3", "of kubernetes alone"},
	} {
		if code, out, errText := gonogo(strings.Fields(c.args)...); code != exitUsage || out != "" || !strings.Contains(errText, c.says) {
			t.Errorf("%s: exit %d, %q, want %q", c.args, code, errText, c.says)
		}
	}
}
