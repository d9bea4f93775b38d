package contract

import (
	"fmt"
	"strings"
)

// objects are the cases of how the two members of a JSON object are found.
func objects() []row {
	ok := created(`"A"`, `"a@b"`)
	rows := []row{
		{name: "C01a key case", pieces: post(`{"Name":"Ada","EMAIL":"ada@x.io"}`), want: noName},
		{name: "C01b key case of one", pieces: post(`{"name":"Ada","Email":"ada@x.io"}`), want: badEmail},
		{name: "C01c Kelvin sign and long s fold to k and s", pieces: post(`{"name":"A","email":"a@b","ſ":1,"K":2}`), want: ok},
		{name: "C02a duplicate, the last wins", pieces: post(`{"name":"A","name":"B","email":"a@b"}`), want: created(`"B"`, `"a@b"`)},
		{name: "C02b other spelling is another member", pieces: post(`{"name":"A","Name":"B","email":"a@b"}`), want: ok},
		{name: "C02c null over a value", pieces: post(`{"name":"A","name":null,"email":"a@b"}`), want: noName},
		{name: "C02d value over null", pieces: post(`{"name":null,"name":"A","email":null,"email":"a@b"}`), want: ok},
		{name: "C02e number over a value", pieces: post(`{"name":"A","email":"a@b","email":7}`), want: badEmail},
		{name: "C02f key spelled with escapes", pieces: post(`{"\u006eame":"A","em\u0061il":"a@b"}`), want: ok},
		{name: "C02g escaped key is a duplicate", pieces: post(`{"name":"A","\u006eame":"B","email":"a@b"}`), want: created(`"B"`, `"a@b"`)},
		{name: "C02h object over a value", pieces: post(`{"name":"A","name":{"name":"B"},"email":"a@b"}`), want: noName},
		{name: "C03a text after the object", pieces: post(`{"name":"A","email":"a@b"}garbage`), want: invalidJSON},
		{name: "C03b second object", pieces: post(`{"name":"A","email":"a@b"}{"name":"B","email":"b@b"}`), want: invalidJSON},
		{name: "C03c blanks after the object", pieces: post("{\"name\":\"A\",\"email\":\"a@b\"}\r\n  \t"), want: ok},
		{name: "C03d blanks everywhere", pieces: post("\n\t {\r\n \"name\" :\t\"A\" , \"email\"\n:\r\"a@b\" } "), want: ok},
		{name: "C03e NUL after the object", pieces: post("{\"name\":\"A\",\"email\":\"a@b\"}\x00"), want: invalidJSON},
		{name: "C03f form feed is no blank", pieces: post("{\"name\":\"A\",\"email\":\"a@b\"}\f"), want: invalidJSON},
		{name: "C03g no-break space is no blank", pieces: post("{\"name\":\"A\",\"email\":\"a@b\"}\u00a0"), want: invalidJSON},
		{name: "C03h byte order mark", pieces: post("\ufeff{\"name\":\"A\",\"email\":\"a@b\"}"), want: invalidJSON},
		{name: "C03i bracket after the object", pieces: post(`{"name":"A","email":"a@b"}}`), want: invalidJSON},
		{name: "C10a numbers and a client's id", pieces: post(`{"name":"A","email":"a@b","id":9007199254740993,"x":1e400,"admin":true}`), want: ok},
		{name: "C10b a client's id as a string", pieces: post(`{"id":"1","name":"A","email":"a@b"}`), want: ok},
		{name: "C10c numbers out of range", pieces: post(`{"a":-1e999,"b":1e-999,"c":[1E+400],"name":"A","email":"a@b","d":` + strings.Repeat("9", 400) + `}`), want: ok},
		{name: "C10d a number out of range for name", pieces: post(`{"name":1e400,"email":"a@b"}`), want: noName},
		{name: "C10e a number out of range and bad syntax", pieces: post(`{"x":1e400,"name":"A","email":"a@b"`), want: invalidJSON},
		{name: "C11c prototype member", pieces: post(`{"__proto__":{"name":"A","email":"a@b"}}`), want: noName},
		{name: "C11d prototype beside", pieces: post(`{"__proto__":{"name":"B"},"constructor":{"prototype":{"email":"x@y"}},"name":"A","email":"a@b"}`), want: ok},
		{name: "C11e toString for name", pieces: post(`{"toString":"A","email":"a@b"}`), want: noName},
	}
	// A body can nest 8 000 deep within the cap, below the 10 000 where Go's
	// parser stops; what nests deeper cannot be complete.
	for _, depth := range []int{100, 1000, 8000} {
		deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		rows = append(rows, row{name: fmt.Sprintf("C10 nested %d deep", depth), pieces: post(`{"name":"A","email":"a@b","x":` + deep + `}`), want: ok})
	}
	deep := strings.Repeat(`{"x":`, 2700) + "1" + strings.Repeat("}", 2700)
	return append(rows,
		row{name: "C10 objects nested 2700 deep", pieces: post(`{"name":"A","email":"a@b","x":` + deep + `}`), want: ok},
		row{name: "C10 brackets to the cap", pieces: post(strings.Repeat("[", maxBody)), want: invalidJSON},
		row{name: "C10 braces to the cap", pieces: post(strings.Repeat(`{"":`, maxBody/4)), want: invalidJSON})
}

