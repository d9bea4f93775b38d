package stub

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Server is a stub that serves.
type Server struct {
	b        Behaviour
	listener net.Listener
	http     *http.Server
	clock    clock
	users    users
	hoard    hoard
	held     held
	counts   *counts
	index    int // of this worker
}

// Listen serves on a free port of 127.0.0.1 in this process. The behaviours of
// Life have no meaning there and are ignored, but for Token and StderrEach.
func Listen(b Behaviour) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start stub: %w", err)
	}
	s := newServer(b, l, &counts{}, 0)
	go s.serve()
	return s, nil
}

func newServer(b Behaviour, l net.Listener, c *counts, index int) *Server {
	s := &Server{b: b, listener: l, counts: c, index: index, clock: clock{Timing: b.Timing, begin: time.Now()}}
	s.hoard.keep(b.AllocateMiB << 20)
	s.users.load(b.KeepStore)
	s.users.count(c, index)
	need(b.NeedMiB)
	s.http = &http.Server{Handler: http.HandlerFunc(s.handle), IdleTimeout: 65 * time.Second, ConnState: s.connState}
	return s
}

func (s *Server) serve() error { return s.http.Serve(s.listener) }

// Address is host:port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Accepts is the number of connections accepted, those of /healthz included.
func (s *Server) Accepts() uint64 { return s.counts.sum(accepts) }

// Requests is the number of API requests received, /healthz not included.
func (s *Server) Requests() uint64 { return s.counts.sum(requests) }

// Stall freezes every answer for StallFor from now.
func (s *Server) Stall() { s.clock.stall() }

// Close ends the server and all its connections.
func (s *Server) Close() error { return s.http.Close() }

func (s *Server) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.counts.add(accepts, s.index)
		s.held.open(c, s.b.ConnectionKiB)
	case http.StateClosed, http.StateHijacked:
		s.held.close(c)
	}
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		s.health(w)
		return
	}
	n := s.counts.add(requests, s.index)
	s.hoard.keep(s.b.LeakBytes)
	if s.b.StderrEach > 0 {
		os.Stderr.WriteString(strings.Repeat("l", s.b.StderrEach-1) + "\n")
	}
	s.clock.wait(n)
	right := s.users.reply(r)
	s.users.count(s.counts, s.index)
	s.b.answer(w, r, n, right)
}

// health is the state of all workers, whichever answers.
func (s *Server) health(w http.ResponseWriter) {
	token := os.Getenv("GONOGO_TOKEN")
	if s.b.Token != "" {
		token = s.b.Token
	}
	workers := max(s.b.Workers, 1)
	said := workers
	if s.b.SayWorkers != 0 {
		said = s.b.SayWorkers
	}
	body, err := json.Marshal(map[string]any{
		"runtime": "stub", "version": runtime.Version(), "pid": os.Getpid(), "token": token, "workers": said,
		"gomaxprocs": runtime.GOMAXPROCS(0), "padding": len(os.Getenv("GONOGO_PADDING")), "environ": len(os.Environ()),
		"users": s.counts.list(stored, workers), "requests": s.counts.list(requests, workers), "accepts": s.counts.list(accepts, workers),
	})
	if err != nil {
		body = []byte(err.Error())
	}
	reply{status: http.StatusOK, body: string(body)}.send(w)
}

// counts are what workers count, in memory that they share.
type counts struct {
	cells [kinds][maxWorkers]atomic.Uint64
}

// The kinds of count.
const (
	accepts = iota
	requests
	stored
	kinds

	maxWorkers = 64
)

func (c *counts) add(kind, worker int) uint64 { return c.cells[kind][worker].Add(1) }

func (c *counts) list(kind, workers int) []uint64 {
	all := make([]uint64, workers)
	for i := range all {
		all[i] = c.cells[kind][i].Load()
	}
	return all
}

func (c *counts) sum(kind int) (n uint64) {
	for i := range c.cells[kind] {
		n += c.cells[kind][i].Load()
	}
	return n
}

// count publishes the size of the store.
func (u *users) count(c *counts, worker int) { c.cells[stored][worker].Store(uint64(u.size())) }
