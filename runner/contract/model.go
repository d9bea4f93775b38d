package contract

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The model says what the contract demands of any request. It shares no code
// with either server, and reads JSON by itself (json.go): two servers that agree
// on a wrong answer are caught too.

// firstUsers is how many users a fresh store holds.
const firstUsers = 10_000

// demand gives the answer to a request that the runtime's parser takes, and
// where it may differ from it.
func demand(method, target string, body []byte) (want, allowance) {
	path, ok := decodedPath(target)
	switch {
	case method == "CONNECT" && !strings.HasPrefix(target, "/"):
		return notFound, none // a host, whatever follows it
	case !ok:
		return badRequest, parser
	case !utf8.ValidString(path):
		return badRequest, none
	case path == "/users" && method == "POST":
		return demandPost(body)
	case path == "/users":
		return wrongMethod("POST"), none
	}
	id, isUser := strings.CutPrefix(path, "/users/")
	switch {
	case !isUser || id == "" || strings.Contains(id, "/"):
		return notFound, none
	case method != "GET" && method != "HEAD":
		return wrongMethod("GET, HEAD"), none
	}
	if n := canonical(id); n < 1 || n > firstUsers {
		return notFound, none
	}
	return found(id), none
}

func demandPost(body []byte) (want, allowance) {
	if len(body) > maxBody {
		return tooLarge, none
	}
	object, ok := readObject(body)
	if !ok || !utf8.Valid(body) {
		return invalidJSON, none
	}
	name, email := object["name"], object["email"]
	switch {
	case !name.isString || name.text == "":
		return noName, none
	case !email.isString || !strings.Contains(email.text, "@"):
		return badEmail, none
	}
	a := none
	if strings.ContainsAny(name.text+email.text, "\u2028\u2029") {
		a = separators
	}
	return created(writeString(name.text), writeString(email.text)), a
}

// decodedPath is the path of a target, percent-decoded once. It reports whether
// its escapes are well formed; what they make may be invalid UTF-8.
func decodedPath(target string) (string, bool) {
	if scheme, rest, found := strings.Cut(target, "://"); found && !strings.ContainsAny(scheme, "/?") {
		if end := strings.IndexAny(rest, "/?"); end >= 0 {
			target = rest[end:]
		} else {
			target = ""
		}
	}
	target, _, _ = strings.Cut(target, "?")
	var path strings.Builder
	for i := 0; i < len(target); i++ {
		if target[i] != '%' {
			path.WriteByte(target[i])
			continue
		}
		if i+2 >= len(target) || !isHex(target[i+1]) || !isHex(target[i+2]) {
			return "", false
		}
		path.WriteByte(hexValue(target[i+1])<<4 | hexValue(target[i+2]))
		i += 2
	}
	return path.String(), true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// canonical is the number that an id is the only spelling of, or -1.
func canonical(id string) int {
	if n, err := strconv.Atoi(id); err == nil && strconv.Itoa(n) == id {
		return n
	}
	return -1
}
