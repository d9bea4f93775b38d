package overload

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// tooLarge is a body above the limit of 16 KiB.
const tooLarge = 20_000

// The two ways to send it: its length declared, and in chunks.
var (
	declared = fmt.Sprintf("POST /users HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", tooLarge, strings.Repeat(" ", tooLarge))
	chunked  = "POST /users HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" +
		strings.Repeat(fmt.Sprintf("3e8\r\n%s\r\n", strings.Repeat(" ", 1000)), tooLarge/1000) + "0\r\n\r\n"
)

// oversizers is how many clients send them at once.
const oversizers = 32

// oversized sends bodies that are too large, each on a connection of its own.
func oversized(ctx context.Context, s *subject, t *OverloadTrial) error {
	var next, opened, answered, refused atomic.Uint64
	var wg sync.WaitGroup
	for range oversizers {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= uint64(s.size.oversized) {
					return
				}
				text := declared
				if i%2 == 1 {
					text = chunked
				}
				conn, err := net.DialTimeout("tcp", s.p.Address(), healthPatience)
				if err != nil {
					refused.Add(1)
					continue
				}
				opened.Add(1)
				if is413(conn, text) {
					answered.Add(1)
				}
			}
		})
	}
	wg.Wait()
	t.Connections, t.Opened, t.Answered, t.Refused = oversizers, opened.Load(), answered.Load(), refused.Load()
	return ctx.Err()
}

// is413 sends a request, reads the answer, and resets the connection: what a client
// of a closed connection keeps for a minute would use up the local ports. The server
// may close before it has read everything, so a failed write means nothing.
func is413(conn net.Conn, text string) bool {
	defer conn.Close()
	conn.(*net.TCPConn).SetLinger(0)
	conn.SetDeadline(time.Now().Add(healthPatience))
	go conn.Write([]byte(text))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusRequestEntityTooLarge
}
