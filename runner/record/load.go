package record

import "time"

// LoadSpec is all that a generator process is told: plan in, record out.
type LoadSpec struct {
	Address     string        `json:"address"` // host:port, or unix:/path
	Host        string        `json:"host"`    // value of the Host header
	Requests    []Request     `json:"requests"`
	IDs         int           `json:"ids"`  // {id} is drawn from 1..IDs; 0 when no request uses it
	Seed        uint64        `json:"seed"` // request i is the same for every target: it depends on Seed and i alone
	Kind        Kind          `json:"kind"` // closed or open
	Connections int           `json:"connections"`
	RatePerSec  float64       `json:"rate_per_sec,omitempty"`
	Arrivals    string        `json:"arrivals,omitempty"` // constant or poisson
	Warmup      time.Duration `json:"warmup_ns"`
	Window      time.Duration `json:"window_ns"`
	Count       uint64        `json:"count,omitempty"` // stop after so many requests instead of at Window
	Timeout     time.Duration `json:"timeout_ns"`
	Slice       time.Duration `json:"slice_ns,omitempty"` // length of the Timeline's slices; 0 counts as 1 s
	Engine      string        `json:"engine,omitempty"`   // epoll or net; "" takes the platform's default
	NewConns    bool          `json:"new_connections,omitempty"`
	// LaxPacing: the generator's own delays void nothing, for it shares its CPUs with
	// the server or no latency of the run is used. They are reported all the same.
	LaxPacing bool `json:"lax_pacing,omitempty"`
	// LaxDuty: the time that the generator takes between two requests of a connection
	// voids nothing. Of a few connections it is a part of every cycle, which is reported.
	LaxDuty   bool       `json:"lax_duty,omitempty"`
	Worker    int        `json:"worker,omitempty"`  // this is worker k of Workers: sends every i with i mod Workers = k
	Workers   int        `json:"workers,omitempty"` // 0 counts as 1
	StartAt   *time.Time `json:"start_at,omitempty"`
	Intervals bool       `json:"intervals,omitempty"` // keep a histogram of each second too
	// Handshake makes the process print a LoadEvent and wait for a line on
	// stdin before the window and after it, so that whoever watches the server
	// can read its accounts at both edges.
	Handshake bool `json:"handshake,omitempty"`
}

// LoadEvent is a line that a generator with Handshake prints on stdout. After
// "warm" it waits for a line before it opens the window, after "done" for a line
// before it closes its connections; then it prints "result" and exits.
type LoadEvent struct {
	Event  string      `json:"event"` // warm, done, result, failed
	Error  string      `json:"error,omitempty"`
	Hint   string      `json:"hint,omitempty"`
	Result *LoadResult `json:"result,omitempty"`
}

// LoadResult is what one generator process measured in its window.
type LoadResult struct {
	Engine      string    `json:"engine"`
	Kind        Kind      `json:"kind"`
	Connections int       `json:"connections"` // established, against LoadSpec.Connections asked
	NewDials    int       `json:"new_dials"`   // dials inside the window; 0 when connections are kept
	Start       time.Time `json:"start"`
	// StartMonotonic is Start on CLOCK_MONOTONIC, to lay the run beside Hiccups.
	StartMonotonic *Nanos `json:"start_monotonic_ns,omitempty"`
	// Window is the time that was really measured, first edge to last.
	Window time.Duration        `json:"window_ns"`
	Warmup time.Duration        `json:"warmup_ns"`
	Counts Counts               `json:"counts"`
	Errors map[string]ErrorKind `json:"errors_by_kind,omitempty"`
	// Response is done - intended, Service done - sent. In a closed loop a
	// request is intended when it is sent, and Response is absent.
	Response *Histogram `json:"response,omitempty"`
	Service  *Histogram `json:"service,omitempty"`
	SendLag  *Histogram `json:"send_lag,omitempty"` // open loop: sent - intended
	// Pacing is the part of SendLag that is the generator's own: sent - the moment
	// from which it could have been sent, which is when it was intended or, if all
	// connections were busy then, when the first of them was free.
	Pacing *Histogram `json:"pacing,omitempty"`
	// PoolWaits is how many requests found all connections busy when intended.
	PoolWaits uint64 `json:"pool_waits,omitempty"`
	// SentInTime is how many requests of an open loop were sent before the window closed.
	SentInTime uint64 `json:"sent_in_time,omitempty"`
	// OtherTime is what requests without a place in Service spent between send and
	// end, Overhang what all requests spent so behind the window's second edge:
	// Window x InFlightMean + Overhang = Service.Sum + OtherTime, exactly.
	OtherTime time.Duration `json:"other_time_ns,omitempty"`
	Overhang  time.Duration `json:"overhang_ns,omitempty"`
	// Miss is of requests whose expected status is 404, kept apart: service time in
	// a closed loop, response time in an open one.
	Miss     *Histogram `json:"miss,omitempty"`
	Timeline []Slice    `json:"timeline,omitempty"` // slices of warm-up and window, each as long as LoadSpec.Slice
	// Intervals are the histograms of each second of the window in which replies
	// came, by the time of the reply, if LoadSpec.Intervals asked for them.
	Intervals []Interval `json:"intervals,omitempty"`
	Slowest   []Slow     `json:"slowest,omitempty"` // the 64 slowest, slowest first
	CPU       CPUTime    `json:"generator_cpu"`     // of the generator process, window only
	CPUs      int        `json:"generator_cpus"`    // how many its engine can use at once
	GCPause   Nanos      `json:"gc_pause_ns"`       // generator's stop-the-world pauses in the window, sum
	GCCount   uint32     `json:"gc_count"`
	// Pauses are the times in which the generator's own loop did not run though it was
	// due, longer than 1 ms, and PauseMax the longest; both absent where the engine
	// has no loop that could tell.
	Pauses   []Pause `json:"pauses,omitempty"`
	PauseMax *Nanos  `json:"pause_max_ns,omitempty"`
	BytesOut uint64  `json:"bytes_out"`
	BytesIn  uint64  `json:"bytes_in"`
	// InFlightMean is the time-weighted mean number of requests between their
	// send and their reply, for Little's law.
	InFlightMean *float64 `json:"in_flight_mean,omitempty"`
	// Ceiling is this machine's calibrated rate against the null server, if known.
	CeilingPerSec *float64 `json:"ceiling_per_sec,omitempty"`
	Checks        []Check  `json:"checks,omitempty"`
}

