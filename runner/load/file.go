package load

import (
	"bufio"
	"bytes"
	"encoding/json"
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

// maxRequestLine bounds a line of a request file.
const maxRequestLine = 1 << 20

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
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		f := fileRequest{Method: "GET"}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err := d.Decode(&f)
		if err == nil && d.More() {
			err = errors.New("more than one value")
		}
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
