package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf16"
)

// asked changes the target before it is answered.
func asked(f func(p string) string) func(*exchange) {
	return func(c *exchange) { c.target = f(c.target) }
}

func swap(old, new string) func(string) string {
	return func(p string) string { return strings.ReplaceAll(p, old, new) }
}

func cut(suffix string) func(string) string {
	return func(p string) string { return strings.TrimSuffix(p, suffix) }
}

var pathMutants = map[string]mutant{
	"case does not matter":   {caught: "C16 nobody", seen: asked(strings.ToLower)},
	"query is part of id":    {caught: "C16a", seen: asked(swap("?", "%3F"))},
	"tail is cut":            {caught: "C16 nobody", seen: asked(cut("/extra"))},
	"slash at the end":       {caught: "C16 nobody", seen: asked(cut("/"))},
	"path is cleaned":        {caught: "C16 nobody", seen: asked(path.Clean)},
	"absolute form unknown":  {caught: "C16f", seen: asked(swap("http:", "/http:"))},
	"escapes stay":           {caught: "C17a", seen: asked(swap("%", "%25"))},
	"decoded twice":          {caught: "C17e", seen: asked(swap("%25", "%"))},
	"plus is dropped":        {caught: "C16 nobody", seen: asked(swap("+", ""))},
	"invalid UTF-8 replaced": {caught: "C17 invalid", seen: asked(swap("%C0", "%EF%BF%BD"))},
	"id is a number": {caught: "C16 nobody", seen: asked(func(p string) string {
		if n, err := strconv.Atoi(strings.TrimPrefix(p, "/users/")); err == nil {
			return fmt.Sprint("/users/", n)
		}
		return p
	})},
	"dies of an escape": {caught: "C17 invalid", seen: asked(func(p string) string {
		if _, err := url.PathUnescape(p); err != nil || strings.Contains(p, "%C0") {
			panic(http.ErrAbortHandler)
		}
		return p
	})},
	"users that are none": {caught: "C11", sent: func(c *exchange) {
		if strings.Contains(c.target, "__proto__") {
			c.status, c.answer = 200, "{}"
		}
	}},
	"redirects": {caught: "C16 nobody", sent: func(c *exchange) {
		if c.target == "/users/500/" {
			c.status, c.answer = 301, ""
			c.header.Set("Location", "/users/500")
		}
	}},
}

// decoded is what a Go struct makes of a body.
func decoded(body []byte, whole bool) (name, email value, ok bool) {
	var u struct{ Name, Email *string }
	d := json.NewDecoder(bytes.NewReader(body))
	err := d.Decode(&u)
	if err == nil && whole {
		if _, err = d.Token(); err == io.EOF {
			err = nil
		}
	}
	text := func(s *string) value {
		if s == nil {
			return value{}
		}
		return value{true, *s}
	}
	return text(u.Name), text(u.Email), err == nil
}

func decodedWhole(body []byte) (name, email value, ok bool) { return decoded(body, true) }

func decodedFirst(body []byte) (name, email value, ok bool) { return decoded(body, false) }

// members reads by the model what change has made of a body.
func members(change func([]byte) []byte) func([]byte) (value, value, bool) {
	return func(body []byte) (value, value, bool) {
		o, ok := readObject(change(body))
		return o["name"], o["email"], ok
	}
}

// taking reads by the model, but takes one text for another.
func taking(old, new string) func([]byte) (value, value, bool) {
	return members(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(old), []byte(new)) })
}