// noObjects are the cases of what is none: other JSON, no JSON, no UTF-8.
func noObjects() []row {
	var rows []row
	for i, body := range []string{
		`null`, `[]`, `"x"`, `7`, `true`, `false`, `-0`, `[{"name":"A","email":"a@b"}]`, `"{\"name\":\"A\",\"email\":\"a@b\"}"`, `["name","email"]`, ` null `, `1e400`, `[1e400]`,
		// Not JSON, though some parsers take it.
		`{`, `}`, `{]`, `{"name":"A","email":"a@b",}`, `{,"name":"A","email":"a@b"}`, `{"name":"A" "email":"a@b"}`, `{"name":"A";"email":"a@b"}`, `{name:"A",email:"a@b"}`,
		`{'name':'A','email':'a@b'}`, `{"name":"A","email":"a@b"`, `{"name":"A","email":"a@b`, `{"name":A,"email":"a@b"}`, `{"name","email"}`, `{"name":,"email":"a@b"}`, `{"name":"A","email":"a@b","x"}`,
		`//c` + "\n" + `{"name":"A","email":"a@b"}`, `{"name":"A",/**/"email":"a@b"}`, `{"name":"A","email":"a@b","x":NaN}`, `{"name":"A","email":"a@b","x":Infinity}`, `{"name":"A","email":"a@b","x":undefined}`,
		`{"name":"A","email":"a@b","x":01}`, `{"name":"A","email":"a@b","x":+1}`, `{"name":"A","email":"a@b","x":1.}`, `{"name":"A","email":"a@b","x":.5}`, `{"name":"A","email":"a@b","x":1e}`, `{"name":"A","email":"a@b","x":1e+}`,
		`{"name":"A","email":"a@b","x":-}`, `{"name":"A","email":"a@b","x":0x10}`, `{"name":"A","email":"a@b","x":1_000}`, `{"name":"A","email":"a@b","x":True}`, `{"name":"A","email":"a@b","x":nul}`, `{"name":"A","email":"a@b","x":[1,]}`,
		`{"name":"\x41","email":"a@b"}`, `{"name":"\'","email":"a@b"}`, `{"name":"\u12","email":"a@b"}`, `{"name":"\u123g","email":"a@b"}`, `{"name":"\U0041","email":"a@b"}`, `{"name":"\`, `{"name":"\u`, `{"name":"A\","email":"a@b"}`,
		"{\"name\":\"a\nb\",\"email\":\"a@b\"}", "{\"name\":\"a\tb\",\"email\":\"a@b\"}", "{\"name\":\"a\x00b\",\"email\":\"a@b\"}", "{\"name\":\"a\x1fb\",\"email\":\"a@b\"}", "{\"na\nme\":\"A\"}",
	} {
		rows = append(rows, row{name: fmt.Sprintf("C04 not an object %d %.24q", i, body), pieces: post(body), want: invalidJSON})
	}
	for i, bad := range []string{
		"\xff", "\xe2\x82", "\xc0\x80", "\xc3", "\xed\xa0\x80", "\xed\xa0\xbd\xed\xb8\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\x80", "\xf0\x9f\x98", "\xe2\x28\xa1",
	} {
		rows = append(rows, row{name: fmt.Sprintf("C06 invalid UTF-8 in a name %d", i), pieces: post(`{"name":"` + bad + `","email":"a@b"}`), want: invalidJSON},
			row{name: fmt.Sprintf("C06 invalid UTF-8 elsewhere %d", i), pieces: post(`{"name":"A","email":"a@b","x":"` + bad + `"}`), want: invalidJSON},
			row{name: fmt.Sprintf("C06 invalid UTF-8 after %d", i), pieces: post(`{"name":"A","email":"a@b"}` + bad), want: invalidJSON})
	}
	return rows
}

// values are the cases of what name and email may be and how they are answered.
func values() []row {
	var rows []row
	for i, v := range []string{`null`, `0`, `1.5`, `true`, `false`, `{}`, `[]`, `["A"]`, `{"name":"A"}`, `""`} {
		rows = append(rows, row{name: fmt.Sprintf("C04 name %d %s", i, v), pieces: post(`{"name":` + v + `,"email":"a@b"}`), want: noName},
			row{name: fmt.Sprintf("C04 name alone %d %s", i, v), pieces: post(`{"name":` + v + `}`), want: noName})
	}
	for i, v := range []string{`null`, `0`, `true`, `{}`, `{"@":"@"}`, `[]`, `["@"]`, `["a@b"]`, `""`, `"a"`, `"a.b"`, `"＠"`} {
		rows = append(rows, row{name: fmt.Sprintf("C04 email %d %s", i, v), pieces: post(`{"name":"A","email":` + v + `}`), want: badEmail})
	}
	rows = append(rows,
		row{name: "C04 empty object", pieces: post(`{}`), want: noName},
		row{name: "C04 no email", pieces: post(`{"name":"A"}`), want: badEmail},
		row{name: "C04 no name", pieces: post(`{"email":"a@b"}`), want: noName},
		row{name: "C04 name before email", pieces: post(`{"email":"x"}`), want: noName},
		row{name: "C04 order does not matter", pieces: post(`{"email":"a@b","name":"A"}`), want: created(`"A"`, `"a@b"`)},
		row{name: "C05a separators", pieces: post(`{"name":"<b>&\u2028","email":"a@b"}`), want: created("\"<b>&\u2028\"", `"a@b"`), allow: separators},
		row{name: "C05b separators raw", pieces: post("{\"name\":\"\u2028\",\"email\":\"\u2029@\"}"), want: created("\"\u2028\"", "\"\u2029@\""), allow: separators},
		row{name: "C05c a backslash before u2028", pieces: post(`{"name":"\\u2028","email":"a@b"}`), want: created(`"\\u2028"`, `"a@b"`)},
	)
	type echo struct{ name, sent, want string } // JSON strings without their quotes
	for _, e := range []echo{
		{"C05 blank", ` `, ` `},
		{"C05 at alone", `@`, `@`},
		{"C05 markup", `<b>&</b>'`, `<b>&</b>'`},
		{"C05 markup escaped", `\u003cb\u003e\u0026\u0027`, `<b>&'`},
		{"C05 short escapes", `\b\f\n\r\t\"\\\/`, `\b\f\n\r\t\"\\/`},
		{"C05 long escapes of the short", `\u0008\u000c\u000a\u000D\u0009\u0022\u005C\u002f`, `\b\f\n\r\t\"\\/`},
		{"C05 controls", `\u0000\u0001\u000b\u000e\u001f\u001F`, `\u0000\u0001\u000b\u000e\u001f\u001f`},
		{"C05 delete and above", `\u007f\u0080\u009f\u00a0`, "\u007f\u0080\u009f\u00a0"},
		{"C05 delete raw", "\u007f\u0080", "\u007f\u0080"},
		{"C05 accents", `é\u00e9\u00E9`, `ééé`},
		{"C05 mark inside", "a\ufeffb", "a\ufeffb"},
		{"C05 noncharacters", "\ufffe\uffff\ufdd0", "\ufffe\uffff\ufdd0"},
		{"C05 replacement", "\ufffd\\ufffd", "\ufffd\ufffd"},
		{"C05 not normalised", "e\u0301", "e\u0301"},
		{"C05 emoji", `😀\ud83d\ude00\uD83D\uDE00`, `😀😀😀`},
		{"C05 last character", "\U0010ffff\\udbff\\udfff", "\U0010ffff\U0010ffff"},
		{"C07a lone high", `\ud800`, "\ufffd"},
		{"C07b low, high", `\udc00\ud800`, "\ufffd\ufffd"},
		{"C07c pair", `\ud83d\ude00`, "😀"},
		{"C07d high, high, low", `\ud83d\ud83d\ude00`, "\ufffd😀"},
		{"C07e high before text", `\ud800A`, "\ufffdA"},
		{"C07f high before an escape", `\ud800\n\u0041`, `` + "\ufffd" + `\nA`},
		{"C07g high, character, low", `\ud83d😀\ude00`, "\ufffd😀\ufffd"},
	} {
		rows = append(rows, row{name: e.name + ", name", pieces: post(`{"name":"` + e.sent + `","email":"a@b"}`), want: created(`"`+e.want+`"`, `"a@b"`)},
			row{name: e.name + ", email", pieces: post(`{"name":"A","email":"` + e.sent + `@"}`), want: created(`"A"`, `"`+e.want+`@"`)})
	}
	for _, h := range []string{
		"X: y", "Content-Type: text/plain", "Content-Type: application/json; charset=utf-8", "Content-Type: application/json; charset=latin1", "Content-Type: APPLICATION/JSON",
		"Content-Type: text/plain\r\nContent-Type: application/json", "Content-Type:", "Content-Encoding: gzip", "Accept: text/html", "Origin: http://h",
	} {
		rows = append(rows, row{name: fmt.Sprintf("C15 %q", h), pieces: post(`{"name":"A","email":"é@b"}`, h), want: created(`"A"`, `"é@b"`)})
	}
	return rows
}

// refusals are the requests that a runtime may refuse before the application
// sees them, and the expectations.
func refusals() []row {
	const valid = `{"name":"A","email":"a@b"}`
	ok := created(`"A"`, `"a@b"`)
	body := "1a\r\n" + valid + "\r\n0\r\n\r\n"
	rows := []row{
		{name: "C22a no Host", pieces: []string{"GET /users/500 HTTP/1.1\r\n\r\n"}, want: refused},
		{name: "C22b two lengths", pieces: []string{request("POST", "/users", "Content-Length: 26", "Content-Length: 27") + valid}, want: refused},
		{name: "C22c length and chunks", pieces: []string{request("POST", "/users", "Content-Length: 26", "Transfer-Encoding: chunked") + body}, want: ok},
		{name: "C22d unknown coding", pieces: []string{request("POST", "/users", "Transfer-Encoding: gzip")}, want: refused},
		{name: "C22e unknown coding before chunks", pieces: []string{request("POST", "/users", "Transfer-Encoding: gzip, chunked") + body}, want: ok},
		{name: "C22f header of 20 000 bytes", pieces: []string{request("GET", "/users/500", "X: "+strings.Repeat("x", 20_000))}, want: found("500")},
		{name: "C22g header of 2 MiB", pieces: []string{request("GET", "/users/500", "X: "+strings.Repeat("x", 2<<20))}, want: refused},
		{name: "C22h HTTP/1.0", pieces: []string{"GET /users/500 HTTP/1.0\r\n\r\n"}, want: found("500"), end: mayClose},
		{name: "C22i bytes above ASCII in the target", pieces: get("/users/é"), want: notFound},
		{name: "C22j invalid UTF-8 in the target", pieces: get("/users/\xc0"), want: badRequest},
		{name: "C22k bad chunk size", pieces: []string{request("POST", "/users", "Transfer-Encoding: chunked") + "zz\r\n"}, want: refused},
		{name: "C22l chunk longer than its size", pieces: []string{request("POST", "/users", "Transfer-Encoding: chunked") + "5\r\n" + valid + "\r\n0\r\n\r\n"}, want: refused},
		{name: "C22m negative length", pieces: []string{request("POST", "/users", "Content-Length: -1")}, want: refused},
		{name: "C22n length with a sign", pieces: []string{request("POST", "/users", "Content-Length: +26") + valid}, want: refused},
		{name: "C22o length of 20 digits", pieces: []string{request("POST", "/users", "Content-Length: 99999999999999999999")}, want: refused},
		{name: "C22p blank before the colon", pieces: []string{request("GET", "/users/500", "X : y")}, want: refused},
		{name: "C22q NUL in a header", pieces: []string{request("GET", "/users/500", "X: a\x00b")}, want: refused},
		{name: "C22r control character in the target", pieces: get("/users/5\x0100"), want: refused},
		{name: "C22s not HTTP", pieces: []string{"hello\r\n\r\n"}, want: refused},
		{name: "C22t target without a slash", pieces: get("users/500"), want: refused},
	}
	for i := range rows {
		rows[i].allow = parser
	}
	return append(rows,
		row{name: "C22u expectation", pieces: post(valid, "Expect: 100-continue"), want: ok, allow: expectation},
		row{name: "C22v expectation of a GET", pieces: []string{request("GET", "/users/500", "Expect: 100-continue")}, want: found("500"), allow: expectation},
		row{name: "C22w expectation, too large", pieces: []string{request("POST", "/users", "Expect: 100-continue", "Content-Length: 20000")}, want: tooLarge, allow: expectation, end: mayClose},
		row{name: "C22x unknown expectation", pieces: post(valid, "Expect: a-miracle"), want: refused, allow: expectation, end: mayClose, also: 417},
	)
}
