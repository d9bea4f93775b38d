package load

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gonogo/runner/record"
)

func TestTimeouts(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		var n atomic.Int64
		release := make(chan struct{})
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1)%10 == 0 {
				select {
				case <-release:
				case <-r.Context().Done():
				}
				return
			}
			fmt.Fprint(w, "ok")
		}))
		defer close(release)
		spec := s.spec(engine, record.Request{Method: "GET", Path: "/", WantBody: "ok"})
		spec.Timeout, spec.Warmup = 60*time.Millisecond, 0
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.TimedOut == 0 || res.NewDials == 0 || res.Service.Max != 60*time.Millisecond {
			t.Errorf("counts %+v, %d new dials, maximum %v", res.Counts, res.NewDials, res.Service.Max)
		}
		if e := res.Errors[record.ErrTimeout]; e.Count != res.Counts.TimedOut || !strings.Contains(e.Example, "GET /: no reply within 60ms") {
			t.Errorf("error %+v", e)
		}
	})
}

func TestNewConnectionEachTime(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		spec := s.spec(engine, getUser)
		spec.NewConns, spec.Warmup, spec.Window, spec.Count = true, 0, 0, 200
		spec.Requests[0].Header = map[string]string{"Connection": "close"}
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.OK != 200 || res.NewDials != 200 || !res.Slowest[0].Dialled {
			t.Errorf("counts %+v, %d dials, errors %v", res.Counts, res.NewDials, res.Errors)
		}
		if got := s.accepted.Load(); got != 201 { // one to learn whether the server is there
			t.Errorf("server accepted %d connections", got)
		}
	})
}

func TestNewConnectionsRefused(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		spec := s.spec(engine, getUser)
		spec.NewConns, spec.Warmup, spec.Window = true, 0, time.Hour
		res, err := Run(t.Context(), spec, func(string) error {
			time.AfterFunc(30*time.Millisecond, func() { s.Listener.Close() })
			return nil
		})
		if err == nil || res == nil || res.Errors[record.ErrRefused].Count == 0 {
			t.Fatalf("result %+v, error %v", res, err)
		}
		conserved(t, res)
	})
}

func TestUnixSocket(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		web := &http.Server{Handler: users()}
		go web.Serve(l)
		t.Cleanup(func() { web.Close() })
		spec := (&server{Server: &httptest.Server{Listener: l}}).spec(engine, getUser)
		spec.Address = "unix:" + path
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.OK == 0 || res.Counts.Bad() != 0 {
			t.Errorf("counts %+v", res.Counts)
		}
	})
}

// A server that closes each connection after some requests costs dials, and
// they are counted; no request fails, for it says so in time.
func TestServerClosesAfterReply(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		var n atomic.Int64
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1)%10 == 0 {
				w.Header().Set("Connection", "close")
			}
			fmt.Fprint(w, "ok")
		}))
		spec := s.spec(engine, record.Request{Method: "GET", Path: "/", WantBody: "ok"})
		spec.Warmup, spec.Window, spec.Count = 0, 0, 400
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.OK != 400 || res.NewDials < 36 || res.NewDials > 40 {
			t.Errorf("counts %+v, %d new dials, errors %v", res.Counts, res.NewDials, res.Errors)
		}
	})
}

// Replies come in pieces, in chunks, and longer than any buffer.
func TestRepliesInPieces(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		long := strings.Repeat("0123456789", 20_000)
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/chunks":
				for _, piece := range []string{"a", "bc", "def"} {
					fmt.Fprint(w, piece)
					w.(http.Flusher).Flush()
					time.Sleep(time.Millisecond) // the pieces are to arrive one by one
				}
			case "/long":
				fmt.Fprint(w, long)
			case "/pieces":
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					return
				}
				defer conn.Close()
				for _, piece := range []string{"HTTP/1.1 2", "00 OK\r\nConnection: close\r\nContent-Length: 5\r\n", "\r\nhe", "llo"} {
					fmt.Fprint(conn, piece)
					time.Sleep(time.Millisecond)
				}
			}
		}))
		get := func(path, body string) record.Request {
			return record.Request{Method: "GET", Path: path, WantStatus: 200, WantBody: body}
		}
		spec := s.spec(engine, get("/chunks", "abcdef"), get("/long", long), get("/long", ""), get("/pieces", "hello"))
		spec.Warmup, spec.Window, spec.Count = 0, 0, 200
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.OK != 200 {
			t.Errorf("counts %+v, errors %v", res.Counts, res.Errors)
		}
	})
}

// A request longer than the kernel takes at once is written in pieces.
func TestLongRequest(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		body := strings.Repeat("0123456789", 600_000)
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n)
		}))
		spec := s.spec(engine, record.Request{Method: "POST", Path: "/", Body: body, WantBody: "6000000"})
		spec.Warmup, spec.Window, spec.Count = 0, 0, 20
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.OK != 20 || res.NewDials != 0 {
			t.Errorf("counts %+v, errors %v", res.Counts, res.Errors)
		}
	})
}
