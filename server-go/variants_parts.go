package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// bodyOf reads a body as create does, and answers itself if there is none to use.
func bodyOf(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := readBody(w, r)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		fail(w, http.StatusRequestEntityTooLarge, "body too large")
		return nil, false
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid json")
		return nil, false
	}
	return body, true
}

// parseTyped decodes into a struct, as most Go services do. It also takes "Name" for
// name, which the contract does not: encoding/json cannot be told to be exact. Of
// several values of the wrong type it learns of the first alone.
func parseTyped(body []byte) (name, email, problem string) {
	var in *struct { // null leaves a nil pointer, of the whole and of a member
		Name  *string `json:"name"`
		Email *string `json:"email"`
	}
	var mismatch *json.UnmarshalTypeError
	err := json.Unmarshal(body, &in)
	wrong := ""
	if errors.As(err, &mismatch) {
		wrong = mismatch.Field
	}
	switch {
	case err != nil && wrong == "", in == nil, !utf8.Valid(body):
		return "", "", "invalid json"
	case wrong == "name", in.Name == nil, *in.Name == "":
		return "", "", "name required"
	case wrong == "email", in.Email == nil, !strings.Contains(*in.Email, "@"):
		return "", "", "invalid email"
	}
	return *in.Name, *in.Email, ""
}

// What a pooled buffer has at first, and beyond what it is left to the collector: one
// large answer would otherwise be held for good.
const (
	pooledFirst = 2 << 10
	pooledMost  = 64 << 10
)

// scratch is a buffer with an encoder into it.
type scratch struct {
	buffer  bytes.Buffer
	encoder *json.Encoder
}

var scratches = sync.Pool{New: func() any {
	s := &scratch{}
	s.buffer.Grow(pooledFirst)
	s.encoder = json.NewEncoder(&s.buffer)
	s.encoder.SetEscapeHTML(false)
	return s
}}

func replyPooled(w http.ResponseWriter, status int, u user) {
	s := scratches.Get().(*scratch)
	if err := s.encoder.Encode(u); err != nil {
		panic(err) // only strings come here
	}
	send(w, status, bytes.TrimSuffix(s.buffer.Bytes(), []byte("\n")))
	if s.reusable() {
		scratches.Put(s)
	}
}

// reusable empties a buffer, unless it has grown too large to be kept.
func (s *scratch) reusable() bool {
	s.buffer.Reset()
	return s.buffer.Cap() <= pooledMost
}

// muxed is the API behind net/http's own ServeMux.
type muxed struct {
	*api
	mux *http.ServeMux
}

func newMuxed(s *store) *muxed {
	m := &muxed{newAPI(s), http.NewServeMux()}
	m.mux.HandleFunc("GET /users/{id}", m.find)
	m.mux.HandleFunc("/users/{id}", methodNotAllowed)
	m.mux.HandleFunc("POST /users", func(w http.ResponseWriter, r *http.Request) { m.create(w, r, nil) })
	m.mux.HandleFunc("/users", methodNotAllowed)
	m.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { m.health(w, r, nil) })
	m.mux.HandleFunc("/healthz", methodNotAllowed)
	m.mux.HandleFunc("/", notFound)
	return m
}

// ServeHTTP makes ServeMux keep the contract: it would redirect to a path that it
// likes better, and answer CONNECT and the target * in words of its own; those go to
// the plain router, and none of them is ever timed. A path is decoded once, slashes
// too, so the mux is shown the decoded path alone.
func (m *muxed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.Path; p != path.Clean(p) || p[0] != '/' || r.Method == http.MethodConnect || !utf8.ValidString(p) {
		m.api.ServeHTTP(w, r)
		return
	} else if p != "/healthz" {
		m.served.Add(1)
	}
	r.URL.RawPath = ""
	m.mux.ServeHTTP(w, r)
}

func (m *muxed) find(w http.ResponseWriter, r *http.Request) {
	u, ok := m.store.get(r.PathValue("id"))
	if !ok {
		notFound(w, r)
		return
	}
	send(w, http.StatusOK, encode(u))
}

// admitted is how many requests may be under way at once before the next is refused.
const admitted = 256

// admission refuses at once what a server at its limit would only queue.
type admission struct {
	http.Handler
	limit  int64
	inside atomic.Int64
}

func (a *admission) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" { // the one question that an overloaded server has to answer
		a.Handler.ServeHTTP(w, r)
		return
	}
	defer a.inside.Add(-1)
	if a.inside.Add(1) > a.limit {
		fail(w, http.StatusServiceUnavailable, "overloaded")
		return
	}
	a.Handler.ServeHTTP(w, r)
}
