package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCheckForeign(t *testing.T) {
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello\n")) }))
	t.Cleanup(wrong.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		out, err string // parts of the two streams
	}{
		{"a server that answers otherwise", []string{wrong.URL}, exitWrong, "C20 framing of the answer\n  sent \"GET /users/500 HTTP/1.1", "check targets:"},
		{"as JSON", []string{"--json", wrong.URL}, exitWrong, `"case": "C20 framing of the answer"`, "gonogo: hint: "},
		{"nobody there", []string{"http://" + closed.Addr().String()}, exitPreflight, "", "connection refused\ngonogo: hint: "},
		{"not a server's URL", []string{"127.0.0.1:80"}, exitUsage, "", "need http, a host, a port and no path"},
		{"a path", []string{wrong.URL + "/users"}, exitUsage, "", "need http, a host, a port and no path"},
		{"no fuzzing of foreign servers", []string{"--fuzz", "1", wrong.URL}, exitUsage, "", "fills a store"},
		{"unknown target", []string{"--targets", "rust-1"}, exitUsage, "", "valid names are go-1, node-1, go-2, node-cluster-2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, diagnostics bytes.Buffer
			code := run(t.Context(), append([]string{"check"}, c.args...), streams{nil, &out, &diagnostics})
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(out.String(), c.out) || c.out == "" && out.Len() > 0 {
				t.Errorf("stdout %.600q, want %q in it", out.String(), c.out)
			}
			if !strings.Contains(diagnostics.String(), c.err) {
				t.Errorf("stderr %.600q, want %q in it", diagnostics.String(), c.err)
			}
		})
	}
}
