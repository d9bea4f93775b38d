package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const farAway = "gonogo: warning: not on the loopback of this machine: "

// TestBeyond: one line for all that is not on loopback, none for what is.
// 192.0.2.0/24 and 2001:db8::/32 are kept for examples (RFC 5737, RFC 3849).
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		addresses []string
		want      string // named in the line; "" for no line
	}{
		{nil, ""},
		{[]string{"127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "localhost:80", "unix:/tmp/x:y"}, ""},
		{[]string{"192.0.2.1:80"}, "192.0.2.1:80;"},
		{[]string{"0.0.0.0:80"}, "0.0.0.0:80;"}, // any address of this machine, and so not only loopback
		{[]string{"[2001:db8::1]:80"}, "[2001:db8::1]:80;"},
		{[]string{"[::ffff:192.0.2.1]:80"}, "[::ffff:192.0.2.1]:80;"},
		{[]string{"127.0.0.1:1", "192.0.2.1:80", "192.0.2.2:80", "192.0.2.1:80"}, "192.0.2.1:80, 192.0.2.2:80;"},
	} {
		var b bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		beyond(ctx, streams{err: &b}, c.addresses...)
		cancel()
		got := b.String()
		if c.want == "" && got != "" || c.want != "" && (strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, farAway+c.want)) {
			t.Errorf("%v: %q", c.addresses, got)
		}
	}
}

// TestCommandsWarnBeyondLoopback: every command that takes a URL says it once, before
// it sends anything, and refuses nothing: what fails is the connection.
func TestCommandsWarnBeyondLoopback(t *testing.T) {
	t.Parallel()
	here := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(here.Close)
	requests := t.TempDir() + "/requests"
	overwrite(t, requests, []byte(`{"path":"/"}`))
	const there = "http://192.0.2.1:9"
	for name, args := range map[string][]string{
		"load":           {"load", "-n", "1", "-c", "1", "--timeout", "50ms", "--warmup", "0s"},
		"check":          {"check"},
		"check requests": {"check", "--requests", requests},
	} {
		for _, url := range []string{there, here.URL} {
			if name == "check" && url == here.URL {
				continue // the whole contract: "check requests" takes the same way
			}
			var out, errs bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if url == there {
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
			}
			code := run(ctx, append(args, url), streams{strings.NewReader(""), &out, &errs})
			cancel()
			if n := strings.Count(errs.String(), farAway); n != map[bool]int{true: 1}[url == there] {
				t.Errorf("%s %s warns %d times: %s", name, url, n, errs.String())
			}
			if code == exitUsage || url == there && code == exitDone {
				t.Errorf("%s %s: exit %d, %s", name, url, code, errs.String())
			}
		}
	}
}
