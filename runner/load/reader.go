package load

import (
	"fmt"

	"gonogo/runner/record"
)

// spill is the space that is always left to read into: what comes beyond the
// kept part of a body is counted there and dropped.
const spill = 16 << 10

// maxInterim bounds the 1xx replies before a reply.
const maxInterim = 8

// fault is an error with its kind.
type fault struct {
	kind string
	text string
}

func (f *fault) Error() string { return f.kind + ": " + f.text }

func malformed(err error) *fault { return &fault{record.ErrMalformed, err.Error()} }

// reader takes one HTTP/1.1 reply apart, in whatever pieces it arrives. It
// owns the buffer that the pieces are read into, does no I/O and allocates
// nothing while replies are well-formed.
type reader struct {
	buf   []byte
	limit int // where the kept part of a reply ends in buf

	at      int   // end of what is kept in buf
	head    head  // size 0 until it is complete
	length  int64 // of the body so far, kept or not
	noBody  bool  // the reply answers a HEAD
	interim int
	chunk   chunkState

	// A server's heads are alike but for the date: one that equals the last to
	// the byte means the same, and need not be parsed again.
	last     head
	lastText [512]byte
}

// newReader returns a reader that keeps bodies up to the given length.
func newReader(keep int) *reader {
	limit := maxHead + keep
	return &reader{buf: make([]byte, limit+spill), limit: limit}
}

// reset makes ready for the next reply.
func (r *reader) reset(noBody bool) {
	r.at, r.head.size, r.length, r.noBody, r.interim = 0, 0, 0, noBody, 0
	r.chunk = chunkState{}
}

// space is where the next piece is to be read to. It is never empty.
func (r *reader) space() []byte { return r.buf[r.at:] }

// begun reports whether any byte of the reply has come.
func (r *reader) begun() bool { return r.at > 0 || r.interim > 0 }

// body is the part of the body that was kept.
func (r *reader) body() []byte { return r.buf[r.head.size:r.at] }

// feed takes the n bytes that were read into space and reports whether the
// reply is complete.
func (r *reader) feed(n int) (bool, *fault) {
	if r.head.size == 0 {
		r.at += n
		return r.feedHead()
	}
	return r.feedBody(r.buf[r.at : r.at+n])
}

func (r *reader) feedHead() (bool, *fault) {
	for {
		h, err := r.parse()
		if err != nil {
			return false, malformed(err)
		}
		if h.size == 0 {
			return false, nil
		}
		if h.status/100 == 1 {
			r.interim++
			if h.status == 101 || r.interim > maxInterim {
				return false, malformed(fmt.Errorf("status %d, reply %d before the answer", h.status, r.interim))
			}
			r.at = copy(r.buf, r.buf[h.size:r.at])
			continue
		}
		r.head = h
		rest := r.buf[h.size:r.at]
		r.at = h.size
		switch {
		case r.noBody || h.status == 204 || h.status == 304:
			r.head.chunked, r.head.length = false, 0
		case h.length < 0 && !h.chunked:
			r.head.closes = true // the body ends with the connection
		}
		return r.feedBody(rest)
	}
}

// parse is parseHead with the memory of the last head.
func (r *reader) parse() (head, error) {
	b := r.buf[:r.at]
	if n := r.last.size; n > 0 && len(b) >= n && string(b[:n]) == string(r.lastText[:n]) {
		return r.last, nil
	}
	h, err := parseHead(b)
	if err == nil && h.size > 0 && h.size <= len(r.lastText) {
		r.last = h
		copy(r.lastText[:], b[:h.size])
	}
	return h, err
}

// feedBody takes bytes of the body, which lie in buf at or behind r.at.
func (r *reader) feedBody(b []byte) (bool, *fault) {
	if r.head.chunked {
		return r.feedChunks(b)
	}
	r.keep(b)
	switch {
	case r.head.length < 0 || r.length < r.head.length:
		return false, nil
	case r.length > r.head.length:
		extra := r.length - r.head.length
		r.at = min(r.at, r.head.size+int(r.head.length))
		r.length = r.head.length
		return false, malformed(fmt.Errorf("%d bytes after the end of the reply", extra))
	}
	return true, nil
}

// keep moves bytes of the body to the end of what is kept, as far as there is room.
func (r *reader) keep(b []byte) {
	r.length += int64(len(b))
	r.at += copy(r.buf[r.at:r.limit], b)
}

// eof tells the reader that the connection has ended.
func (r *reader) eof() (bool, *fault) {
	switch {
	case r.head.size > 0 && r.head.length < 0 && !r.head.chunked:
		return true, nil
	case !r.begun():
		return false, &fault{record.ErrClosed, "connection closed before a reply"}
	case r.head.size == 0:
		return false, &fault{record.ErrTruncated, "connection closed in the head: " + excerpt(r.buf[:r.at])}
	case r.head.chunked:
		return false, &fault{record.ErrTruncated, fmt.Sprintf("connection closed in a chunked body after %d bytes", r.length)}
	}
	return false, &fault{record.ErrTruncated, fmt.Sprintf("connection closed after %d of %d bytes of the body", r.length, r.head.length)}
}
