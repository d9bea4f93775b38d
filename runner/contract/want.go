package contract

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// want is what the contract demands of one answer.
type want struct {
	status int    // 0: only a refusal is right
	allow  string // "": there must be no Allow
	body   string // {id} stands for an id that the server gives
}

// What the contract answers most.
var (
	notFound    = want{status: 404, body: `{"error":"not found"}`}
	badRequest  = want{status: 400, body: `{"error":"bad request"}`}
	invalidJSON = want{status: 400, body: `{"error":"invalid json"}`}
	noName      = want{status: 400, body: `{"error":"name required"}`}
	badEmail    = want{status: 400, body: `{"error":"invalid email"}`}
	tooLarge    = want{status: 413, body: `{"error":"body too large"}`}
	refused     = want{}
)

func found(id string) want {
	return want{status: 200, body: fmt.Sprintf(`{"id":"%s","name":"User %s","email":"user%s@example.com"}`, id, id, id)}
}

// created takes the members as JSON strings, as they must be answered.
func created(name, email string) want {
	return want{status: 201, body: `{"id":"{id}","name":` + name + `,"email":` + email + `}`}
}

func wrongMethod(allow string) want {
	return want{status: 405, allow: allow, body: `{"error":"method not allowed"}`}
}

func (w want) String() string {
	if w.status == 0 {
		return "a refusal (4xx or 5xx, connection closed)"
	}
	s := fmt.Sprint(w.status)
	if w.allow != "" {
		s += ", Allow: " + w.allow
	}
	return s + ", " + capped(w.body)
}

// allowance names the only ways in which answers may differ from the contract's
// words or from each other, by their number in the contract.
type allowance int

const (
	none        allowance = iota
	separators            // 1: U+2028 and U+2029 in answers are equal after decoding, not to the byte
	parser                // 2: the runtime's own parser may refuse, before the application: status class and closing only
	timeout               // 3: a request cut by a timeout: 408 and closing, or closing alone
	expectation           // 4: 100 Continue may come first; 417 has a form of its own
)

// check holds a reply against the demand. bodiless is for HEAD.
func (w want) check(r *reply, a allowance, bodiless bool) error {
	var wrong []string
	differs := func(what, got, want string) {
		if got != want {
			wrong = append(wrong, fmt.Sprintf("%s %s, want %s", what, capped(got), capped(want)))
		}
	}
	differs("status", strconv.Itoa(r.status), strconv.Itoa(w.status))
	differs("Content-Type", r.get("Content-Type"), "application/json")
	differs("Allow", r.get("Allow"), w.allow)
	body := string(r.body)
	wantBody := strings.Replace(w.body, "{id}", givenID(body), 1)
	wantLength := len(body)
	if bodiless {
		wantLength = len(wantBody)
		wantBody = ""
	}
	differs("framing", r.framing, "Content-Length: "+strconv.Itoa(wantLength))
	if a == separators {
		body, wantBody = plainSeparators(body), plainSeparators(wantBody)
	}
	differs("body", body, wantBody)
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "; "))
}

// refusal holds a reply against a refusal by the runtime's parser. The
// connection must end; the caller sees to that.
func refusal(r *reply) error {
	if r.status >= 400 && r.status <= 599 {
		return nil
	}
	return fmt.Errorf("status %d, want a refusal, 4xx or 5xx", r.status)
}

// givenID is the id in the answer to a POST: the first member, all digits.
func givenID(body string) string {
	rest, found := strings.CutPrefix(body, `{"id":"`)
	id, _, closed := strings.Cut(rest, `"`)
	if !found || !closed || id == "" || strings.Trim(id, "0123456789") != "" {
		return "{id}"
	}
	return id
}

// signature is all of a reply that must be equal between servers, the id that a
// server gave left out.
func signature(r *reply, a allowance) string {
	body, framing := string(r.body), r.framing
	if r.status == 201 {
		if framing == "Content-Length: "+strconv.Itoa(len(body)) {
			framing = "Content-Length: right" // it depends on the id
		}
		body = strings.Replace(body, `"`+givenID(body)+`"`, `"{id}"`, 1)
	}
	if a == separators {
		body, framing = plainSeparators(body), ""
	}
	return strings.Join([]string{r.line, r.get("Content-Type"), r.get("Allow"), framing, body}, "\n")
}

// plainSeparators writes the escapes of U+2028 and U+2029 as the characters. A
// backslash that is itself escaped begins no escape.
func plainSeparators(s string) string {
	if !strings.Contains(s, `\u202`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], `\u2028`):
			b.WriteString("\u2028")
			i += 5
		case strings.HasPrefix(s[i:], `\u2029`):
			b.WriteString("\u2029")
			i += 5
		case s[i] == '\\' && i+1 < len(s):
			b.WriteString(s[i : i+2])
			i++
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// capped quotes text for a message, and cuts it when it is long.
func capped(s string) string {
	const limit = 400
	if len(s) <= limit {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q... (%d bytes)", s[:limit], len(s))
}
