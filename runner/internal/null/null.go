// Package null is the cheapest HTTP server there can be: whatever arrives on a
// connection is answered by the same bytes, unread. A generator is held against
// it to learn what the generator itself can do, and against its stalls to learn
// whether the generator sees them.
package null

import (
	"fmt"
	"net"
	"time"
)

// Body is the body of every reply: that of user 500, 60 bytes.
const Body = `{"id":"500","name":"User 500","email":"user500@example.com"}`

// Reply is the whole reply.
var Reply = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(Body), Body)

// Stall freezes the server for For at the end of every period of Every. The
// zero value never does.
type Stall struct{ For, Every time.Duration }

// left is how long the server must be frozen from a time since its begin.
func (s Stall) left(since time.Duration) time.Duration {
	if s.Every <= 0 {
		return 0
	}
	if left := s.Every - since%s.Every; left <= s.For {
		return left
	}
	return 0
}

// Serve answers on l until it fails. Requests must arrive in one piece each,
// as those of every generator do that writes a request by one call.
func Serve(l *net.TCPListener, s Stall) error { return serve(l, s) }
