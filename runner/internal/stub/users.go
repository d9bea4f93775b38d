package stub

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

// reply is a whole answer.
type reply struct {
	status int
	allow  string
	body   string
}

var notFound = reply{status: http.StatusNotFound, body: `{"error":"not found"}`}

func (r reply) send(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(r.body)))
	if r.allow != "" {
		h.Set("Allow", r.allow)
	}
	w.WriteHeader(r.status)
	io.WriteString(w, r.body)
}

// seeded is the number of users at start.
const seeded = 10_000

// users is the store: the seeded users are computed, the others kept.
type users struct {
	mu    sync.Mutex
	added []string // bodies, from id seeded+1
	file  string   // that keeps added, one a line; "": nothing does
}

// load takes the users that an earlier process kept, and keeps those to come.
func (u *users) load(file string) {
	u.file = file
	if kept, err := os.ReadFile(file); err == nil {
		u.added = strings.Split(strings.TrimSuffix(string(kept), "\n"), "\n")
	}
}

// keep appends a user to the file; u.mu is held.
func (u *users) keep(body string) {
	if u.file == "" {
		return
	}
	f, err := os.OpenFile(u.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(body + "\n")
		f.Close()
	}
	if err != nil {
		panic(err)
	}
}

func (u *users) size() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return seeded + len(u.added)
}

// reply is the right answer to a request.
func (u *users) reply(r *http.Request) reply {
	id, one := strings.CutPrefix(r.URL.Path, "/users/")
	switch {
	case one && !strings.Contains(id, "/") && id != "":
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return reply{status: http.StatusMethodNotAllowed, allow: "GET, HEAD", body: `{"error":"method not allowed"}`}
		}
		return u.get(id)
	case r.URL.Path == "/users":
		if r.Method != http.MethodPost {
			return reply{status: http.StatusMethodNotAllowed, allow: "POST", body: `{"error":"method not allowed"}`}
		}
		return u.post(r.Body)
	}
	return notFound
}

func (u *users) get(id string) reply {
	n, err := strconv.Atoi(id)
	if err != nil || strconv.Itoa(n) != id || n < 1 {
		return notFound
	}
	if n <= seeded {
		return reply{status: http.StatusOK, body: `{"id":"` + id + `","name":"User ` + id + `","email":"user` + id + `@example.com"}`}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if n > seeded+len(u.added) {
		return notFound
	}
	return reply{status: http.StatusOK, body: u.added[n-seeded-1]}
}

func (u *users) post(r io.Reader) reply {
	body, err := io.ReadAll(io.LimitReader(r, 16385))
	if err == nil && len(body) > 16384 {
		return reply{status: http.StatusRequestEntityTooLarge, body: `{"error":"body too large"}`}
	}
	var in map[string]any
	if err != nil || json.Unmarshal(body, &in) != nil || in == nil {
		return reply{status: http.StatusBadRequest, body: `{"error":"invalid json"}`}
	}
	name, _ := in["name"].(string)
	email, _ := in["email"].(string)
	if name == "" {
		return reply{status: http.StatusBadRequest, body: `{"error":"name required"}`}
	}
	if !strings.Contains(email, "@") {
		return reply{status: http.StatusBadRequest, body: `{"error":"invalid email"}`}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	id := strconv.Itoa(seeded + len(u.added) + 1)
	u.added = append(u.added, `{"id":"`+id+`","name":`+quote(name)+`,"email":`+quote(email)+`}`)
	u.keep(u.added[len(u.added)-1])
	return reply{status: http.StatusCreated, body: u.added[len(u.added)-1]}
}

// quote writes a string as JSON.stringify does.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}
