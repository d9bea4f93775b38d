package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImport(t *testing.T) {
	for engine, file := range map[string]string{"k6": "k6-export.json", "vegeta": "vegeta.json", "hyperfoil": "hyperfoil.json"} {
		path := filepath.Join("foreign", "testdata", file)
		code, out, errText := gonogo("import", "--engine", engine, path)
		if code != exitDone || errText != "" || !strings.HasPrefix(out, "FOREIGN: measured by "+engine) {
			t.Errorf("%s: exit %d, %q, %.200q", engine, code, errText, out)
		}
		code, out, _ = gonogo("import", "--engine", engine, "--json", path)
		var got struct{ Foreign bool }
		if err := json.Unmarshal([]byte(out), &got); code != exitDone || err != nil || !got.Foreign {
			t.Errorf("%s as JSON: exit %d, %v, %.200q", engine, code, err, out)
		}
		// What import prints is as foreign as what it read.
		printed := filepath.Join(t.TempDir(), "printed.json")
		if err := os.WriteFile(printed, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		native := filepath.Join("report", "testdata", "sessions", "standard", "benchmark.json")
		for _, f := range []string{path, printed} {
			for _, args := range [][]string{{"diff", native, f}, {"diff", f, native}, {"decide", f}, {"decide", native, "--with", f}, {"report", f}, {"verify", f}, {"show", f, "1"}, {"load", "merge", f}} {
				if code, out, errText := gonogo(args...); code == exitDone || out != "" && args[0] != "verify" || !strings.Contains(errText, "gonogo: error: ") {
					t.Errorf("gonogo %v took a foreign summary: exit %d, %q, %q", args, code, out, errText)
				}
			}
		}
	}
	large := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxImport+1); err != nil { // sparse
		t.Fatal(err)
	}
	for _, c := range []struct{ engine, file, says string }{
		{"k6", filepath.Join("foreign", "testdata", "vegeta.json"), "hint: k6 run --summary-export FILE writes one"},
		{"k6", "none.json", "no such file"},
		{"vegeta", large, "larger than 32 MiB"},
	} {
		if code, out, errText := gonogo("import", "--engine", c.engine, c.file); code != exitUsage || out != "" || !strings.Contains(errText, c.says) {
			t.Errorf("%s %s: exit %d, %q", c.engine, c.file, code, errText)
		}
	}
}
