package contract

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// sample is one random request and what it must be answered.
type sample struct {
	pieces   []string
	want     want
	allow    allowance
	bodiless bool
	follow   bool // when a user was made, ask for it
}

// maker makes samples. A sample depends on the seed and its number alone, so
// that it can be made again without those before it.
type maker struct{ *rand.Rand }

func sampleAt(seed, number uint64) sample {
	m := maker{rand.New(rand.NewPCG(seed, number))}
	for {
		if s, ok := m.sample(); ok {
			return s
		}
	}
}

// chance is true n times in 100.
func (m maker) chance(n int) bool { return m.IntN(100) < n }

func pick[T any](m maker, from []T) T { return from[m.IntN(len(from))] }

// knownMethods are those that both parsers take.
var knownMethods = strings.Fields(`GET HEAD POST PUT DELETE PATCH OPTIONS TRACE CONNECT PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK
	SEARCH BIND REBIND UNBIND ACL REPORT MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE PURGE MKCALENDAR LINK UNLINK`)

// sample makes one, and reports false for a request whose answer depends on
// what was sent before or is outside the contract.
func (m maker) sample() (sample, bool) {
	method, target, body := "POST", "/users", []byte(nil)
	if m.chance(60) {
		body = m.body()
	} else {
		method, target = m.method(), m.target()
		if method != "CONNECT" && m.chance(20) {
			body = m.body()
		}
	}
	s := sample{bodiless: method == "HEAD", follow: m.chance(15)}
	s.want, s.allow = demand(method, target, body)
	switch outside := m.judge(method, target); {
	case outside == refuse:
		s.want, s.allow = refused, parser
	case outside == leave:
		return s, false
	case outside == may:
		s.allow = parser
	}
	s.pieces = m.frame(method, target, body)
	return s, true
}

// What a parser may make of a method and target.
const (
	take   = iota // both take it
	may           // one of them refuses it
	refuse        // both refuse it
	leave         // not a case
)

func (m maker) judge(method, target string) int {
	path, ok := decodedPath(target)
	if id, isUser := strings.CutPrefix(path, "/users/"); ok && (isUser && canonical(id) > firstUsers || path == "/healthz") {
		return leave
	}
	if method == "CONNECT" && !strings.HasPrefix(target, "/") {
		return leave // its target is a host, not a URL
	}
	verdict := take
	for i := range len(target) {
		if target[i] <= ' ' || target[i] == 0x7f {
			return refuse
		}
		if target[i] > 0x7f {
			verdict = may
		}
	}
	for _, known := range knownMethods {
		if method == known {
			return verdict
		}
	}
	return may
}

func (m maker) method() string {
	switch n := m.IntN(100); {
	case n < 55:
		return "GET"
	case n < 70:
		return "HEAD"
	case n < 80:
		return "POST"
	case n < 97:
		return pick(m, knownMethods)
	}
	return m.word("ABCDEFGHIJKLMNOPQRSTUVWXYZ-_abcdefghijklmnopqrstuvwxyz0123456789!~", 1, 12)
}

// word is a text of least to most characters of an alphabet.
func (m maker) word(alphabet string, least, most int) string {
	var b strings.Builder
	for range least + m.IntN(most-least+1) {
		b.WriteByte(alphabet[m.IntN(len(alphabet))])
	}
	return b.String()
}

// frame writes the request, with a length or in chunks, whole or in pieces.
func (m maker) frame(method, target string, body []byte) []string {
	headers := m.headers()
	var payload string
	switch {
	case body == nil: // no length at all
	case m.chance(75):
		headers = append(headers, m.spelled("Content-Length")+pick(m, []string{": ", ":", ":  ", ": 0", ":\t"})+fmt.Sprint(len(body)))
		payload = string(body)
	default:
		headers = append(headers, m.spelled("Transfer-Encoding")+pick(m, []string{": ", ":"})+pick(m, []string{"chunked", "chunked", "Chunked", "CHUNKED"}))
		payload = m.chunks(string(body))
	}
	headers = append(headers, m.spelled("Host")+": "+pick(m, []string{"127.0.0.1", "h", "h.example:80", "[::1]:1", ""}))
	m.Shuffle(len(headers), func(i, j int) { headers[i], headers[j] = headers[j], headers[i] })
	whole := method + " " + target + " HTTP/1.1\r\n" + strings.Join(headers, "\r\n") + "\r\n\r\n" + payload
	if m.chance(85) {
		return []string{whole}
	}
	return splits(whole, m.cuts(len(whole))...)
}

// cuts are up to three places within n bytes, in order.
func (m maker) cuts(n int) []int {
	var at []int
	for from := 0; len(at) < 3 && from < n-1; {
		from += 1 + m.IntN(n-from-1)
		at = append(at, from)
		if m.chance(30) {
			break
		}
	}
	return at
}

// chunks codes a body; where it cuts depends on no character's limits.
func (m maker) chunks(body string) string {
	var b strings.Builder
	for body != "" {
		n := 1 + m.IntN(len(body))
		if m.chance(20) {
			n = min(len(body), 1+m.IntN(4))
		}
		fmt.Fprintf(&b, pick(m, []string{"%x", "%X", "0%x", "%x;a=b"})+"\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + pick(m, []string{"0\r\n\r\n", "0\r\n\r\n", "000\r\n\r\n", "0\r\nX: y\r\n\r\n"})
}

// spelled changes the case of a header's name now and then: it does not matter.
func (m maker) spelled(name string) string {
	switch m.IntN(6) {
	case 0:
		return strings.ToLower(name)
	case 1:
		return strings.ToUpper(name)
	}
	return name
}

func (m maker) headers() []string {
	var all []string
	for m.chance(40) {
		all = append(all, pick(m, []string{
			"Content-Type: application/json", "Content-Type: text/plain", "content-type:", "Content-Type: application/json; charset=utf-16", "Content-Encoding: gzip", "Accept: */*",
			"Accept-Encoding: gzip, br", "User-Agent: x/1", "Cookie: a=b; c=d", "If-None-Match: *", "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT", "Range: bytes=0-1",
			"Authorization: Basic Og==", "Origin: http://h", "X-HTTP-Method-Override: DELETE", "X-Forwarded-For: 1.2.3.4", "Connection: keep-alive", "Cache-Control: no-cache", "TE: trailers",
		}))
	}
	if m.chance(10) {
		all = append(all, "X-"+m.word("abcXYZ019-_.!#$%&'*+^`|~", 0, 20)+":"+m.word(" \tabc:;,=\"\\()<>@?{}\xff\xc3", 0, 60)+"z")
	}
	if m.chance(2) {
		all = append(all, "X-Long: "+m.word("abc ", 3000, 6000)+"z")
	}
	if m.chance(2) {
		all = append(all, "Connection: close")
	}
	return all
}
