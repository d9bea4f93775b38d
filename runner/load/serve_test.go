package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// dialogue is the watcher's end of a generator.
type dialogue struct {
	t      *testing.T
	in     *io.PipeWriter
	events *json.Decoder
	ended  chan error
}

func startDialogue(t *testing.T, spec record.LoadSpec) *dialogue {
	in, toIn := io.Pipe()
	out, toOut := io.Pipe()
	d := &dialogue{t: t, in: toIn, events: json.NewDecoder(bufio.NewReader(out)), ended: make(chan error, 1)}
	ceiling := func(string) *float64 { c := 1e9; return &c }
	go func() { err := Serve(t.Context(), in, toOut, ceiling); toOut.Close(); d.ended <- err }()
	if err := json.NewEncoder(toIn).Encode(spec); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *dialogue) want(event string) record.LoadEvent {
	d.t.Helper()
	var e record.LoadEvent
	if err := d.events.Decode(&e); err != nil || e.Event != event {
		d.t.Fatalf("event %+v, %v, want %s", e, err, event)
	}
	return e
}

func TestHandshake(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		spec := s.spec(engine, getUser)
		spec.Handshake = true
		d := startDialogue(t, spec)
		d.want("warm")
		warm := time.Now()
		io.WriteString(d.in, "go\n")
		d.want("done")
		io.WriteString(d.in, "\n")
		res := d.want("result").Result
		if err := <-d.ended; err != nil || res.Start.Before(warm) || res.Counts.OK == 0 || res.CeilingPerSec == nil {
			t.Errorf("%v, %+v", err, res)
		}
		conserved(t, res)
	})
}

// A generator whose watcher has gone ends, in the window too.
func TestWatcherGone(t *testing.T) {
	onEngines(t, func(t *testing.T, engine string) {
		s := serve(t, users())
		spec := s.spec(engine, getUser)
		spec.Handshake, spec.Window = true, time.Hour
		d := startDialogue(t, spec)
		d.want("warm")
		io.WriteString(d.in, "go\n")
		d.in.Close()
		e := d.want("failed")
		if err := <-d.ended; !errors.Is(err, errAbandoned) || !strings.Contains(e.Error, "standard input ended") {
			t.Errorf("%v, %+v", err, e)
		}
	})
}

func TestServeRefuses(t *testing.T) {
	for _, text := range []string{"", "{", `{"kind":"closed"}`, `{"address":"127.0.0.1:1","host":"h","kind":"closed","connections":1,"window_ns":1,"timeout_ns":1,"requests":[]}`} {
		var out strings.Builder
		err := Serve(context.Background(), strings.NewReader(text+"\n"), &out, nil)
		if err == nil || !strings.Contains(out.String(), `"event":"failed"`) {
			t.Errorf("%q: %v, said %q", text, err, out.String())
		}
	}
}
