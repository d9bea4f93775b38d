package contract

import (
	"bytes"
	"io"
	"net/http/httputil"
	"strconv"
	"strings"
	"testing"
)

// TestModelAgreesWithTheTable holds the model against the hand-written answers:
// what the fuzzer demands is what the table demands.
func TestModelAgreesWithTheTable(t *testing.T) {
	held := 0
	for _, r := range table() {
		method, target, body, ok := parts(strings.Join(r.pieces, ""))
		if !ok || r.want.status == 0 || r.allow == parser || r.end == abort || method == "CONNECT" {
			continue // not the application's
		}
		held++
		got, a := demand(method, target, body)
		if got != r.want {
			t.Errorf("%s: the model demands %v, the table %v", r.name, got, r.want)
		}
		if (a == separators) != (r.allow == separators) {
			t.Errorf("%s: the model allows difference %d, the table %d", r.name, a, r.allow)
		}
	}
	if held < 400 {
		t.Errorf("only %d rows were held against the model", held)
	}
}

// parts takes a request apart far enough for the table.
func parts(raw string) (method, target string, body []byte, ok bool) {
	head, rest, _ := strings.Cut(raw, "\r\n\r\n")
	line, headers, _ := strings.Cut(head, "\r\n")
	f := strings.Split(line, " ")
	if len(f) != 3 {
		return "", "", nil, false
	}
	body = []byte(rest)
	for _, h := range strings.Split(strings.ToLower(headers), "\r\n") {
		if h == "transfer-encoding: chunked" {
			body, _ = io.ReadAll(httputil.NewChunkedReader(strings.NewReader(rest)))
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(h, "content-length: ")); err == nil && n > len(body) {
			body = bytes.Repeat([]byte(" "), min(n, maxBody+1)) // announced and not sent
		}
	}
	return f[0], f[1], body, true
}
