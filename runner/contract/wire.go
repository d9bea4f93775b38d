package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// conn is a raw client connection. A client library would mend bad requests and
// hide how a reply was framed; this one sends bytes and reads one reply at a
// time, by the letter.
type conn struct {
	net net.Conn
	buf []byte // received and not yet consumed
	off int    // buf[:off] belongs to the last reply
	err error  // why no more will come

	chunked bool // users come in chunks, and count as framed right only so
}

// maxReply bounds what a server can make us hold.
const maxReply = 1 << 20

func dial(ctx context.Context, address string) (*conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{net: c, buf: make([]byte, 0, 4096)}, nil
}

// send writes the pieces one by one. A short rest between them keeps the kernel
// from joining them, so that a server really sees the split.
func (c *conn) send(pieces []string, rest time.Duration) error {
	for i, p := range pieces {
		if i > 0 && rest > 0 {
			time.Sleep(rest)
		}
		if _, err := io.WriteString(c.net, p); err != nil {
			return err
		}
	}
	return nil
}

// field is a header line.
type field struct{ name, value string }

// reply is one whole answer. Its raw bytes are valid until the next is read.
type reply struct {
	raw       []byte // head and body as received, 100 Continue left out
	line      string // status line
	status    int
	header    []field
	headBytes int
	body      []byte // chunks joined
	framing   string // "Content-Length: 60", "Transfer-Encoding: chunked" or "until close"
	continues int    // how many 100 Continue came before it
}

// get gives the value of a header, and of several with one name all, joined.
func (r *reply) get(name string) string {
	value, found := "", false
	for _, f := range r.header {
		if strings.EqualFold(f.name, name) {
			if found {
				value += " | "
			}
			value += f.value
			found = true
		}
	}
	return value
}

// closes reports whether the server said that it ends the connection.
func (r *reply) closes() bool {
	v := r.get("Connection")
	if strings.EqualFold(v, "close") {
		return true
	}
	return strings.HasPrefix(r.line, "HTTP/1.0") && !strings.EqualFold(v, "keep-alive")
}

// errNoReply means that the connection ended before the first byte of a reply.
var errNoReply = errors.New("the connection ended without an answer")

// read reads one reply; bodiless is for the answer to HEAD, which has a length
// and no body. An error is a reply that is not HTTP/1.x by the letter.
func (c *conn) read(bodiless bool) (reply, error) {
	continues := 0
	for {
		c.buf = c.buf[:copy(c.buf, c.buf[c.off:])]
		c.off = 0
		r, err := c.readHead()
		if err != nil {
			return r, err
		}
		if r.status == 100 {
			c.off = r.headBytes
			continues++
			continue
		}
		r.continues = continues
		err = c.readBody(&r, bodiless)
		if c.chunked && !bodiless && (r.status == 200 || r.status == 201) {
			r.countChunks()
		}
		return r, err
	}
}

// countChunks puts in place of chunks the length that they add up to, and in place
// of a length that it is none.
func (r *reply) countChunks() {
	if r.framing == "Transfer-Encoding: chunked" {
		r.framing = "Content-Length: " + strconv.Itoa(len(r.body))
	} else {
		r.framing += ", not in chunks"
	}
}

// fill reads more and reports whether it did.
func (c *conn) fill() bool {
	if c.err != nil {
		return false
	}
	if len(c.buf) > maxReply {
		c.err = fmt.Errorf("a reply of more than %d bytes", maxReply)
		return false
	}
	if cap(c.buf)-len(c.buf) < 2048 {
		c.buf = append(make([]byte, 0, 2*cap(c.buf)+2048), c.buf...)
	}
	n, err := c.net.Read(c.buf[len(c.buf):cap(c.buf)])
	c.buf = c.buf[:len(c.buf)+n]
	c.err = err
	return n > 0
}

