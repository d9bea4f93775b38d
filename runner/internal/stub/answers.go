package stub

import (
	"bufio"
	"fmt"
	"net/http"
)

// Answers is what is wrong with an answer: each field is the k of 1 in k.
type Answers struct {
	Silent, Hangup, Truncate, ErrorBody, WrongBody, NotFound, Broken, Redirect int
}

// every reports whether request n is a k-th.
func every(k int, n uint64) bool { return k > 0 && n%uint64(k) == 0 }

// answer sends reply, or what the behaviour says in its place. Where several
// apply to the same request the first in this order does.
func (a Answers) answer(w http.ResponseWriter, r *http.Request, n uint64, right reply) {
	switch {
	case every(a.Silent, n):
		<-r.Context().Done() // until the client gives up
		panic(http.ErrAbortHandler)
	case every(a.Hangup, n):
		panic(http.ErrAbortHandler) // net/http closes without a byte
	case every(a.Truncate, n):
		truncate(w, right)
	case every(a.ErrorBody, n):
		right.body = `{"error":"internal"}`
		right.send(w)
	case every(a.WrongBody, n):
		b := []byte(right.body)
		b[len(b)/2] ^= 1
		right.body = string(b)
		right.send(w)
	case every(a.NotFound, n):
		notFound.send(w)
	case every(a.Broken, n):
		reply{status: http.StatusInternalServerError, body: `{"error":"internal"}`}.send(w)
	case every(a.Redirect, n):
		w.Header().Set("Location", r.URL.Path+"/")
		reply{status: http.StatusMovedPermanently}.send(w)
	default:
		right.send(w)
	}
}

// truncate promises a whole body and sends half of it.
func truncate(w http.ResponseWriter, right reply) {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	writeHalf(buf.Writer, right)
}

func writeHalf(w *bufio.Writer, right reply) {
	fmt.Fprintf(w, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		right.status, http.StatusText(right.status), len(right.body), right.body[:len(right.body)/2])
	w.Flush()
}
