package load

import (
	"bytes"
	"errors"
	"fmt"
)

// maxHead bounds the status line and headers of a reply.
const maxHead = 16 << 10

// head is what the head of a reply says about the reply.
type head struct {
	status  int
	length  int64 // Content-Length, or -1
	chunked bool
	closes  bool // the connection ends with this reply
	old     bool // HTTP/1.0
	size    int  // bytes of the head, its blank line included
}

// parseHead reads the head at the front of b. A size of 0 without an error
// means that b ends before the head does.
//
// It is stricter than net/http where leniency would hide a server's fault: no
// folded lines, no Content-Length beside Transfer-Encoding.
func parseHead(b []byte) (head, error) {
	line, rest, whole := cutLine(b)
	if !whole {
		return head{}, checkPartialHead(b)
	}
	h := head{length: -1}
	if err := h.statusLine(line); err != nil {
		return head{}, err
	}
	for {
		line, rest, whole = cutLine(rest)
		switch {
		case !whole && len(b) >= maxHead:
			return head{}, fmt.Errorf("head of more than %d bytes", maxHead)
		case !whole:
			return head{}, nil
		case len(line) == 0:
			h.size = len(b) - len(rest)
			if h.chunked && (h.length >= 0 || h.old) {
				return head{}, errors.New("Transfer-Encoding beside Content-Length or in HTTP/1.0")
			}
			if h.size > maxHead {
				return head{}, fmt.Errorf("head of more than %d bytes", maxHead)
			}
			return h, nil
		}
		if err := h.field(line); err != nil {
			return head{}, err
		}
	}
}

// checkPartialHead refuses at once what cannot become a status line, so that
// something that is not HTTP is not waited for.
func checkPartialHead(b []byte) error {
	const prefix = "HTTP/1."
	n := min(len(b), len(prefix))
	if string(b[:n]) != prefix[:n] {
		return fmt.Errorf("not an HTTP/1 reply: %s", excerpt(b))
	}
	if len(b) >= maxHead {
		return fmt.Errorf("head of more than %d bytes", maxHead)
	}
	return nil
}

// cutLine splits b after its first line and drops the line's end.
func cutLine(b []byte) (line, rest []byte, whole bool) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil, b, false
	}
	line, rest = b[:i], b[i+1:]
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	return line, rest, true
}

// statusLine reads "HTTP/1.1 200 OK".
func (h *head) statusLine(l []byte) error {
	if len(l) < 12 || string(l[:7]) != "HTTP/1." || l[7] != '0' && l[7] != '1' || l[8] != ' ' || len(l) > 12 && l[12] != ' ' {
		return fmt.Errorf("status line %s", excerpt(l))
	}
	for _, c := range l[9:12] {
		if c < '0' || c > '9' {
			return fmt.Errorf("status line %s", excerpt(l))
		}
		h.status = 10*h.status + int(c-'0')
	}
	if h.status < 100 {
		return fmt.Errorf("status line %s", excerpt(l))
	}
	h.old = l[7] == '0'
	h.closes = h.old
	return nil
}

// field reads one header line.
func (h *head) field(l []byte) error {
	colon := bytes.IndexByte(l, ':')
	if colon < 1 {
		return fmt.Errorf("header line %s", excerpt(l))
	}
	name, value := l[:colon], bytes.Trim(l[colon+1:], " \t")
	for _, c := range name {
		if !isToken[c] {
			return fmt.Errorf("header line %s", excerpt(l))
		}
	}
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("header line %s", excerpt(l))
		}
	}
	switch {
	case equalFold(name, "content-length"):
		return h.contentLength(value)
	case equalFold(name, "transfer-encoding"):
		if h.chunked || !equalFold(value, "chunked") {
			return fmt.Errorf("transfer encoding %s", excerpt(value))
		}
		h.chunked = true
	case equalFold(name, "connection"):
		for token := range bytes.SplitSeq(value, []byte(",")) {
			switch token = bytes.Trim(token, " \t"); {
			case equalFold(token, "close"):
				h.closes = true
			case equalFold(token, "keep-alive"):
				h.closes = false
			}
		}
	}
	return nil
}

func (h *head) contentLength(value []byte) error {
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' || n > 1<<50 {
			return fmt.Errorf("content length %s", excerpt(value))
		}
		n = 10*n + int64(c-'0')
	}
	if len(value) == 0 || h.length >= 0 && h.length != n {
		return fmt.Errorf("content length %s", excerpt(value))
	}
	h.length = n
	return nil
}

// equalFold compares ASCII without regard to case; want is in lower case.
func equalFold(b []byte, want string) bool {
	if len(b) != len(want) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

// isToken marks the characters of a header name (RFC 9110, section 5.6.2).
var isToken = func() (t [256]bool) {
	for c := '0'; c <= 'z'; c++ {
		t[c] = c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a'
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()