// ended turns the error of the connection into one of the reply.
func (c *conn) ended(where string) error {
	switch {
	case errors.Is(c.err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no more bytes in time, %s", where)
	case len(c.buf) == 0:
		return errNoReply
	case c.err == io.EOF:
		return fmt.Errorf("the connection ended %s", where)
	}
	return fmt.Errorf("the connection ended %s: %w", where, c.err)
}

var headEnd = []byte("\r\n\r\n")

func (c *conn) readHead() (reply, error) {
	end := bytes.Index(c.buf, headEnd)
	for ; end < 0; end = bytes.Index(c.buf, headEnd) {
		if !c.fill() {
			return reply{raw: c.buf}, c.ended("before the end of the head")
		}
	}
	r := reply{headBytes: end + len(headEnd)}
	r.raw = c.buf[:r.headBytes]
	lines := strings.Split(string(c.buf[:end]), "\r\n")
	r.line = lines[0]
	version, rest, _ := strings.Cut(r.line, " ")
	code, _, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(code)
	if err != nil || len(code) != 3 || status < 100 || version != "HTTP/1.1" && version != "HTTP/1.0" {
		return r, fmt.Errorf("bad status line %.80q", r.line)
	}
	r.status = status
	r.header = make([]field, 0, len(lines)-1)
	for _, l := range lines[1:] {
		name, value, found := strings.Cut(l, ":")
		if !found || name == "" || strings.ContainsAny(l, "\r\n\x00") || strings.ContainsAny(name, " \t") {
			return r, fmt.Errorf("bad header line %.80q", l)
		}
		r.header = append(r.header, field{name, strings.Trim(value, " \t")})
	}
	return r, nil
}

// readBody reads what the head announces.
func (c *conn) readBody(r *reply, bodiless bool) error {
	length, coding := r.get("Content-Length"), r.get("Transfer-Encoding")
	switch {
	case length != "" && coding != "":
		return fmt.Errorf("both Content-Length %q and Transfer-Encoding %q", length, coding)
	case length != "":
		r.framing = "Content-Length: " + length
	case coding != "":
		r.framing = "Transfer-Encoding: " + coding
	default:
		r.framing = "until close"
	}
	at := r.headBytes
	switch {
	case bodiless || r.status == 204 || r.status == 304:
	case length != "":
		n, err := strconv.ParseUint(length, 10, 31)
		if err != nil {
			return fmt.Errorf("bad Content-Length %q", length)
		}
		for len(c.buf) < at+int(n) {
			if !c.fill() {
				r.raw = c.buf
				return c.ended(fmt.Sprintf("after %d of %d bytes of the body", len(c.buf)-at, n))
			}
		}
		r.body = c.buf[at : at+int(n)]
		at += int(n)
	case coding != "":
		var err error
		if at, err = c.readChunks(r, at); err != nil {
			r.raw = c.buf
			return err
		}
	default:
		for c.fill() {
		}
		r.body = c.buf[at:]
		at = len(c.buf)
	}
	r.raw = c.buf[:at]
	c.off = at
	return nil
}

// readChunks joins the chunks of a reply and gives the offset of its end.
func (c *conn) readChunks(r *reply, at int) (int, error) {
	line := func() (string, error) {
		for {
			if i := bytes.Index(c.buf[at:], []byte("\r\n")); i >= 0 {
				l := string(c.buf[at : at+i])
				at += i + 2
				return l, nil
			}
			if !c.fill() {
				return "", c.ended("inside a chunked body")
			}
		}
	}
	for {
		l, err := line()
		if err != nil {
			return at, err
		}
		n, err := strconv.ParseUint(l, 16, 31)
		if err != nil {
			return at, fmt.Errorf("bad chunk size %.40q", l)
		}
		for len(c.buf) < at+int(n)+2 {
			if !c.fill() {
				return at, c.ended("inside a chunk")
			}
		}
		r.body = append(r.body, c.buf[at:at+int(n)]...)
		at += int(n)
		if string(c.buf[at:at+2]) != "\r\n" {
			return at, errors.New("a chunk is longer than its size")
		}
		at += 2
		if n == 0 {
			return at, nil // trailers are not read: neither server sends any
		}
	}
}

// rest reads until the connection ends and gives what came. It is an error when
// the connection stays open, and none when it is reset.
func (c *conn) rest() ([]byte, error) {
	for c.fill() {
	}
	extra := c.buf[c.off:]
	if errors.Is(c.err, os.ErrDeadlineExceeded) {
		return extra, errors.New("the connection stays open")
	}
	return extra, nil
}