var parseMutants = map[string]mutant{
	"struct decoding, key case": {caught: "C01a", parse: decodedWhole},
	"struct decoding, spelling": {caught: "C02b", parse: decodedWhole},
	"struct decoding, null":     {caught: "C04 not an object 0", parse: decodedWhole},
	"struct decoding, array":    {caught: "C04 email", parse: decodedWhole},
	"rest is not read":          {caught: "C03a", parse: decodedFirst},
	"second object not read":    {caught: "C03b", parse: decodedFirst},
	"mark is skipped":           {caught: "C03h", parse: taking("\ufeff", "")},
	"null leaves the value":     {caught: "C02c", parse: taking(`,"name":null`, "")},
	"prototype is merged":       {caught: "C11c", parse: taking(`{"__proto__":{"name":"A","email":"a@b"}}`, `{"name":"A","email":"a@b"}`)},
	"last comma":                {caught: "C04 not", parse: taking(`,}`, `}`)},
	"single quotes":             {caught: "C04 not", parse: taking(`'`, `"`)},
	"NaN":                       {caught: "C04 not", parse: taking(`NaN`, `0`)},
	"leading zero":              {caught: "C04 not", parse: taking(`:01`, `:1`)},
	"newline in a string":       {caught: "C04 not", parse: taking("a\nb", "ab")},
	"array for email":           {caught: "C04 email", parse: taking(`["@"]`, `"@"`)},
	"number for name":           {caught: "C04 name", parse: taking(`:1.5`, `:"1.5"`)},
	"empty name":                {caught: "C04 name", parse: taking(`"name":""`, `"name":" "`)},
	"email without at":          {caught: "C04 email", parse: taking(`"a.b"`, `"a@b"`)},
	"out of range is an error":  {caught: "C10a", parse: taking(`1e400`, `1e`)},
	"above 2^53 is an error":    {caught: "C10a", parse: taking(`9007199254740993`, `x`)},
	"nesting is limited":        {caught: "C10 nested", parse: taking(strings.Repeat("[", 500), "x")},
	"surrogates apart":          {caught: "C07c", parse: taking(`\ud83d\ude00`, `\ud83d \ude00`)},
	"slash is lost":             {caught: "C05 short", parse: taking(`\/`, ``)},
	"normalises":                {caught: "C05 not", parse: taking("e\u0301", "é")},
	"first duplicate wins":      {caught: "C02a", parse: taking(`"name":"A","name"`, `"name":"A","x"`)},
	"invalid UTF-8 replaced":    {caught: "C06", parse: members(func(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("\ufffd")) })},
	"email before name": {caught: "C04 name before", parse: func(b []byte) (value, value, bool) {
		o, ok := readObject(b)
		if e := o["email"]; ok && !strings.Contains(e.text, "@") {
			return value{true, "x"}, e, ok
		}
		return o["name"], o["email"], ok
	}},
}

// readUpTo reads a body without regard to what it declares.
func readUpTo(r *http.Request, n int64) []byte {
	b, _ := io.ReadAll(io.LimitReader(r.Body, n))
	return b
}

var bodyMutants = map[string]mutant{
	"cap one too low": {caught: "C13d", read: func(r *http.Request) []byte {
		if b := readUpTo(r, maxBody+1); len(b) != maxBody {
			return b
		}
		return make([]byte, maxBody+1)
	}},
	"cap one too high": {caught: "C13a", read: func(r *http.Request) []byte {
		if b := readUpTo(r, maxBody+2); len(b) != maxBody+1 {
			return b
		}
		return []byte(padded(maxBody))
	}},
	"cap counts UTF-16 units": {caught: "C13g", read: func(r *http.Request) []byte {
		b := readUpTo(r, 1<<16)
		if len(utf16.Encode([]rune(string(b)))) <= maxBody {
			return bytes.TrimRight(b, " ")
		}
		return b
	}},
	"waits for what is declared": {caught: "C13c", read: func(r *http.Request) []byte { return readUpTo(r, maxBody+1) }},
	"chunks are not read": {caught: "C08", read: func(r *http.Request) []byte {
		return readUpTo(r, max(r.ContentLength, 0))
	}},
	"chunks decoded one by one": {caught: "C08a", read: func(r *http.Request) []byte {
		var all []byte
		for part := make([]byte, 4096); ; {
			n, err := r.Body.Read(part)
			all = append(all, bytes.ToValidUTF8(part[:n], []byte("\ufffd"))...)
			if err != nil {
				return all
			}
		}
	}},
	"a shortened body is taken": {caught: "C08b", read: func(r *http.Request) []byte {
		return bytes.TrimRight(readUpTo(r, maxBody+1), "\xf0\x9f")
	}},
	"empty is an empty object": {caught: "C14a", seen: func(c *exchange) {
		if len(c.body) == 0 {
			c.body = []byte("{}")
		}
	}},
	"content type matters": {caught: "C15", read: func(r *http.Request) []byte {
		if r.Header.Get("Content-Type") != "application/json" {
			return nil
		}
		return readUpTo(r, maxBody+1)
	}},
}

// when changes answers of one status.
func when(status int, change func(c *exchange)) func(*exchange) {
	return func(c *exchange) {
		if c.status == status {
			change(c)
		}
	}
}

// saying answers one text for another.
func saying(old, new string) func(*exchange) {
	return func(c *exchange) { c.answer = strings.ReplaceAll(c.answer, old, new) }
}

// header sets a header of every answer; an empty value leaves it out.
func header(name, value string) func(*exchange) {
	return func(c *exchange) {
		if value == "" {
			c.header[name] = nil
		} else {
			c.header.Set(name, value)
		}
	}
}

// status changes the status of answers to a method.
func status(method string, to int) func(*exchange) {
	return func(c *exchange) {
		if c.method == method {
			c.status = to
		}
	}
}

