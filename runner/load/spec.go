package load

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"time"

	"gonogo/runner/record"
)

// maxConnections is what one address of this machine has ports for.
const maxConnections = 60_000

// check refuses a specification that cannot be carried out.
func check(s *record.LoadSpec) error {
	bad := func(format string, a ...any) error { return fmt.Errorf("load specification: "+format, a...) }
	network, address := splitAddress(s.Address)
	if network == "tcp" {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return bad("address %q is not host:port", s.Address)
		}
	}
	switch {
	case s.Host == "" || strings.ContainsAny(s.Host, " \r\n"):
		return bad("host %q cannot be sent as a header", s.Host)
	case s.Connections < 1 || s.Connections > maxConnections:
		return bad("%d connections, want 1..%d", s.Connections, maxConnections)
	case s.Timeout <= 0:
		return bad("time-out %v, want more than 0", s.Timeout)
	case s.Warmup < 0 || s.Window < 0:
		return bad("warm-up %v and window %v must not be negative", s.Warmup, s.Window)
	case s.Window == 0 && s.Count == 0:
		return bad("neither a window nor a number of requests")
	case s.Window > 24*time.Hour || s.Warmup > time.Hour:
		return bad("warm-up %v, window %v: at most an hour and a day", s.Warmup, s.Window)
	case s.Workers < 0 || s.Worker < 0 || s.Worker >= max(s.Workers, 1):
		return bad("worker %d of %d, want 0..%d", s.Worker, s.Workers, max(s.Workers, 1)-1)
	}
	return checkKind(s)
}

func checkKind(s *record.LoadSpec) error {
	switch s.Kind {
	case record.Closed:
		if s.RatePerSec != 0 || s.Arrivals != "" {
			return errors.New("load specification: a closed loop has no rate")
		}
	case record.Open:
		if !(s.RatePerSec > 0) || math.IsInf(s.RatePerSec, 0) {
			return fmt.Errorf("load specification: rate %v per second, want more than 0", s.RatePerSec)
		}
		if s.Arrivals != "" && s.Arrivals != constant && s.Arrivals != poisson {
			return fmt.Errorf("load specification: arrivals %q, want %s or %s", s.Arrivals, constant, poisson)
		}
	default:
		return fmt.Errorf("load specification: kind %q, want %s or %s", s.Kind, record.Closed, record.Open)
	}
	return nil
}

// The ways in which requests of an open loop arrive.
const (
	constant = "constant"
	poisson  = "poisson"
)

// splitAddress tells a Unix socket (unix:/path) from host:port.
func splitAddress(a string) (network, address string) {
	if path, ok := strings.CutPrefix(a, "unix:"); ok {
		return "unix", path
	}
	return "tcp", a
}
