package load

import (
	"fmt"
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
