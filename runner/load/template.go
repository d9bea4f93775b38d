package load

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonogo/runner/record"
)

// pattern is text with holes: an id stands between each two neighbours.
type pattern [][]byte

func newPattern(text string) pattern {
	var p pattern
	for _, literal := range strings.Split(text, "{id}") {
		p = append(p, []byte(literal))
	}
	return p
}

func (p pattern) holes() int { return len(p) - 1 }

// fixed is the number of bytes without the ids.
func (p pattern) fixed() int {
	n := 0
	for _, literal := range p {
		n += len(literal)
	}
	return n
}

func (p pattern) append(dst, id []byte) []byte {
	dst = append(dst, p[0]...)
	for _, literal := range p[1:] {
		dst = append(dst, id...)
		dst = append(dst, literal...)
	}
	return dst
}

// match reports whether b is the pattern with this id in it.
func (p pattern) match(b, id []byte) bool {
	for i, literal := range p {
		if i > 0 {
			if len(b) < len(id) || string(b[:len(id)]) != string(id) {
				return false
			}
			b = b[len(id):]
		}
		if len(b) < len(literal) || string(b[:len(literal)]) != string(literal) {
			return false
		}
		b = b[len(literal):]
	}
	return len(b) == 0
}

// maxIDDigits is enough for every id of 32 bits.
const maxIDDigits = 10

// template is a record.Request made ready to be sent and its reply to be
// checked without an allocation.
type template struct {
	request record.Request
	// wire is the whole request by the number of digits of the id, because
	// Content-Length depends on it.
	wire   [maxIDDigits + 1]pattern
	size   [maxIDDigits + 1]int // its bytes
	usesID bool
	isHead bool // a reply to HEAD has no body whatever its headers say
	miss   bool // 404 is expected: kept in a histogram of its own

	status        int // wanted; 0: any 2xx
	anyBody       bool
	before, after pattern // the wanted body; between them stand digits if there are any
	digits        bool
}

// newTemplate refuses what would break the framing of HTTP/1.1.
func newTemplate(r record.Request, host string) (*template, error) {
	if err := checkRequest(r); err != nil {
		return nil, fmt.Errorf("request %s %s: %w", r.Method, r.Path, err)
	}
	t := &template{
		request: r, isHead: r.Method == "HEAD", miss: r.WantStatus == 404,
		status: r.WantStatus, anyBody: r.WantBody == "",
		usesID: strings.Contains(r.Path+r.Body+r.WantBody, "{id}"),
	}
	before, after, digits := strings.Cut(r.WantBody, "{digits}")
	if strings.Contains(after, "{digits}") {
		return nil, fmt.Errorf("request %s %s: wanted body holds {digits} twice", r.Method, r.Path)
	}
	t.before, t.after, t.digits = newPattern(before), newPattern(after), digits
	for d := range t.wire {
		t.wire[d] = newPattern(requestText(r, host, d))
		t.size[d] = t.wire[d].fixed() + t.wire[d].holes()*d
	}
	return t, nil
}

func checkRequest(r record.Request) error {
	if r.Method == "" || strings.ContainsFunc(r.Method, func(c rune) bool { return c < 'A' || c > 'Z' }) {
		return errors.New("method must be capital letters")
	}
	if !strings.HasPrefix(r.Path, "/") || strings.ContainsFunc(r.Path, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return errors.New("path must begin with / and hold printable ASCII without blanks")
	}
	for name, value := range r.Header {
		if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == ':' }) ||
			strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("header %q cannot be sent", name)
		}
		switch strings.ToLower(name) {
		case "host", "content-length", "transfer-encoding":
			return fmt.Errorf("header %s is set by the generator", name)
		}
	}
	if strings.Contains(r.Path+r.Body, "{digits}") {
		return errors.New("{digits} stands in a wanted body only")
	}
	if r.WantStatus != 0 && (r.WantStatus < 200 || r.WantStatus > 599) {
		return fmt.Errorf("wanted status %d is outside 200..599", r.WantStatus)
	}
	if r.Weight < 0 {
		return fmt.Errorf("weight %d is negative", r.Weight)
	}
	return nil
}

// requestText is the request for ids of d digits, with {id} in place of each.
func requestText(r record.Request, host string, d int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Path, host)
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %s\r\n", name, r.Header[name])
	}
	if r.Body != "" || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		body := newPattern(r.Body)
		fmt.Fprintf(&b, "Content-Length: %d\r\n", body.fixed()+body.holes()*d)
	}
	b.WriteString("\r\n")
	b.WriteString(r.Body)
	return b.String()
}

// append adds the request's bytes to dst.
func (t *template) append(dst, id []byte) []byte {
	return t.wire[len(id)].append(dst, id)
}

// wantLength is the length of the wanted body, or the least when it holds digits.
func (t *template) wantLength(idDigits int) int {
	n := t.before.fixed() + t.after.fixed() + (t.before.holes()+t.after.holes())*idDigits
	if t.digits {
		n++
	}
	return n
}

// check compares a complete reply with what was wanted. It returns the kind of
// error and a text that tells what came, or "" and "".
func (t *template) check(r *reader, id []byte) (kind, text string) {
	if t.status == 0 && r.head.status/100 != 2 || t.status != 0 && r.head.status != t.status {
		want := "2xx"
		if t.status != 0 {
			want = strconv.Itoa(t.status)
		}
		return record.ErrStatus, fmt.Sprintf("status %d, want %s: %s", r.head.status, want, excerpt(r.body()))
	}
	if t.anyBody || t.isHead {
		return "", ""
	}
	body, want := r.body(), t.wantLength(len(id))
	if int(r.length) < want || int(r.length) > want && !t.digits {
		return record.ErrLength, fmt.Sprintf("body of %d bytes, want %d: %s", r.length, want, excerpt(body))
	}
	if !t.matches(body, id) || len(body) != int(r.length) {
		return record.ErrBody, fmt.Sprintf("body %s, want %s", excerpt(body), excerpt(t.example(id)))
	}
	return "", ""
}

func (t *template) matches(body, id []byte) bool {
	if !t.digits {
		return t.before.match(body, id)
	}
	// The digits are what the two ends leave over.
	from := t.before.fixed() + t.before.holes()*len(id)
	to := len(body) - t.after.fixed() - t.after.holes()*len(id)
	if from >= to || !t.before.match(body[:from], id) || !t.after.match(body[to:], id) {
		return false
	}
	for _, c := range body[from:to] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// example is a body that would have matched.
func (t *template) example(id []byte) []byte {
	b := t.before.append(nil, id)
	if t.digits {
		b = append(b, "{digits}"...)
	}
	return t.after.append(b, id)
}

// excerpt quotes the beginning of what a server sent, for an error example.
func excerpt(b []byte) string {
	const most = 120
	if len(b) > most {
		return strconv.QuoteToASCII(string(bytes.ToValidUTF8(b[:most], []byte("?")))) + "..."
	}
	return strconv.QuoteToASCII(string(b))
}
