package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"
)

// maxBody is the largest body of a POST, in bytes.
const maxBody = 16_384

// api answers requests. It is safe for concurrent use.
type api struct {
	store  *store
	router *httprouter.Router
	served atomic.Uint64 // requests, GET /healthz left out
	size   func() int    // of the store
}

func newAPI(s *store) *api {
	a := &api{store: s, size: s.size}
	// A zero Router neither redirects to a path it likes better nor answers
	// OPTIONS by itself: every path but the exact one is 404, as in Node.
	a.router = &httprouter.Router{HandleMethodNotAllowed: true}
	a.router.GET("/users/:id", a.read)
	a.router.HEAD("/users/:id", a.read)
	a.router.POST("/users", a.create)
	a.router.GET("/healthz", a.health)
	a.router.HEAD("/healthz", a.health)
	a.router.NotFound = http.HandlerFunc(notFound)
	a.router.MethodNotAllowed = http.HandlerFunc(methodNotAllowed)
	return a
}

// ServeHTTP sees the path percent-decoded once, by net/http, which refuses
// malformed escapes by itself but not those that make invalid UTF-8.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/healthz" {
		a.served.Add(1)
	}
	if !utf8.ValidString(r.URL.Path) {
		fail(w, http.StatusBadRequest, "bad request")
		return
	}
	a.router.ServeHTTP(w, r)
}

func (a *api) read(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	u, ok := a.store.get(p.ByName("id"))
	if !ok {
		notFound(w, r)
		return
	}
	send(w, http.StatusOK, encode(u))
}

func (a *api) create(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	body, err := readBody(w, r)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		fail(w, http.StatusRequestEntityTooLarge, "body too large")
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		panic(http.ErrAbortHandler) // net/http closes the connection without an answer
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid json")
		return
	}
	name, email, problem := parse(body)
	if problem != "" {
		fail(w, http.StatusBadRequest, problem)
		return
	}
	send(w, http.StatusCreated, encode(a.store.add(name, email)))
}

// readBody refuses a body by its declared length, unread, or once it has grown
// too large. Running over a limit of MaxBytesReader, here one of nothing, makes
// net/http close the sending half first and wait: closing at once, with bytes
// still unread, would reset the connection and could lose the answer.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, limit := r.Body, int64(maxBody)
	if r.ContentLength > maxBody {
		body, limit = io.NopCloser(strings.NewReader("too large")), 0
	}
	return io.ReadAll(http.MaxBytesReader(w, body, limit))
}

// parse takes a generic object, as JSON.parse makes one: names are exact, the
// last duplicate wins. A struct would also take "Name" for name. What is no
// object leaves object nil. A number too large for a float64 is an
// UnmarshalTypeError too, but all else is decoded nevertheless; to JSON.parse it
// is Infinity.
func parse(body []byte) (name, email, problem string) {
	var object map[string]any
	var mismatch *json.UnmarshalTypeError
	err := json.Unmarshal(body, &object)
	if err != nil && !errors.As(err, &mismatch) || object == nil || !utf8.Valid(body) {
		return "", "", "invalid json"
	}
	if name, _ = object["name"].(string); name == "" {
		return "", "", "name required"
	}
	if email, _ = object["email"].(string); !strings.Contains(email, "@") {
		return "", "", "invalid email"
	}
	return name, email, ""
}

// health is for the runner, and no part of the contract: which process this is,
// its settings as the runtime sees them, and what it has done.
func (a *api) health(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	settings := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(settings)
	send(w, http.StatusOK, encode(map[string]any{
		"runtime":    "go",
		"version":    runtime.Version(),
		"pid":        os.Getpid(),
		"token":      os.Getenv("GONOGO_TOKEN"),
		"delay_ms":   os.Getenv("DELAY_MS"),
		"variant":    os.Getenv("VARIANT"),
		"gomaxprocs": runtime.GOMAXPROCS(0),
		"gogc":       strconv.FormatInt(int64(settings[0].Value.Uint64()), 10), // -1 is off
		"gomemlimit": strconv.FormatUint(settings[1].Value.Uint64(), 10),
		"users":      []int{a.size()},
		"requests":   []uint64{a.served.Load()},
	}))
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	fail(w, http.StatusNotFound, "not found")
}

// methodNotAllowed overwrites the Allow that httprouter has set, which names
// OPTIONS too. httprouter takes the target * for every path; here it is none.
func methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "*":
		w.Header().Del("Allow")
		notFound(w, r)
		return
	case "/users":
		w.Header().Set("Allow", "POST")
	default:
		w.Header().Set("Allow", "GET, HEAD")
	}
	fail(w, http.StatusMethodNotAllowed, "method not allowed")
}

func fail(w http.ResponseWriter, status int, message string) {
	send(w, status, []byte(`{"error":"`+message+`"}`))
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// encode writes JSON as JSON.stringify does: <, > and & raw, no newline at the
// end. U+2028 and U+2029 stay escaped, which encoding/json cannot be told.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only strings and numbers come here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
