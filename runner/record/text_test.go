package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 表":           "plain é 表",
		"\x1b[2J\a\r\n\t\x00": `\x1b[2J\a\r\n\t\x00`,
		"\u202ea\u2066":       `\u202ea\u2066`,
		"\u009b31m\x7f":       `\u009b31m\x7f`,
		"\xff\u00a0":          `\xff\u00a0`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestInCSV(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "go-1": "go-1", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\tx": `'\tx`, "\rx": `'\rx`, "a=1": "a=1", "a\nb": `a\nb`,
	} {
		if got := InCSV(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// What a terminal obeys is escaped, and a reader finds it again.
func TestWriteJSON(t *testing.T) {
	var all strings.Builder
	for r := range rune(0x3000) {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			all.WriteRune(r)
		}
	}
	in := map[string]string{"<a>\n" + all.String(): all.String() + "é"}
	var b bytes.Buffer
	if err := WriteJSON(&b, in); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), Obeyed); i >= 0 || !strings.HasPrefix(b.String(), "{\n  \"<a>\\n") {
		t.Errorf("at %d: %q", i, b.String())
	}
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 1 {
		t.Fatal(err)
	}
	for k, v := range in {
		if back[k] != v {
			t.Errorf("%q became %q", v, back[k])
		}
	}
}