// raw writes an answer whose length is wrong by less, with a tail after it.
func raw(less int, tail string) func(http.ResponseWriter, *exchange) {
	return func(w http.ResponseWriter, c *exchange) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s%s", len(c.answer)+less, c.answer, tail)
	}
}

var pids atomic.Int64

var answerMutants = map[string]mutant{
	"newline at the end":    {caught: "C20", sent: func(c *exchange) { c.answer += "\n" }},
	"blank after the colon": {caught: "C20", sent: saying(`":"`, `": "`)},
	"order of members":      {caught: "C20", sent: saying(`{"id":"500","name":"User 500"`, `{"name":"User 500","id":"500"`)},
	"number for id":         {caught: "C20", sent: saying(`"id":"500"`, `"id":500`)},
	"charset":               {caught: "C20", sent: header("Content-Type", "application/json; charset=utf-8")},
	"no content type":       {caught: "C20", sent: header("Content-Type", "")},
	"closes":                {caught: "C20", sent: header("Connection", "close")},
	"chunked": {caught: "C20", write: func(w http.ResponseWriter, c *exchange) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		io.WriteString(w, c.answer)
	}},
	"bytes after the end":  {caught: "C20", write: raw(0, "\n")},
	"body cut short":       {caught: "C20", write: raw(1, "")},
	"200 for 201":          {caught: "C15", sent: when(201, func(c *exchange) { c.status = 200 })},
	"404 for 405":          {caught: "C19d", sent: when(405, func(c *exchange) { c.status = 404 })},
	"text of 404":          {caught: "C16 nobody", sent: saying("not found", "user not found")},
	"text of 405":          {caught: "C19 list PUT", sent: saying("method not allowed", "not allowed")},
	"Allow missing":        {caught: "C19 list PUT", sent: func(c *exchange) { c.header.Del("Allow") }},
	"Allow names OPTIONS":  {caught: "C19 user PUT", sent: when(405, header("Allow", "GET, HEAD, OPTIONS"))},
	"Allow twice":          {caught: "C19 user PUT", sent: when(405, func(c *exchange) { c.header.Add("Allow", "GET, HEAD") })},
	"Allow with 404":       {caught: "C16 nobody", sent: when(404, header("Allow", "GET"))},
	"HEAD is not allowed":  {caught: "C19a", sent: status("HEAD", 405)},
	"HEAD has no length":   {caught: "C19a", write: func(w http.ResponseWriter, c *exchange) { writeExchange(w, &exchange{status: 200, header: c.header}) }},
	"OPTIONS answered":     {caught: "C19 list OPTIONS", sent: status("OPTIONS", 200)},
	"markup escaped":       {caught: "C05 markup", sent: saying("<", `\u003c`)},
	"delete escaped":       {caught: "C05 delete", sent: saying("\u007f", `\u007f`)},
	"above ASCII escaped":  {caught: "C05 accents", sent: saying("é", `\u00e9`)},
	"separators elsewhere": {caught: "C05c", sent: saying(`\\u2028`, "\\\u2028")},
	"separators lost":      {caught: "C05b", sent: saying("\u2028", "")},
	"capitals in escapes":  {caught: "C05 controls", sent: saying(`\u001f`, `\u001F`)},
	"long for short":       {caught: "C05 short", sent: saying(`\b`, `\u0008`)},
	"lone surrogate":       {caught: "C07a", sent: saying("\ufffd", `\ud800`)},
	"extra member echoed":  {caught: "C10a", sent: when(201, saying("}", `,"admin":true}`))},
	"a client's id":        {caught: "C10b", sent: when(201, saying(`"id":"1000`, `"id":"`))},
	"nothing is stored":    {caught: "C15", store: func(map[string]string, string, string) {}},
	"stored otherwise":     {caught: "C02a", store: func(users map[string]string, id, json string) { users[id] = strings.Replace(json, `"B"`, `"A"`, 1) }},
	"extra member stored":  {caught: "C10a", store: func(users map[string]string, id, json string) { users[id] = json[:len(json)-1] + `,"admin":true}` }},
	"413 without a word":   {caught: "C13a", sent: when(413, saying(`{"error":"body too large"}`, ""))},
	"500 for bad JSON":     {caught: "C14a", sent: when(400, func(c *exchange) { c.status = 500 })},
	"another process": {caught: "first", sent: func(c *exchange) {
		if c.target == "/healthz" {
			c.status, c.answer = 200, fmt.Sprintf(`{"token":"t","pid":%d}`, pids.Add(1))
		}
	}},
}
