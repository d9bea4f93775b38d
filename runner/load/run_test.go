package load

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// users answers like the targets do.
func users() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		if strings.HasPrefix(id, "none") {
			w.WriteHeader(404)
			fmt.Fprint(w, `{"error":"not found"}`)
			return
		}
		fmt.Fprintf(w, `{"id":"%s","name":"User %s"}`, id, id)
	})
	var next atomic.Uint64
	mux.HandleFunc("POST /users", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Name string }
		if json.NewDecoder(r.Body).Decode(&body) != nil {
			w.WriteHeader(400)
			return
		}
		w.WriteHeader(201)
		fmt.Fprintf(w, `{"id":"%d","name":"%s"}`, next.Add(1)+10_000, body.Name)
	})
	return mux
}

var (
	getUser  = record.Request{Method: "GET", Path: "/users/{id}", WantStatus: 200, WantBody: `{"id":"{id}","name":"User {id}"}`}
	getNone  = record.Request{Method: "GET", Path: "/users/none{id}", WantStatus: 404, WantBody: `{"error":"not found"}`}
	postUser = record.Request{Method: "POST", Path: "/users", Body: `{"name":"User {id}"}`, WantStatus: 201, WantBody: `{"id":"{digits}","name":"User {id}"}`}
)

// server counts the connections that it accepts.
type server struct {
	*httptest.Server
	accepted atomic.Int64
}

func serve(t *testing.T, h http.Handler) *server {
	t.Helper()
	s := &server{Server: httptest.NewUnstartedServer(h)}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.accepted.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *server) spec(engine string, requests ...record.Request) record.LoadSpec {
	return record.LoadSpec{
		Address: s.Listener.Addr().String(), Host: "127.0.0.1", Requests: requests, IDs: 10_000, Seed: 7,
		Kind: record.Closed, Engine: engine, Connections: 4, Warmup: 50 * time.Millisecond, Window: 300 * time.Millisecond, Timeout: 5 * time.Second,
	}
}

// onEngines runs a test on every engine that this system has.
func onEngines(t *testing.T, test func(t *testing.T, engine string)) {
	for _, e := range Engines() {
		t.Run(e, func(t *testing.T) { test(t, e) })
	}
}

// conserved checks what must hold for every result whatsoever.
func conserved(t *testing.T, res *record.LoadResult) {
	t.Helper()
	c := res.Counts
	if sum := c.Answered() + c.Bad(); sum != c.Planned {
		t.Errorf("planned %d, accounted for %d: %+v", c.Planned, sum, c)
	}
	var right, service, miss uint64
	for _, s := range res.Timeline {
		if s.Start >= 0 {
			right += s.Right
		}
	}
	if right != c.InWindow {
		t.Errorf("slices hold %d right answers, counts say %d", right, c.InWindow)
	}
	if res.Service != nil {
		service = res.Service.Count
	}
	if res.Miss != nil {
		miss = res.Miss.Count
	}
	if service+miss != c.Answered()+c.TimedOut {
		t.Errorf("histograms hold %d + %d, counts say %d", service, miss, c.Answered()+c.TimedOut)
	}
	for _, h := range []*record.Histogram{res.Service, res.Response, res.SendLag, res.Miss} {
		if h != nil {
			if _, err := histogram.Decode(h); err != nil {
				t.Error(err)
			}
		}
	}
	inFlight := time.Duration(math.Round(*res.InFlightMean * float64(res.Window)))
	if got, want := inFlight+res.Overhang, sum(res.Service)+res.OtherTime; (got - want).Abs() > 10*time.Nanosecond {
		t.Errorf("requests were in flight for %v, their times add up to %v", got, want)
	}
	for _, s := range res.Slowest {
		if s.Intended > s.Sent || s.Sent > s.FirstByte || s.FirstByte > s.Done {
			t.Errorf("clocks out of order: %+v", s)
		}
	}
}

func sum(h *record.Histogram) time.Duration {
	if h == nil {
		return 0
	}
	return h.Sum
}

