package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answered is a handler that says when it was asked.
type answered struct{ at time.Time }

func (a *answered) ServeHTTP(http.ResponseWriter, *http.Request) { a.at = time.Now() }

// A wait of d that begins at a whole millisecond ends at the next one after d, and the
// waits of a series begin where the one before has ended.
func TestDelay(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	for _, c := range []struct {
		setting, path string
		at            time.Duration // since a whole millisecond
		want          time.Duration
	}{
		{"", "/users/1", 0, 0},
		{"0", "/users/1", 0, 0},
		{"20", "/users/1", 0, 21 * ms},
		{"20", "/users/1", 400 * us, 20600 * us},
		{"20", "/users/1", 999 * us, 20001 * us},
		{"5+5+5", "/users", 0, 18 * ms},
		{"5+5+5", "/users", 400 * us, 17600 * us},
		{"5/5/5", "/users", 0, 6 * ms},
		{"50+100+150", "/", 0, 303 * ms},
		{"50/100/150", "/", 0, 151 * ms},
		{"20", "/healthz", 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) { // in it time stands still until all wait
			plain := &answered{}
			h, err := delayed(plain, c.setting)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.at)
			begun := time.Now()
			h.ServeHTTP(nil, httptest.NewRequest("GET", c.path, nil))
			if took := plain.at.Sub(begun); took != c.want {
				t.Errorf("DELAY_MS=%s, GET %s %v past a millisecond: waited %v, want %v", c.setting, c.path, c.at, took, c.want)
			}
		})
	}
}

func TestWithoutADelayNothingStandsBetween(t *testing.T) {
	plain := &answered{}
	for _, setting := range []string{"", "0"} {
		if h, err := delayed(plain, setting); err != nil || h != plain {
			t.Errorf("DELAY_MS=%s gives %T, %v", setting, h, err)
		}
	}
}

// The Node server is held to the same two lists, in runner/contract.
func TestDelaySettings(t *testing.T) {
	for _, s := range strings.Fields("1 900 900/900 450+450 " + strings.Repeat("1+", 15) + "1") {
		if _, err := parseDelay(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{"x", "-1", "+1", "1.5", "05", " 5", "5 ", "5ms", "1e2", "901", "450+451", "901/1", "0+5", "5+0", "0/0", "5+", "/5", "5++5", "5/5+5", "99999999999999999999", strings.Repeat("1/", 16) + "1"} {
		if d, err := parseDelay(s); err == nil {
			t.Errorf("%q is taken as %v", s, d)
		}
	}
}
