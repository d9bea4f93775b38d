package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckRequests: two services that know nothing of our contract, by a file.
func TestCheckRequests(t *testing.T) {
	serve := func(body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	a, b := serve(`{"name":"A","ts":1}`), serve(`{"ts":2,"name":"A"}`)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", "{\"path\":\"/items/{id}\",\"status\":200}\n\n")
	ignoring := file("ignoring", `{"path":"/items/1","ignore":["ts"]}`)
	for name, c := range map[string]struct {
		args     []string
		code     int
		out, err string
	}{
		"they differ":             {[]string{"--requests", plain, a, b}, exitWrong, `wrong: $.ts: 2, ` + strings.TrimPrefix(a, "http://") + " has 1", "3 of 3 answered"},
		"ignored by a flag":       {[]string{"--requests", plain, "--ignore", "ts,at", a, b}, exitDone, "3 sent to each of", ""},
		"ignored but never there": {[]string{"--requests", plain, "--ignore", "ts,at", a, b}, exitDone, "in no answer: at\n", ""},
		"ignored by the file":     {[]string{"--requests", ignoring, a, b}, exitDone, "requests: 1 sent to each of", ""},
		"as JSON":                 {[]string{"--requests", plain, "--json", a, b}, exitWrong, `"case": "request 1"`, ""},
		"fewer ids":               {[]string{"--requests", plain, "--ids", "1", a}, exitDone, "requests: 1 sent to ", ""},
		"no ids":                  {[]string{"--requests", plain, "--ids", "0", a}, exitUsage, "", "0 ids"},
		"one alone":               {[]string{"--requests", plain, a}, exitDone, "0 with differences", ""},
		"no file":                 {[]string{"--requests", filepath.Join(dir, "none"), a}, exitUsage, "", "your-own-service.md"},
		"not a line":              {[]string{"--requests", file("bad", `{"path":"/","stauts":1}`), a}, exitUsage, "", `line 1: json: unknown field "stauts"`},
		"and fuzz":                {[]string{"--requests", plain, "--fuzz", "1", a}, exitUsage, "", "exclude each other"},
		"ignore alone":            {[]string{"--ignore", "ts", a}, exitUsage, "", "--requests"},
		"nobody there":            {[]string{"--requests", plain, "http://127.0.0.1:1"}, exitPreflight, "", "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, diagnostics bytes.Buffer
			code := run(t.Context(), append([]string{"check"}, c.args...), streams{nil, &out, &diagnostics})
			if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(diagnostics.String(), c.err) {
				t.Errorf("exit code %d, want %d\nstdout %s\nwant %q in it\nstderr %s\nwant %q in it", code, c.code, out.String(), c.out, diagnostics.String(), c.err)
			}
		})
	}
}
