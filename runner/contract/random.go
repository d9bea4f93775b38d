package contract

import (
	"fmt"
	"strings"
)

// target makes a request target: near the routes more often than far from them.
func (m maker) target() string {
	t := ""
	switch n := m.IntN(100); {
	case n < 25:
		t = fmt.Sprint("/users/", 1+m.IntN(firstUsers))
	case n < 55:
		t = "/users/" + m.id()
	case n < 65:
		t = "/users"
	case n < 80:
		t = "/" + pick(m, []string{"users", "Users", "user", "users.", ".", "..", "", "healthz", "USERS", "users%00"}) + pick(m, []string{"", "/", "//", "/./", "/../"}) + m.id()
	default:
		t = "/" + m.word("/users?#%0123456789.:;@&=+$,-_~!*'()\"<>[]{}|\\^`", 0, 24)
	}
	if m.chance(25) {
		t = m.escaped(t)
	}
	if m.chance(15) {
		t += "?" + m.word("a=b&/?%#users500.", 0, 16)
	}
	if m.chance(5) {
		t = m.damaged(t)
	}
	if m.chance(5) {
		t = pick(m, []string{"http://h", "HTTP://h.example:8080", "https://127.0.0.1", "http://[::1]:80"}) + t
	}
	return t
}

func (m maker) id() string {
	switch m.IntN(6) {
	case 0:
		return fmt.Sprint(m.IntN(12_000))
	case 1:
		return pick(m, []string{"0", "+", "-", " ", "00", "%30", "%00", "%20"}) + fmt.Sprint(1+m.IntN(firstUsers))
	case 2:
		return fmt.Sprint(1+m.IntN(firstUsers)) + pick(m, []string{".0", "e0", "/", "%2F", "%00", "x", "#", ";", "%3F", "/1", "%C3%A9", "%20"})
	case 3:
		return pick(m, []string{"__proto__", "constructor", "%F0%9F%98%80", "%C0%AF", "%ED%A0%80", "%", "%4", "%zz", "%FF", "", "%e2%80%a8", "%25", "%2535"})
	}
	return m.word("0123456789%2FfCEabz._-+", 0, 8)
}

// escaped writes some characters of a target as escapes.
func (m maker) escaped(t string) string {
	var b strings.Builder
	for i := range len(t) {
		if i > 0 && m.chance(20) {
			fmt.Fprintf(&b, pick(m, []string{"%%%02x", "%%%02X"}), t[i])
		} else {
			b.WriteByte(t[i])
		}
	}
	return b.String()
}

// damaged puts a random byte into a target, behind its first slash.
func (m maker) damaged(t string) string {
	at := 1 + m.IntN(len(t))
	c := byte(m.IntN(256))
	if c == '\r' || c == '\n' {
		c = '%' // an end of line would make another request
	}
	return t[:at] + string([]byte{c}) + t[at:]
}

// body makes a POST body: objects that are right or nearly so, and damage.
func (m maker) body() []byte {
	b := []byte(m.object())
	switch n := m.IntN(100); {
	case n < 58:
	case n < 80:
		for range 1 + m.IntN(2) {
			b = m.mutated(b)
		}
	case n < 84:
		b = []byte(m.json(0))
	case n < 88:
		b = m.sized(b)
	case n < 90:
		b = []byte{}
	case n < 93:
		b = append(b, m.json(0)...)
	case n < 96:
		b = append([]byte(pick(m, []string{"\ufeff", " ", "\v", "\x00", "\u00a0", "//\n", "[", "\xef\xbb"})), b...)
	default:
		b = append(b, pick(m, []string{"\n", " \t\r\n", "\x00", "}", ",", "\u2028", "\ufeff", "\xf0\x9f", ";"})...)
	}
	return b
}

// sized pads a body to about the cap, where it is still an object or no longer.
func (m maker) sized(b []byte) []byte {
	n := maxBody - 3 + m.IntN(7)
	switch pad := max(0, n-len(b)); m.IntN(4) {
	case 0:
		return append(b, strings.Repeat(" ", pad)...)
	case 1:
		return append([]byte(strings.Repeat("\n", pad)), b...)
	case 2:
		return []byte(padded(n))
	default:
		depth := 1 + m.IntN(8000)
		return []byte(`{"name":"A","x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"email":"a@b"}`)
	}
}

// mutated changes, drops, doubles or adds a byte or a few.
func (m maker) mutated(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	at := m.IntN(len(b))
	to := min(len(b), at+1+m.IntN(6))
	out := append([]byte(nil), b[:at]...)
	switch m.IntN(6) {
	case 0:
		out = append(append(out, byte(m.IntN(256))), b[at+1:]...)
	case 1:
		out = append(append(out, b[at]^1<<m.IntN(8)), b[at+1:]...)
	case 2:
		out = append(out, b[to:]...)
	case 3:
		out = append(append(out, b[at:to]...), b[at:]...)
	case 4:
		out = append(append(out, m.word("{}[]\",:\\u0123456789abcdefnrt+-.eE \t\r\n@", 1, 4)...), b[at:]...)
	default:
		out = b[:at] // cut off
	}
	return out
}