// Nanos is an integer count of nanoseconds.
type Nanos = time.Duration

// Counts obey Planned = OK + Miss + Failed + TimedOut + Unfinished.
type Counts struct {
	Planned    uint64 `json:"planned"`    // due in the window (open) or sent in it (closed)
	OK         uint64 `json:"ok"`         // expected status, length and body
	Miss       uint64 `json:"miss"`       // expected 404, answered so
	Failed     uint64 `json:"failed"`     // any error but a time-out
	TimedOut   uint64 `json:"timed_out"`  //
	Unfinished uint64 `json:"unfinished"` // given up when the run was cut short
	// InWindow counts OK and Miss replies that arrived before the window closed;
	// the rest of them came while draining. A rate is InWindow / Window.
	InWindow uint64 `json:"in_window"`
}

// Answered is the number of right answers.
func (c Counts) Answered() uint64 { return c.OK + c.Miss }

// Bad is the number of requests that got no right answer.
func (c Counts) Bad() uint64 { return c.Failed + c.TimedOut + c.Unfinished }

// ErrorKind counts one kind of failure and keeps the first as an example.
type ErrorKind struct {
	Count   uint64 `json:"count"`
	Example string `json:"example"`
}

// The kinds of error a generator tells apart.
const (
	ErrStatus    = "wrong status"
	ErrLength    = "wrong length"
	ErrBody      = "wrong body"
	ErrTruncated = "truncated"
	ErrMalformed = "malformed reply"
	ErrReset     = "reset"
	ErrClosed    = "closed by server"
	ErrRefused   = "refused"
	ErrTimeout   = "timeout"
	ErrFiles     = "no descriptors"
	ErrPorts     = "no local port"
	ErrDial      = "dial"
	ErrOther     = "other"
)

// Histogram is an HdrHistogram of nanoseconds with exact ends.
type Histogram struct {
	Count uint64        `json:"count"`
	Min   time.Duration `json:"min_ns"`  // exact
	Max   time.Duration `json:"max_ns"`  // exact
	Sum   time.Duration `json:"sum_ns"`  // exact
	Mean  time.Duration `json:"mean_ns"` // Sum / Count, rounded down
	V2    string        `json:"hdr_v2"`  // HdrHistogram V2 compressed, base64
}

// Slice is a part of a run, one second or what LoadSpec.Slice says.
type Slice struct {
	Start  time.Duration `json:"start_ns"` // from the window's first edge; negative in the warm-up
	Length time.Duration `json:"length_ns"`
	Right  uint64        `json:"right"` // right answers that arrived in it
	Bad    uint64        `json:"bad"`
	Max    time.Duration `json:"max_ns"` // largest latency that ended in it: response in an open loop, service in a closed one
}

// Interval is what ended in one second of a window; a reply that was drained is
// in the last.
type Interval struct {
	Start    time.Duration `json:"start_ns"`
	Length   time.Duration `json:"length_ns"`
	Response *Histogram    `json:"response,omitempty"` // open loop
	Service  *Histogram    `json:"service,omitempty"`
}

// LoadRecord is what a generator run by itself prints: what was asked and what
// came of it. Records of the workers of one plan can be merged.
type LoadRecord struct {
	SchemaVersion int        `json:"schema_version"`
	Kit           string     `json:"kit"`
	Spec          LoadSpec   `json:"spec"`
	Result        LoadResult `json:"result"`
	Error         string     `json:"error,omitempty"` // why the run ended before its time
}

// Slow is one slow request, its four clocks counted from the window's first edge.
type Slow struct {
	Request    uint64        `json:"request"`
	Connection int           `json:"connection"`
	Intended   time.Duration `json:"intended_ns"`
	Sent       time.Duration `json:"sent_ns"`
	FirstByte  time.Duration `json:"first_byte_ns"`
	Done       time.Duration `json:"done_ns"`
	Dialled    bool          `json:"dialled,omitempty"` // a dial lies between intended and done
}

// Pause is a time in which nothing went on, from the window's first edge.
type Pause struct {
	Start  time.Duration `json:"start_ns"`
	Length time.Duration `json:"length_ns"`
}

// CPUTime is processor time used.
type CPUTime struct {
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`
}

// Total is user and system time together.
func (c CPUTime) Total() time.Duration { return c.User + c.System }

// Check is one thing a measurement was held against.
type Check struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Void     bool   `json:"void,omitempty"`    // a failed check voids the run
	Unknown  bool   `json:"unknown,omitempty"` // this system does not tell; then OK is false and Void too
	Observed string `json:"observed"`
	Limit    string `json:"limit"`
}
