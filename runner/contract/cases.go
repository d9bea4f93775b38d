package contract

import (
	"fmt"
	"strings"
)

const maxBody = 16_384

// paths are the cases of routing and percent-encoding.
func paths() []row {
	rows := []row{
		{name: "first user", pieces: get("/users/1"), want: found("1")},
		{name: "last user", pieces: get("/users/10000"), want: found("10000")},
		{name: "C20 framing of the answer", pieces: get("/users/500"), want: found("500")},
		{name: "C16a query", pieces: get("/users/500?x=1"), want: found("500")},
		{name: "C16b query alone", pieces: get("/users/500?"), want: found("500")},
		{name: "C16c query with slashes", pieces: get("/users/500?/users/1"), want: found("500")},
		{name: "C16d query with a bad escape", pieces: get("/users/500?a=%zz&b=%C0"), want: found("500")},
		{name: "C16e two queries", pieces: get("/users/500??a?b"), want: found("500")},
		{name: "C16f absolute form", pieces: get("http://h/users/500"), want: found("500")},
		{name: "C16g absolute form with port", pieces: get("HTTP://h.example:8080/users/500?x"), want: found("500")},
		{name: "C16h absolute form without path", pieces: get("http://h"), want: notFound},
		{name: "C16i absolute form, query only", pieces: get("http://h?x=/users/500"), want: notFound},
		{name: "C16j absolute form in the path", pieces: get("/http://h/users/500"), want: notFound},
		{name: "C17a digits escaped", pieces: get("/users/%35%30%30"), want: found("500")},
		{name: "C17b route escaped", pieces: get("/%75sers/500"), want: found("500")},
		{name: "C17c slash before id escaped", pieces: get("/users%2F500"), want: found("500")},
		{name: "C17d question mark escaped", pieces: get("/users/500%3Fx=1"), want: notFound},
		{name: "C17e escape of an escape", pieces: get("/users/%2535%30%30"), want: notFound},
		{name: "C11a prototype", pieces: get("/users/__proto__"), want: notFound},
		{name: "C11b prototype escaped", pieces: get("/users/%5F%5Fproto%5F%5F"), want: notFound},
	}
	unknown := []string{
		"/", "/users/", "/users//", "/users/500/", "/users/500//", "/users/500/extra", "/USERS/500", "/Users/500", "//users/500", "/users//500",
		"/users/../users/500", "/./users/500", "/users/./500", "/user/500", "/usersx/500", "/users500", "/users/500#x", "/users/500;x", "*",
		"/users/0", "/users/00", "/users/0500", "/users/+500", "/users/-1", "/users/5e2", "/users/500.0", "/users/0x1f4", "/users/%20500", "/users/500%20",
		"/users/+500", "/users/5_00", "/users/5,00", "/users/5%2F00", "/users/500%2F", "/users/%2F500", "/users/500%00", "/users/%00", "/users/%0A", "/users/500%0D%0A",
		"/users/%EF%BC%95%EF%BC%90%EF%BC%90", "/users/%C3%A9", "/users/%F0%9F%98%80", "/users/%E2%80%A8", "/users/%EF%BB%BF500", "/users/%D9%A5%D9%A0%D9%A0",
		"/users/constructor", "/users/toString", "/users/hasOwnProperty", "/users/undefined", "/users/null", "/users/NaN", "/users/:id", "/users/*", "/users/{id}",
		"/users/18446744073709551617", "/users/" + strings.Repeat("9", 4000), "/favicon.ico", "/healthz/", "/HEALTHZ", "/?x=/users/500",
	}
	for i, target := range unknown {
		rows = append(rows, row{name: fmt.Sprintf("C16 nobody %d %.24s", i, target), pieces: get(target), want: notFound})
	}
	for i, target := range []string{
		"/users/%C0", "/users/%80", "/users/%FF", "/users/%C3", "/users/%C3%28", "/users/%C0%AF", "/users/%E2%82", "/users/%ED%A0%80", "/users/%F4%90%80%80",
		"/users/%F0%9F%98", "/%C0", "/%C0/users/500", "/users/500/%C0", "/users%C0",
	} {
		rows = append(rows, row{name: fmt.Sprintf("C17 invalid UTF-8 %d %s", i, target), pieces: get(target), want: badRequest})
	}
	for i, target := range []string{"/users/%", "/users/%zz", "/users/%3", "/users/500%", "/users/%%35", "/users/%u0035", "/users/%G0", "/%", "/%/users/500"} {
		rows = append(rows, row{name: fmt.Sprintf("C17 malformed escape %d %s", i, target), pieces: get(target), want: badRequest, allow: parser})
	}
	return rows
}

