package contract

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// value is what the contract needs to know of a member of an object.
type value struct {
	isString bool
	text     string // decoded; lone surrogates are U+FFFD
}

// readObject reads one JSON object by the letter of RFC 8259 and gives its
// members, of equal names the last. It reports whether there is one and nothing
// else. The text must be valid UTF-8; that is checked elsewhere.
func readObject(text []byte) (map[string]value, bool) {
	r := reader{text: text}
	r.blanks()
	if r.peek() != '{' {
		return nil, false
	}
	members := r.object()
	r.blanks()
	return members, !r.bad && r.at == len(text)
}

// reader walks through a text. Once bad, it stays so and nothing it gives counts.
type reader struct {
	text []byte
	at   int
	bad  bool
}

// peek is the next byte, or 0 at the end: no JSON begins with it.
func (r *reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// take steps over c, which must be next.
func (r *reader) take(c byte) {
	if r.at >= len(r.text) || r.text[r.at] != c {
		r.bad = true
		return
	}
	r.at++
}

func (r *reader) blanks() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *reader) value() value {
	r.blanks()
	switch c := r.peek(); {
	case c == '"':
		return value{true, r.str()}
	case c == '{':
		r.object()
	case c == '[':
		r.array()
	case c == 't':
		r.word("true")
	case c == 'f':
		r.word("false")
	case c == 'n':
		r.word("null")
	default:
		r.number()
	}
	return value{}
}

func (r *reader) object() map[string]value {
	members := map[string]value{}
	r.take('{')
	for r.blanks(); !r.bad && r.peek() != '}'; r.blanks() {
		if len(members) > 0 {
			r.take(',')
			r.blanks()
		}
		name := r.str()
		r.blanks()
		r.take(':')
		members[name] = r.value()
	}
	r.take('}')
	return members
}

func (r *reader) array() {
	r.take('[')
	first := true
	for r.blanks(); !r.bad && r.peek() != ']'; r.blanks() {
		if !first {
			r.take(',')
		}
		first = false
		r.value()
	}
	r.take(']')
}

func (r *reader) word(w string) {
	for i := range len(w) {
		r.take(w[i])
	}
}

// number = [ "-" ] ( "0" / 1-9 digits ) [ "." digits ] [ e [ + / - ] digits ]
func (r *reader) number() {
	if r.peek() == '-' {
		r.at++
	}
	if r.peek() == '0' {
		r.at++
	} else {
		r.digits()
	}
	if r.peek() == '.' {
		r.at++
		r.digits()
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		r.digits()
	}
}

func (r *reader) digits() {
	from := r.at
	for c := r.peek(); '0' <= c && c <= '9'; c = r.peek() {
		r.at++
	}
	r.bad = r.bad || r.at == from
}

func (r *reader) str() string {
	var units []uint16 // UTF-16, since escapes are: one of two halves may be missing
	r.take('"')
	for !r.bad {
		switch c := r.peek(); {
		case c < ' ': // and the end
			r.bad = true
		case c == '"':
			r.at++
			return string(utf16.Decode(units)) // Decode makes lone halves U+FFFD
		case c == '\\':
			r.at++
			units = append(units, r.escape())
		default:
			n := 1
			for r.at+n < len(r.text) && r.text[r.at+n]&0xc0 == 0x80 { // the rest of a character
				n++
			}
			units = append(units, utf16.Encode([]rune(string(r.text[r.at:r.at+n])))...)
			r.at += n
		}
	}
	return ""
}

func (r *reader) escape() uint16 {
	c := r.peek()
	r.at++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return uint16("\"\\/\b\f\n\r\t"[i])
	}
	if c != 'u' {
		r.bad = true
		return 0
	}
	unit := uint16(0)
	for range 4 {
		if !isHex(r.peek()) {
			r.bad = true
			return 0
		}
		unit = unit<<4 | uint16(hexValue(r.peek()))
		r.at++
	}
	return unit
}

// writeString writes a JSON string as JSON.stringify does: nothing is escaped
// but the quote, the backslash and what lies below the blank.
func writeString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		if i := strings.IndexRune("\"\\\b\f\n\r\t", c); i >= 0 {
			b.WriteByte('\\')
			b.WriteByte(`"\bfnrt`[i])
		} else if c < ' ' {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
