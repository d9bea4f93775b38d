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

// ErrSpec is in every error of a specification that cannot be carried out,
// ErrConnect in every error that came before a request was sent.
var (
	ErrSpec    = errors.New("load specification")
	ErrConnect = errors.New("connect")
)

// maxConnections is what one address of this machine has ports for.
const maxConnections = 60_000

// maxIntervals bounds the memory that histograms of each second take: some 0.3 MB
// a second.
const maxIntervals = 10 * time.Minute

// check refuses a specification that cannot be carried out.
func check(s *record.LoadSpec) error {
	bad := func(format string, a ...any) error { return fmt.Errorf("%w: "+format, append([]any{ErrSpec}, a...)...) }
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
	case s.Intervals && s.Window > maxIntervals:
		return bad("a histogram of each second needs a window of at most %v, or a number of requests", maxIntervals)
	case s.Workers < 0 || s.Worker < 0 || s.Worker >= max(s.Workers, 1):
		return bad("worker %d of %d, want 0..%d", s.Worker, s.Workers, max(s.Workers, 1)-1)
	case s.StartAt != nil && time.Until(*s.StartAt) < s.Warmup:
		return bad("start at %v with a warm-up of %v: it is %v now, and the others would begin without this worker",
			s.StartAt.Format(time.RFC3339), s.Warmup, time.Now().UTC().Format(time.RFC3339))
	}
	return checkKind(s)
}

func checkKind(s *record.LoadSpec) error {
	switch s.Kind {
	case record.Closed:
		if s.RatePerSec != 0 || s.Arrivals != "" {
			return fmt.Errorf("%w: a closed loop has no rate", ErrSpec)
		}
	case record.Open:
		if !(s.RatePerSec > 0) || math.IsInf(s.RatePerSec, 0) {
			return fmt.Errorf("%w: rate %v per second, want more than 0", ErrSpec, s.RatePerSec)
		}
		if s.Arrivals != "" && s.Arrivals != constant && s.Arrivals != poisson {
			return fmt.Errorf("%w: arrivals %q, want %s or %s", ErrSpec, s.Arrivals, constant, poisson)
		}
	default:
		return fmt.Errorf("%w: kind %q, want %s or %s", ErrSpec, s.Kind, record.Closed, record.Open)
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