// methods are the cases of HEAD, 405 and Allow.
func methods() []row {
	rows := []row{
		{name: "C19a HEAD", pieces: call("HEAD", "/users/500"), want: found("500")},
		{name: "C19b HEAD of nobody", pieces: call("HEAD", "/users/0500"), want: notFound},
		{name: "C19c HEAD elsewhere", pieces: call("HEAD", "/nowhere"), want: notFound},
		{name: "C19d HEAD of the list", pieces: call("HEAD", "/users"), want: wrongMethod("POST")},
		{name: "C19e HEAD, invalid UTF-8", pieces: call("HEAD", "/users/%C0"), want: badRequest},
		{name: "C19f POST to a user", pieces: []string{request("POST", "/users/500", "Content-Length: 2") + "{}"}, want: wrongMethod("GET, HEAD")},
		{name: "C19g POST with a slash", pieces: []string{request("POST", "/users/", "Content-Length: 2") + "{}"}, want: notFound},
		{name: "C19h POST, escaped list", pieces: []string{request("POST", "/user%73", "Content-Length: 2") + "{}"}, want: noName},
		{name: "C19i POST with a query", pieces: []string{request("POST", "/users?id=1", "Content-Length: 2") + "{}"}, want: noName},
		{name: "C19j POST elsewhere", pieces: []string{request("POST", "/USERS", "Content-Length: 2") + "{}"}, want: notFound},
		{name: "C19k POST, invalid UTF-8", pieces: []string{request("POST", "/users%C0", "Content-Length: 2") + "{}"}, want: badRequest},
		{name: "C19l GET with a body", pieces: []string{request("GET", "/users/500", "Content-Length: 5") + "hello"}, want: found("500")},
		{name: "C19m GET with a chunked body", pieces: []string{request("GET", "/users/500", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"}, want: found("500")},
		{name: "C19n CONNECT", pieces: call("CONNECT", "/users/500"), want: wrongMethod("GET, HEAD"), end: mayClose},
		{name: "C19o CONNECT to a host", pieces: call("CONNECT", "h.example:443"), want: notFound, end: mayClose},
		{name: "C19p OPTIONS of the server", pieces: call("OPTIONS", "*"), want: notFound, allow: parser, also: 200},
		{name: "C19q an upgrade is not taken", pieces: []string{request("GET", "/users/500", "Connection: Upgrade", "Upgrade: websocket")}, want: found("500")},
	}
	for _, m := range []string{"OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "PURGE", "M-SEARCH", "GET"} {
		rows = append(rows, row{name: "C19 list " + m, pieces: call(m, "/users"), want: wrongMethod("POST")})
		if m != "GET" {
			rows = append(rows, row{name: "C19 user " + m, pieces: call(m, "/users/500"), want: wrongMethod("GET, HEAD")},
				row{name: "C19 nobody " + m, pieces: call(m, "/users/nobody"), want: wrongMethod("GET, HEAD")},
				row{name: "C19 elsewhere " + m, pieces: call(m, "/users/500/x"), want: notFound})
		}
	}
	for _, m := range []string{"FOO", "get", "Get", "PRI", "G-E_T!"} {
		rows = append(rows, row{name: "C19 list " + m, pieces: call(m, "/users"), want: wrongMethod("POST"), allow: parser},
			row{name: "C19 user " + m, pieces: call(m, "/users/500"), want: wrongMethod("GET, HEAD"), allow: parser})
	}
	return rows
}

// framings are the cases of how a body arrives: length, chunks, splits, cap.
func framings() []row {
	const valid = `{"name":"A","email":"a@b"}`
	ok := created(`"A"`, `"a@b"`)
	fours := `{"email":"a@b","name":"` + strings.Repeat("😀", 4000) + `"}` // 16 025 bytes, 8025 UTF-16 units
	rows := []row{
		{name: "C13a declared one over", pieces: post(padded(maxBody + 1)), want: tooLarge, end: mayClose},
		{name: "C13b chunked one over", pieces: chunked(padded(maxBody + 1)), want: tooLarge, end: mayClose},
		{name: "C13c declared, never sent", pieces: []string{request("POST", "/users", "Content-Length: 1000000000") + "0123456789"}, want: tooLarge, end: mayClose},
		{name: "C13d exactly the cap", pieces: post(padded(maxBody)), want: ok},
		{name: "C13e exactly the cap, chunked", pieces: chunked(padded(maxBody)[:9000], padded(maxBody)[9000:]), want: ok},
		{name: "C13f one under", pieces: post(padded(maxBody - 1)), want: ok},
		{name: "C13g bytes, not characters", pieces: post(fours + strings.Repeat(" ", 400)), want: tooLarge, end: mayClose},
		{name: "C13h 4-byte characters below the cap", pieces: post(fours), want: created(`"`+strings.Repeat("😀", 4000)+`"`, `"a@b"`)},
		{name: "C13i declared and sent, closing", pieces: []string{request("POST", "/users", "Connection: close", "Content-Length: 300000") + strings.Repeat(" ", 300_000)}, want: tooLarge, end: mayClose},
		{name: "C13j chunked without an end", pieces: []string{request("POST", "/users", "Transfer-Encoding: chunked") + "8000\r\n" + strings.Repeat(" ", maxBody+1)}, want: tooLarge, end: mayClose},
		{name: "C13k over the cap elsewhere", pieces: []string{request("POST", "/users/500", "Content-Length: 20000") + strings.Repeat(" ", 20_000)}, want: wrongMethod("GET, HEAD"), end: mayClose},
		{name: "C14a length 0", pieces: post(""), want: invalidJSON},
		{name: "C14b no length", pieces: call("POST", "/users"), want: invalidJSON},
		{name: "C14c blank", pieces: post("\r\n"), want: invalidJSON},
		{name: "C14d no chunk", pieces: []string{request("POST", "/users", "Transfer-Encoding: chunked") + "0\r\n\r\n"}, want: invalidJSON},
		{name: "C14e half-closed in the body", pieces: []string{request("POST", "/users", "Content-Length: 26") + valid[:10]}, want: refused, allow: parser, end: halfClose},
		{name: "C14f half-closed in a chunk", pieces: []string{request("POST", "/users", "Transfer-Encoding: chunked") + "1a\r\n" + valid[:10]}, want: refused, allow: parser, end: halfClose},
		{name: "C14g reset in the body", pieces: []string{request("POST", "/users", "Content-Length: 26") + valid[:10]}, end: abort},
		{name: "C14h reset in a chunk", pieces: []string{request("POST", "/users", "Transfer-Encoding: chunked") + "1a\r\n" + valid[:10]}, end: abort},
		{name: "C14i reset after CONNECT", pieces: call("CONNECT", "/users"), end: abort},
		{name: "C14j reset in the head", pieces: []string{"POST /users HTTP/1.1\r\nHo"}, end: abort},
		{name: "C08a chunk ends in a character", pieces: chunked("{\"name\":\"\xc3", "\xa9\",\"email\":\"a@b\"}"), want: created(`"é"`, `"a@b"`)},
		{name: "C08b body ends in a character", pieces: chunked("{\"name\":\"A\",\"email\":\"a@b\"}\xf0\x9f"), want: invalidJSON},
		{name: "C08c one byte a chunk", pieces: chunked(strings.Split(valid, "")...), want: ok},
		{name: "C08d head in pieces", pieces: splits(post(valid)[0], 5, 17, 30, 70), want: ok},
		{name: "C08e extensions and trailers", pieces: []string{request("POST", "/users", "Transfer-Encoding: chunked", "Trailer: X") + "1a;a=b;c=\"d\"\r\n" + valid + "\r\n0\r\nX: y\r\n\r\n"}, want: ok},
		{name: "C08f coding in capitals, size with zeros", pieces: []string{request("POST", "/users", "transfer-encoding: CHUNKED") + "00001A\r\n" + valid + "\r\n000\r\n\r\n"}, want: ok},
	}
	const emoji = `{"name":"x😀y","email":"😀@b"}`
	for at := 1; at < len(emoji); at++ {
		rows = append(rows, row{name: fmt.Sprintf("C08 chunks split at byte %d", at), pieces: chunked(emoji[:at], emoji[at:]), want: created(`"x😀y"`, `"😀@b"`)},
			row{name: fmt.Sprintf("C08 writes split at byte %d", at), pieces: splits(post(emoji)[0], len(post(emoji)[0])-len(emoji)+at), want: created(`"x😀y"`, `"😀@b"`)})
	}
	return rows
}

// splits cuts a request into several writes.
func splits(s string, at ...int) []string {
	var pieces []string
	for i, from := 0, 0; i <= len(at); i++ {
		to := len(s)
		if i < len(at) {
			to = at[i]
		}
		pieces = append(pieces, s[from:to])
		from = to
	}
	return pieces
}
