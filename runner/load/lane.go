package load

import (
	"fmt"
	"time"

	"gonogo/runner/record"
)

// lane is what both engines keep for a connection: the request on its way. It
// carries one at a time.
type lane struct {
	x      exchange
	digits [maxIDDigits]byte // of the id
	n      int               // how many of them
	bytes  int               // received for this request
	ends   bool              // the server closes the connection behind its reply
	in     *reader           // of a reply that came in part, or nil
	stream *stream
	// freeAt is when the last reply ended or the connection was replaced,
	// dialledAt when it was replaced.
	freeAt, dialledAt time.Duration
}

func newLane(number int, s *stream) lane {
	return lane{x: exchange{connection: number}, stream: s}
}

// load makes request number ready to be written.
func (l *lane) load(number uint64, intended time.Duration) {
	x := &l.x
	x.number, x.intended, x.first = number, intended, 0
	x.dialled = l.dialledAt > intended
	x.template, x.id = l.stream.at(number)
	l.n = len(appendID(l.digits[:0], x.id))
	l.bytes, l.ends = 0, false
}

func (l *lane) id() []byte { return l.digits[:l.n] }

// size is the number of bytes of the request.
func (l *lane) size() int { return l.x.template.size[l.n] }

// render adds the request's bytes to dst.
func (l *lane) render(dst []byte) []byte { return l.x.template.append(dst, l.id()) }

// take feeds what was read into r's space at a time, 0 bytes being the end of
// the connection, and reports whether that ends the request: with a complete
// and right reply (no fault), or with a fault.
func (l *lane) take(r *reader, n int, woke, now time.Duration) (ended bool, f *fault) {
	l.x.done = now
	whole := false
	if n > 0 {
		if l.x.first == 0 {
			l.x.first = max(woke, l.x.sent)
		}
		l.bytes += n
		whole, f = r.feed(n)
	} else {
		whole, f = r.eof()
	}
	switch {
	case f != nil:
		l.ends = true
		return true, l.blame(f)
	case !whole:
		return false, nil
	}
	l.ends = r.head.closes
	if kind, text := l.x.template.check(r, l.id()); kind != "" {
		return true, l.blame(&fault{kind, text})
	}
	return true, nil
}

// blame adds the request to a fault.
func (l *lane) blame(f *fault) *fault {
	t := l.x.template
	path := newPattern(t.request.Path).append(nil, l.id())
	return &fault{f.kind, fmt.Sprintf("%s %s: %s", t.request.Method, path, f.text)}
}

// late is the fault of a request without a reply at its time-out, where it is
// taken to end.
func (l *lane) late(timeout time.Duration) *fault {
	l.ends = true
	l.x.done = l.x.sent + timeout
	return l.blame(&fault{record.ErrTimeout, fmt.Sprintf("no reply within %v, %d bytes of it came", timeout, l.bytes)})
}

// readers are the readers that no reply has in hand. A reply nearly always comes
// in one piece, so one reader serves all connections in turn, and its buffer
// stays in the processor's cache. It is not safe for concurrent use.
type readers struct {
	free []*reader
	keep int // length of the longest wanted body
}

// get is the lane's own reader, or a free one.
func (p *readers) get(l *lane) *reader {
	if l.in != nil {
		return l.in
	}
	var r *reader
	if n := len(p.free); n > 0 {
		r, p.free = p.free[n-1], p.free[:n-1]
	} else {
		r = newReader(p.keep)
	}
	r.reset(l.x.template.isHead)
	return r
}

// put takes a reader back, unless the reply is not whole.
func (p *readers) put(l *lane, r *reader, partial bool) {
	if partial {
		l.in = r
		return
	}
	l.in = nil
	p.free = append(p.free, r)
}

// drop takes back the reader of a reply that will not be whole.
func (p *readers) drop(l *lane) {
	if l.in != nil {
		p.put(l, l.in, false)
	}
}

// keepFor is the length of the longest wanted body, in bytes.
func keepFor(s *stream) (n int) {
	for _, t := range s.templates {
		if !t.anyBody {
			n = max(n, t.wantLength(maxIDDigits)+maxServerDigits)
		}
	}
	return n
}

// maxServerDigits is room for what {digits} may match.
const maxServerDigits = 20