func TestClosedLoop(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		res, err := Run(t.Context(), s.spec(engine, getUser, getNone, postUser), nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		c := res.Counts
		if c.OK == 0 || c.Miss == 0 || c.Bad() != 0 || c.InWindow == 0 {
			t.Errorf("counts %+v, errors %v", c, res.Errors)
		}
		if got := s.accepted.Load(); got != 4 || res.Connections != 4 || res.NewDials != 0 {
			t.Errorf("server accepted %d connections, result says %d and %d new", got, res.Connections, res.NewDials)
		}
		if res.Response != nil || res.SendLag != nil {
			t.Error("a closed loop has no response time but its service time")
		}
		if res.Window != 300*time.Millisecond || res.Warmup != 50*time.Millisecond {
			t.Errorf("window %v, warm-up %v", res.Window, res.Warmup)
		}
		if len(res.Slowest) != keepSlowest {
			t.Errorf("%d slowest", len(res.Slowest))
		}
		if res.CPU.Total() <= 0 || res.BytesIn == 0 || res.BytesOut == 0 {
			t.Errorf("cpu %v, in %d, out %d", res.CPU, res.BytesIn, res.BytesOut)
		}
		if m := *res.InFlightMean; m <= 0 || m > 4 {
			t.Errorf("%v in flight on 4 connections", m)
		}
	})
}

func TestOpenLoop(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		spec := s.spec(engine, getUser)
		spec.Kind, spec.RatePerSec = record.Open, 500
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.Planned != 150 || res.Counts.OK != 150 { // 500/s x 0.3 s
			t.Errorf("counts %+v, errors %v", res.Counts, res.Errors)
		}
		if res.Response.Count != 150 || res.SendLag.Count != 150 || res.Response.Min < res.Service.Min {
			t.Errorf("response %+v service %+v", res.Response, res.Service)
		}
	})
}

func TestCountEndsTheWindow(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		spec := s.spec(engine, getUser)
		spec.Window, spec.Count = 0, 1000
		res, err := Run(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		conserved(t, res)
		if res.Counts.OK != 1000 || res.Counts.InWindow != 1000 || res.Window <= 0 {
			t.Errorf("counts %+v in %v", res.Counts, res.Window)
		}
	})
}

func TestEdges(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		var events []string
		_, err := Run(t.Context(), s.spec(engine, getUser), func(e string) error { events = append(events, e); return nil })
		if err != nil || strings.Join(events, " ") != "warm done" {
			t.Errorf("events %v, error %v", events, err)
		}
		stop := fmt.Errorf("stop")
		if res, err := Run(t.Context(), s.spec(engine, getUser), func(string) error { return stop }); err != stop || res != nil {
			t.Errorf("an edge that fails: result %v, error %v", res, err)
		}
	})
}

// C25: fast errors are not throughput.
func TestWrongAnswersEndTheRun(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		typo := getUser
		typo.Path = "/user/{id}"
		begin := time.Now()
		spec := s.spec(engine, typo)
		spec.Warmup, spec.Window = 0, time.Hour
		res, err := Run(t.Context(), spec, nil)
		if err == nil || !strings.Contains(err.Error(), "wrong status") {
			t.Fatalf("error %v after %v", err, time.Since(begin))
		}
		conserved(t, res)
		if res.Counts.Answered() != 0 || res.Errors[record.ErrStatus].Count == 0 || res.Service != nil {
			t.Errorf("counts %+v errors %v", res.Counts, res.Errors)
		}
	})
}

func TestUnreachable(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &server{Server: &httptest.Server{Listener: l}}
		spec := s.spec(engine, getUser)
		l.Close()
		if res, err := Run(t.Context(), spec, nil); err == nil || res != nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("result %v, error %v", res, err)
		}
	})
}

// A server that dies in the window ends the run at once.
func TestServerDies(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		for _, kind := range []record.Kind{record.Closed, record.Open} {
			s := serve(t, users())
			spec := s.spec(engine, getUser)
			spec.Kind, spec.Window = kind, time.Hour
			if kind == record.Open {
				spec.RatePerSec = 2000
			}
			res, err := Run(t.Context(), spec, func(e string) error {
				time.AfterFunc(50*time.Millisecond, func() { s.Listener.Close(); s.CloseClientConnections() })
				return nil
			})
			if err == nil || res == nil || res.Connections != 0 {
				t.Fatalf("%s: result %v, error %v", kind, res, err)
			}
			conserved(t, res)
		}
	})
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		ctx, cancel := context.WithCancel(t.Context())
		spec := s.spec(engine, getUser)
		spec.Window = time.Hour
		res, err := Run(ctx, spec, func(string) error { time.AfterFunc(100*time.Millisecond, cancel); return nil })
		if err == nil || res == nil {
			t.Fatalf("result %v, error %v", res, err)
		}
		conserved(t, res)
		if res.Counts.OK == 0 || res.Window > time.Minute {
			t.Errorf("counts %+v in %v", res.Counts, res.Window)
		}
	})
}
