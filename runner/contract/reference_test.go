package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// reference is a server that keeps the contract, made of the model. A mutant is
// a reference with one thing wrong; the table must catch each.
type reference struct {
	mutant
	mu    sync.Mutex
	users map[string]string // made by POST: id -> body of the answer
}

// mutant is what is wrong. Members left nil are right.
type mutant struct {
	caught string                                         // the beginning of the case that must catch it
	seen   func(c *exchange)                              // changes the request before it is answered
	read   func(r *http.Request) []byte                   // reads a body in its own way
	parse  func(body []byte) (name, email value, ok bool) // reads JSON in its own way
	sent   func(c *exchange)                              // changes the answer
	write  func(w http.ResponseWriter, c *exchange)       // writes it in its own way
	store  func(users map[string]string, id, json string) // stores in its own way
}

// exchange is one request and its answer.
type exchange struct {
	method, target string
	body           []byte
	status         int
	header         http.Header
	answer         string
}

func (s *reference) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &exchange{method: r.Method, target: r.RequestURI, header: http.Header{"Content-Type": {"application/json"}}}
	if r.URL.Path == "/users" && r.Method == "POST" {
		c.body = s.body(w, r)
	}
	if s.seen != nil {
		s.seen(c)
	}
	s.decide(c)
	if s.sent != nil {
		s.sent(c)
	}
	if s.write != nil {
		s.write(w, c)
		return
	}
	c.header.Set("Content-Length", strconv.Itoa(len(c.answer)))
	writeExchange(w, c)
}

func writeExchange(w http.ResponseWriter, c *exchange) {
	for name, values := range c.header {
		w.Header()[name] = values
	}
	w.WriteHeader(c.status)
	io.WriteString(w, c.answer)
}

// body reads no more than shows that it is too large.
func (s *reference) body(w http.ResponseWriter, r *http.Request) []byte {
	if s.read != nil {
		return s.read(r)
	}
	body, limit := r.Body, int64(maxBody)
	if r.ContentLength > maxBody {
		body, limit = io.NopCloser(strings.NewReader("x")), 0
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, body, limit))
	if _, tooLarge := err.(*http.MaxBytesError); tooLarge {
		return make([]byte, maxBody+1)
	}
	return b
}

func (s *reference) decide(c *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if made, ok := s.users[strings.TrimPrefix(c.target, "/users/")]; ok && c.method == "GET" {
		c.status, c.answer = 200, made
		return
	}
	w, _ := demand(c.method, c.target, c.body)
	if s.parse != nil && c.method == "POST" && c.target == "/users" && len(c.body) <= maxBody {
		w = s.reparse(c.body)
	}
	c.status, c.answer = w.status, w.body
	if w.allow != "" {
		c.header.Set("Allow", w.allow)
	}
	if w.status == 201 {
		id := strconv.Itoa(firstUsers + 1 + len(s.users))
		c.answer = strings.Replace(w.body, "{id}", id, 1)
		if s.store == nil {
			s.users[id] = c.answer
		} else {
			s.store(s.users, id, c.answer)
		}
	}
}

func (s *reference) reparse(body []byte) want {
	name, email, ok := s.parse(body)
	switch {
	case !ok:
		return invalidJSON
	case !name.isString || name.text == "":
		return noName
	case !email.isString || !strings.Contains(email.text, "@"):
		return badEmail
	}
	return created(writeString(name.text), writeString(email.text))
}

func startReference(t *testing.T, m mutant) Server {
	t.Helper()
	server := httptest.NewServer(&reference{mutant: m, users: map[string]string{}})
	t.Cleanup(server.Close)
	return Server{Name: "reference", Address: server.Listener.Addr().String()}
}

func TestReferenceKeepsTheContract(t *testing.T) {
	result, err := Check(t.Context(), []Server{startReference(t, mutant{})})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Differences) > 0 {
		t.Error(result)
	}
}

// TestTableCatchesMutants shows that the table has power: one thing wrong is
// one difference or more, in the cases that are about it.
func TestTableCatchesMutants(t *testing.T) {
	for _, group := range []map[string]mutant{pathMutants, parseMutants, bodyMutants, answerMutants} {
		for name, m := range group {
			t.Run(name, func(t *testing.T) {
				rows := slices.DeleteFunc(table(), func(r row) bool { return !strings.HasPrefix(r.name, m.caught) })
				server := startReference(t, m)
				// Some faults show only where two pieces are read apart, which a busy machine
				// may not do each time.
				for range 10 {
					result, err := check(t.Context(), []Server{server}, rows)
					if err != nil {
						t.Fatal(err)
					}
					if len(result.Differences) > 0 {
						return
					}
				}
				t.Errorf("none of the %d cases %q... caught it", len(rows), m.caught)
			})
		}
	}
}

// TestServersAreComparedWithEachOther takes two servers of which each would pass
// alone: the reason of a status is not in the table.
func TestServersAreComparedWithEachOther(t *testing.T) {
	other := startReference(t, mutant{write: func(w http.ResponseWriter, c *exchange) {
		raw, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer raw.Close()
		buffered.WriteString("HTTP/1.1 404 Nobody\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(c.answer)) + "\r\nConnection: close\r\n\r\n" + c.answer)
		buffered.Flush()
	}})
	rows := []row{{name: "nobody", pieces: get("/users/0"), want: notFound, end: mayClose}}
	servers := []Server{startReference(t, mutant{}), other}
	for i, want := range []int{0, 0, 1} {
		subset := [][]Server{servers[:1], servers[1:], servers}[i]
		outcomes := runAll(t.Context(), subset, rows)
		if _, differs := compare(subset, outcomes[0], none); differs != (want == 1) {
			t.Errorf("servers %d: differs is %v", i, differs)
		}
	}
}
