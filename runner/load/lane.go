package load

import (
	"time"
)

// lane is what both engines keep for a connection: the request on its way and
// the reader of its reply. A lane carries one request at a time.
type lane struct {
	x      exchange
	out    []byte // the request's bytes
	id     []byte // the request's id in decimal
	in     *reader
	bytes  int // received for this request
	stream *stream
	// freeAt is when the last reply ended or the connection was replaced,
	// dialledAt when it was replaced.
	freeAt, dialledAt time.Duration
}

func newLane(number int, s *stream, keep int) lane {
	return lane{
		x: exchange{connection: number}, stream: s, in: newReader(keep),
		out: make([]byte, 0, 512), id: make([]byte, 0, maxIDDigits),
	}
}

// load makes request number ready to be written.
func (l *lane) load(number uint64, intended time.Duration) {
	x := &l.x
	x.number, x.intended, x.first = number, intended, 0
	x.dialled = l.dialledAt > intended
	x.template, x.id = l.stream.at(number)
	l.id = appendID(l.id[:0], x.id)
	l.out = x.template.append(l.out[:0], l.id)
	l.in.reset(x.template.isHead)
	l.bytes = 0
}

// judge checks the complete reply.
func (l *lane) judge() *fault {
	if kind, text := l.x.template.check(l.in, l.id); kind != "" {
		return &fault{kind, l.name() + ": " + text}
	}
	return nil
}

// name is the request in words, for error examples.
func (l *lane) name() string {
	t := l.x.template
	return t.request.Method + " " + string(newPattern(t.request.Path).append(nil, l.id))
}

// reusable reports whether the connection may carry another request after a
// complete reply.
func (l *lane) reusable() bool { return !l.in.head.closes }

// blame adds the request to a fault, unless it names it already.
func (l *lane) blame(f *fault) *fault { return &fault{f.kind, l.name() + ": " + f.text} }

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
