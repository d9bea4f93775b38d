package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What a request may wait: a stop cuts after a second what is still in flight.
const (
	maxWaits = 16
	maxDelay = 900 * time.Millisecond
)

// delay stands for the services that a handler asks before it can answer: a timer for
// each, 5 for one of 5 ms, 5+5+5 for three one after the other, 5/5/5 for three at once.
type delay struct {
	waits    []time.Duration
	parallel bool
}

// delayed makes every request but GET /healthz wait. Without a delay it gives back what
// it was given: the plain server runs no line of this file.
func delayed(next http.Handler, setting string) (http.Handler, error) {
	d, err := parseDelay(setting)
	if err != nil || d.waits == nil {
		return next, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != "/healthz" {
			d.wait()
		}
		next.ServeHTTP(w, r)
	}), nil
}

func parseDelay(setting string) (d delay, err error) {
	if setting == "" || setting == "0" {
		return delay{}, nil
	}
	separator := "+"
	if d.parallel = strings.Contains(setting, "/"); d.parallel {
		separator = "/"
	}
	var total time.Duration
	for _, text := range strings.Split(setting, separator) {
		ms, err := strconv.ParseUint(text, 10, 16)
		wait := time.Duration(ms) * time.Millisecond
		if d.waits = append(d.waits, wait); d.parallel {
			total = max(total, wait)
		} else {
			total += wait
		}
		if err != nil || text != strconv.FormatUint(ms, 10) || ms == 0 || total > maxDelay || len(d.waits) > maxWaits {
			return delay{}, fmt.Errorf("DELAY_MS must be like 5, 5+5+5 or 5/5/5: whole milliseconds, %d waits and %d ms at most", maxWaits, maxDelay.Milliseconds())
		}
	}
	return d, nil
}

func (d delay) wait() {
	if !d.parallel {
		for _, w := range d.waits {
			pause(w)
		}
		return
	}
	var all sync.WaitGroup
	for _, w := range d.waits {
		all.Go(func() { pause(w) })
	}
	all.Wait()
}

// pause waits for d and on to the next whole millisecond of the clock, so for up to one
// more. A Node process that works has timers no finer than that: with finer ones here a
// wait of 1 ms would not be the same wait on both sides, and it is not timers that are
// compared.
func pause(d time.Duration) {
	time.Sleep(d + time.Millisecond - time.Duration(time.Now().Nanosecond())%time.Millisecond)
}
