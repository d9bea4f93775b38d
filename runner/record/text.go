package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable escapes what a terminal would obey or not show: control characters,
// text direction marks, bytes that are not UTF-8. Names come from users and
// reasons from servers.
func Printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || !strconv.IsPrint(r) {
			quoted := strconv.Quote(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// InCSV is a cell: printable, and disarmed where a spreadsheet would take it for a
// formula.
func InCSV(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		s = "'" + s
	}
	return Printable(s)
}

// Obeyed tells a character that is no mark on a page but an order: a control
// character other than a new line, or one that turns the direction of text.
func Obeyed(r rune) bool {
	return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// WriteJSON writes a value for people and programs alike: indented, and what a
// terminal would obey in a text as \u escapes, which mean the same to programs.
// Package json escapes those of ASCII alone.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, "  ") }

// WriteJSONLine is the same on one line.
func WriteJSONLine(w io.Writer, v any) error { return writeJSON(w, v, "") }

func writeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	var out strings.Builder
	text := b.String()
	for {
		i := strings.IndexFunc(text, Obeyed) // outside a text there is none: indents are blanks
		if i < 0 {
			break
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		fmt.Fprintf(&out, `%s\u%04x`, text[:i], r) // none is beyond 16 bits
		text = text[i+n:]
	}
	out.WriteString(text)
	_, err := io.WriteString(w, out.String())
	return err
}
