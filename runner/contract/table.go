package contract

import (
	"fmt"
	"strings"
)

// row is one case of the table: bytes to send and the answer they must get. Each
// row runs on a connection of its own, which must serve another request after it.
type row struct {
	name   string   // a case id, such as C01a, and what it is about
	pieces []string // written one after the other
	want   want
	allow  allowance
	end    ending
	also   int // a status that the runtime may answer by itself, whatever else is in the reply; 0 for none
}

// ending is what the client or the server does to the connection.
type ending int

const (
	keep      ending = iota // the server must keep the connection
	mayClose                // the server may announce that it closes, and then must
	halfClose               // the client ends its half after the last piece
	abort                   // the client resets the connection and reads nothing
)

// bodiless reports whether the answer has a length but no body.
func (r row) bodiless() bool { return strings.HasPrefix(r.pieces[0], "HEAD ") }

// request is one request with a Host, as most rows send it.
func request(method, target string, headers ...string) string {
	h := ""
	for _, l := range headers {
		h += l + "\r\n"
	}
	return method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + h + "\r\n"
}

func get(target string) []string { return []string{request("GET", target)} }

func call(method, target string) []string { return []string{request(method, target)} }

// post is POST /users with a body of declared length.
func post(body string, headers ...string) []string {
	if headers == nil {
		headers = []string{"Content-Type: application/json"}
	}
	return []string{request("POST", "/users", append(headers, fmt.Sprintf("Content-Length: %d", len(body)))...) + body}
}

// chunked is POST /users with a body in these chunks, each a write of its own.
func chunked(chunks ...string) []string {
	pieces := []string{request("POST", "/users", "Transfer-Encoding: chunked")}
	for _, c := range chunks {
		pieces = append(pieces, fmt.Sprintf("%x\r\n%s\r\n", len(c), c))
	}
	pieces[len(pieces)-1] += "0\r\n\r\n"
	return pieces
}

// padded is a valid body of exactly n bytes.
func padded(n int) string {
	const head, tail = `{"email":"a@b","name":"A","pad":"`, `"}`
	return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
}

// table is the whole contract.
func table() []row {
	var all []row
	for _, part := range [][]row{paths(), methods(), objects(), noObjects(), values(), framings(), refusals()} {
		all = append(all, part...)
	}
	return all
}