// object is an object with name and email, more or less.
func (m maker) object() string {
	var members []string
	add := func(name, value string) {
		members = append(members, m.blank()+name+m.blank()+":"+m.blank()+value+m.blank())
	}
	name, email := m.str(), m.emailString()
	if m.chance(10) {
		name = m.json(1)
	}
	if m.chance(10) {
		email = m.json(1)
	}
	if !m.chance(4) {
		add(m.key("name"), name)
	}
	if !m.chance(4) {
		add(m.key("email"), email)
	}
	for m.chance(35) {
		add(pick(m, []string{`"id"`, `"__proto__"`, `"constructor"`, `"x"`, `""`, `"Name"`, `"EMAIL"`, `"name"`, `"email"`, `"n\u0061me"`, m.str()}), m.json(1))
	}
	m.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return m.blank() + "{" + strings.Join(members, ",") + "}" + m.blank()
}

// key spells a name, now and then with escapes or in another case.
func (m maker) key(name string) string {
	switch m.IntN(20) {
	case 0:
		return fmt.Sprintf(`"\u%04x%s"`, name[0], name[1:])
	case 1:
		return `"` + strings.ToUpper(name[:1]) + name[1:] + `"`
	}
	return `"` + name + `"`
}

func (m maker) blank() string {
	if m.chance(92) {
		return ""
	}
	return m.word(" \t\r\n", 1, 3)
}

// json is any JSON value.
func (m maker) json(depth int) string {
	n := m.IntN(9)
	if depth > 4 {
		n %= 6
	}
	switch n {
	case 0, 1:
		return m.str()
	case 2, 3:
		return m.number()
	case 4, 5:
		return pick(m, []string{"null", "true", "false", `""`, `"@"`, "{}", "[]", "-0"})
	case 6, 7:
		var items []string
		for m.chance(60) {
			items = append(items, m.json(depth+1))
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		var members []string
		for m.chance(60) {
			members = append(members, m.str()+":"+m.json(depth+1))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
}

func (m maker) number() string {
	switch n := m.IntN(100); {
	case n < 20:
		return pick(m, []string{"1e400", "-1e400", "1e-400", "9007199254740993", "0", "-0", "1E+2", "0.1e-7", "1e99999999999"})
	case n < 24:
		return pick(m, []string{"01", "1.", ".5", "+1", "1e", "-", "0x1", "NaN", "Infinity", "-Infinity", "1e+", "--1", "1 1"})
	}
	return pick(m, []string{"", "-"}) + fmt.Sprint(m.IntN(100_000)) + pick(m, []string{"", "", ".5", "e3", "E-3", ".25e+2"})
}

// str is a JSON string of anything that a string may hold.
func (m maker) str() string {
	var b strings.Builder
	b.WriteByte('"')
	for range m.IntN(10) {
		b.WriteString(m.character())
	}
	b.WriteByte('"')
	return b.String()
}

// emailString nearly always holds an @, raw or escaped.
func (m maker) emailString() string {
	s := m.str()
	return s[:len(s)-1] + pick(m, []string{"@", "@", "@", "@b", `\u0040`, "＠", ""}) + `"`
}

// character is one character of a JSON string, raw or as an escape.
func (m maker) character() string {
	switch m.IntN(12) {
	case 0:
		return pick(m, []string{`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`})
	case 1:
		return fmt.Sprintf(pick(m, []string{`\u%04x`, `\u%04X`}), m.IntN(0x10000))
	case 2:
		return fmt.Sprintf(`\u%04x`, 0xd800+m.IntN(0x800)) // a half of a pair, lone or not
	case 3:
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+m.IntN(0x400), 0xdc00+m.IntN(0x400))
	case 4:
		return fmt.Sprintf(`\u%04x`, m.IntN(0x30))
	case 5:
		return pick(m, []string{"<", ">", "&", "'", "\u007f", "\u0080", "\u00a0", "\u2028", "\u2029", `\u2028`, `\\u2029`, "\ufeff", "\ufffd", "\ufffe", "\U0010ffff"})
	case 6:
		c := rune(m.IntN(0x110000))
		if c < ' ' || c == '"' || c == '\\' {
			c = '~'
		}
		return string(c) // of half a pair it is U+FFFD
	case 7:
		return pick(m, []string{"é", "ß", "日本", "😀", "👩‍👩‍👧", "e\u0301", "\u202e", "K", "ſ"})
	}
	return m.word("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;{}[]@/", 1, 8)
}
