package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"gonogo/runner/record"
)

// fileRequest is a line of a request file.
type fileRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Status  int               `json:"status"` // expected; 0: any 2xx
	Want    string            `json:"want"`   // expected body; "": any
	Weight  int               `json:"weight"` // share in the mix; 0 counts as 1
	Ignore  []string          `json:"ignore"` // members that two services may answer differently; the generator does not look
}

// A request file may be a stranger's, or never end. Each request is kept once for
// every length of an id, so the bounds are a small part of the memory.
const (
	maxRequestLine = 1 << 20  // bytes of a line
	maxRequestFile = 16 << 20 // bytes of all lines
	maxRequests    = 100_000
)

// ReadRequests reads requests from JSON lines such as
//
//	{"method":"GET","path":"/users/{id}","headers":{"Accept":"application/json"},"status":200,"weight":80}
//
// with the members method (GET if absent), path, headers, body, status, want,
// weight and ignore. Empty lines are skipped; anything unknown is an error.
func ReadRequests(r io.Reader) ([]record.Request, error) {
	var list []record.Request
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRequestLine)
	size := 0
	for n := 1; lines.Scan(); n++ {
		if size += len(lines.Bytes()) + 1; size > maxRequestFile || len(list) == maxRequests {
			return nil, fmt.Errorf("read requests: line %d: more than %d MiB or %d requests", n, maxRequestFile>>20, maxRequests)
		}
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		f := fileRequest{Method: "GET"}
		err := record.Strictly(line, &f)
		q := record.Request{Method: f.Method, Path: f.Path, Header: f.Headers, Body: f.Body, Weight: f.Weight, WantStatus: f.Status, WantBody: f.Want, Ignore: f.Ignore}
		if err == nil {
			err = checkRequest(q)
		}
		if err != nil {
			return nil, fmt.Errorf("read requests: line %d: %w", n, err)
		}
		list = append(list, q)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	if len(list) == 0 {
		return nil, errors.New("read requests: there are none")
	}
	return list, nil
}
