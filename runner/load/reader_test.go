package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gonogo/runner/record"
)

// outcome is what a reader made of a reply.
type outcome struct {
	status int
	length int64
	body   string
	closes bool
	kind   string // of error
}

// readAll feeds a reply in pieces of the given size and then the end of the
// connection.
func readAll(r *reader, reply string, noBody bool, piece int) outcome {
	r.reset(noBody)
	finish := func(whole bool, f *fault) (outcome, bool) {
		switch {
		case f != nil:
			return outcome{kind: f.kind}, true
		case whole:
			return outcome{status: r.head.status, length: r.length, body: string(r.body()), closes: r.head.closes}, true
		}
		return outcome{}, false
	}
	for rest := reply; rest != ""; {
		n := copy(r.space(), rest[:min(piece, len(rest))])
		rest = rest[n:]
		whole, f := r.feed(n)
		if whole && rest != "" { // a piece ended where the reply does
			whole, f = false, &fault{record.ErrMalformed, "more follows"}
		}
		if o, end := finish(whole, f); end {
			return o
		}
	}
	whole, f := r.eof()
	o, end := finish(whole, f)
	if !end {
		panic("neither an end nor an error at the end of the connection")
	}
	return o
}

func TestReader(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	body := func(status int, b string, closes bool) outcome {
		return outcome{status: status, length: int64(len(b)), body: b, closes: closes}
	}
	bad := func(kind string) outcome { return outcome{kind: kind} }
	for _, c := range []struct {
		name, reply string
		head        bool
		want        outcome
	}{
		{"length", ok + "Content-Length: 5\r\n\r\nhello", false, body(200, "hello", false)},
		{"any case, spaces", ok + "cOnTent-lenGTH:\t 5 \r\n\r\nhello", false, body(200, "hello", false)},
		{"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", false, body(200, "hello", false)},
		{"no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false, body(200, "", false)},
		{"length twice the same", ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", false, body(200, "hello", false)},
		{"close", ok + "Connection: close\r\nContent-Length: 2\r\n\r\nhi", false, body(200, "hi", true)},
		{"close in a list", ok + "Connection: x, Close\r\nContent-Length: 2\r\n\r\nhi", false, body(200, "hi", true)},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", false, body(200, "hi", true)},
		{"HTTP/1.0 kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", false, body(200, "hi", false)},
		{"to the end", ok + "\r\nhello", false, body(200, "hello", true)},
		{"to the end, nothing", ok + "\r\n", false, body(200, "", true)},
		{"chunked", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n", false, body(200, "hello world", false)},
		{"chunked, trailer", ok + "Transfer-Encoding: Chunked\r\n\r\nA\r\n0123456789\r\n00\r\nX: y\r\n\r\n", false, body(200, "0123456789", false)},
		{"chunked, empty", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, body(200, "", false)},
		{"HEAD with a length", ok + "Content-Length: 500\r\n\r\n", true, body(200, "", false)},
		{"HEAD with chunks", ok + "Transfer-Encoding: chunked\r\n\r\n", true, body(200, "", false)},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", false, body(204, "", false)},
		{"304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", false, body(304, "", false)},
		{"100 before", "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", false, body(200, "hi", false)},
		{"103 with headers before", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", false, body(200, "hi", false)},

		{"nothing", "", false, bad(record.ErrClosed)},
		{"cut in the head", ok + "Content-Le", false, bad(record.ErrTruncated)},
		{"cut after 100", "HTTP/1.1 100 Continue\r\n\r\n", false, bad(record.ErrTruncated)},
		{"cut in the body", ok + "Content-Length: 5\r\n\r\nhell", false, bad(record.ErrTruncated)},
		{"cut in a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", false, bad(record.ErrTruncated)},
		{"cut before the last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false, bad(record.ErrTruncated)},

		{"not HTTP", "SSH-2.0-x\r\n", false, bad(record.ErrMalformed)},
		{"HTTP/2", "HTTP/2 200 OK\r\n\r\n", false, bad(record.ErrMalformed)},
		{"101", "HTTP/1.1 101 Switching Protocols\r\n\r\n", false, bad(record.ErrMalformed)},
		{"interim without end", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", maxInterim+1), false, bad(record.ErrMalformed)},
		{"too much", ok + "Content-Length: 5\r\n\r\nhello!", false, bad(record.ErrMalformed)},
		{"two replies", ok + "Content-Length: 0\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n", false, bad(record.ErrMalformed)},
		{"body after HEAD", ok + "Content-Length: 5\r\n\r\nhello", true, bad(record.ErrMalformed)},
		{"chunk line with a bare LF", ok + "Transfer-Encoding: chunked\r\n\r\n0\n\r\n", false, bad(record.ErrMalformed)},
		{"blank before an extension", ok + "Transfer-Encoding: chunked\r\n\r\n0 ;a\r\n\r\n", false, bad(record.ErrMalformed)},
		{"trailer without colon", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nx\r\n\r\n", false, bad(record.ErrMalformed)},
		{"after the last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nx", false, bad(record.ErrMalformed)},
		{"two lengths", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", false, bad(record.ErrMalformed)},
		{"length and chunks", ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, bad(record.ErrMalformed)},
		{"chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, bad(record.ErrMalformed)},
		{"negative length", ok + "Content-Length: -1\r\n\r\n", false, bad(record.ErrMalformed)},
		{"empty length", ok + "Content-Length:\r\n\r\n", false, bad(record.ErrMalformed)},
		{"huge length", ok + "Content-Length: 99999999999999999999\r\n\r\n", false, bad(record.ErrMalformed)},
		{"gzip coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", false, bad(record.ErrMalformed)},
		{"folded line", ok + "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", false, bad(record.ErrMalformed)},
		{"line without colon", ok + "Content-Length 5\r\n\r\n", false, bad(record.ErrMalformed)},
		{"space before colon", ok + "Content-Length : 5\r\n\r\nhello", false, bad(record.ErrMalformed)},
		{"status of two digits", "HTTP/1.1 99 X\r\n\r\n", false, bad(record.ErrMalformed)},
		{"chunk size missing", ok + "Transfer-Encoding: chunked\r\n\r\n\r\n", false, bad(record.ErrMalformed)},
		{"chunk size too long", ok + "Transfer-Encoding: chunked\r\n\r\n0000000000000\r\n", false, bad(record.ErrMalformed)},
		{"no end after a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", false, bad(record.ErrMalformed)},
		{"head without end", ok + strings.Repeat("X: "+strings.Repeat("y", 100)+"\r\n", 200), false, bad(record.ErrMalformed)},
		{"line without end", "HTTP/1.1 200 " + strings.Repeat("y", 2*maxHead), false, bad(record.ErrMalformed)},
	} {
		r := newReader(1000)
		for piece := 1; piece <= len(c.reply)+1; piece++ {
			if len(c.reply) > 1000 {
				piece += 1000
			}
			if got := readAll(r, c.reply, c.head, piece); got != c.want {
				t.Errorf("%s, pieces of %d: got %+v, want %+v", c.name, piece, got, c.want)
				break
			}
		}
	}
}

// A body that is longer than what is kept is counted to the byte.
func TestReaderLongBody(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 10_000)
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for rest := long; rest != ""; {
		n := min(len(rest), 4321)
		chunked += fmt.Sprintf("%x\r\n%s\r\n", n, rest[:n])
		rest = rest[n:]
	}
	for _, reply := range []string{
		fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(long), long),
		"HTTP/1.1 200 OK\r\n\r\n" + long,
		chunked + "0\r\n\r\n",
	} {
		r := newReader(100)
		for _, piece := range []int{7, 1000, 1 << 20} {
			got := readAll(r, reply, false, piece)
			if got.kind != "" || got.length != int64(len(long)) || !strings.HasPrefix(long, got.body) || len(got.body) < 100 {
				t.Errorf("pieces of %d: %s, length %d, kept %d", piece, got.kind, got.length, len(got.body))
			}
		}
	}
}

// The memory of the last head must not be taken for another.
func TestReaderRemembersHeads(t *testing.T) {
	r := newReader(100)
	reply := func(date, length int, body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nDate: %02d\r\nContent-Length: %d\r\n\r\n%s", date, length, body)
	}
	for i, c := range []struct{ reply, body string }{
		{reply(1, 2, "ab"), "ab"}, {reply(1, 2, "cd"), "cd"}, {reply(1, 3, "xyz"), "xyz"}, {reply(2, 2, "ab"), "ab"}, {reply(2, 2, "ef"), "ef"},
	} {
		if got := readAll(r, c.reply, false, 1000); got.body != c.body || got.kind != "" {
			t.Errorf("reply %d: %+v, want %q", i, got, c.body)
		}
	}
	// The same head means no body to HEAD and a body to GET.
	if got := readAll(r, "HTTP/1.1 200 OK\r\nDate: 02\r\nContent-Length: 2\r\n\r\n", true, 1000); got.kind != "" || got.length != 0 {
		t.Errorf("HEAD: %+v", got)
	}
	if got := readAll(r, reply(2, 2, "gh"), false, 1000); got.body != "gh" {
		t.Errorf("GET after HEAD: %+v", got)
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	r := newReader(100)
	plain := []byte("HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Length: 5\r\n\r\nhello")
	chunked := []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	for _, reply := range [][]byte{plain, chunked} {
		if n := testing.AllocsPerRun(100, func() {
			r.last.size = 0
			r.reset(false)
			if whole, _ := r.feed(copy(r.space(), reply)); !whole {
				t.Fatal("not whole")
			}
		}); n != 0 {
			t.Errorf("%v allocations for %q", n, reply)
		}
	}
}

// oracle is what net/http makes of a reply.
func oracle(reply []byte, noBody bool) (outcome, bool) {
	method := "GET"
	if noBody {
		method = "HEAD"
	}
	in := bufio.NewReader(bytes.NewReader(reply))
	for range maxInterim + 1 {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return outcome{}, false
		}
		if res.StatusCode/100 == 1 {
			continue
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return outcome{}, false
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			return outcome{}, false // bytes after the reply
		}
		return outcome{status: res.StatusCode, length: int64(len(body)), body: string(body)}, true
	}
	return outcome{}, false
}

// FuzzReader: whatever this reader accepts, net/http accepts too and reads
// alike; pieces make no difference; nothing panics. It may refuse more.
func FuzzReader(f *testing.F) {
	for _, reply := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nnone",
		"HTTP/1.0 204 No Content\nX: y\n\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: x\r\n\r\n",
	} {
		f.Add([]byte(reply), false, uint16(1))
		f.Add([]byte(reply), true, uint16(3))
	}
	f.Fuzz(func(t *testing.T, reply []byte, noBody bool, piece uint16) {
		if len(reply) > 4*maxHead {
			return
		}
		r := newReader(4 * maxHead)
		whole := readAll(r, string(reply), noBody, len(reply)+1)
		if pieces := readAll(r, string(reply), noBody, max(int(piece), 1)); pieces != whole {
			t.Fatalf("in one piece %+v, in pieces of %d %+v", whole, piece, pieces)
		}
		if whole.kind != "" {
			return
		}
		want, ok := oracle(reply, noBody)
		if !ok {
			t.Fatalf("read as %+v, which net/http refuses", whole)
		}
		if whole.status != want.status || whole.length != want.length || whole.body != want.body {
			t.Fatalf("read as %+v, net/http reads %+v", whole, want)
		}
	})
}
