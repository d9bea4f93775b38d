package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	patience   = 5 * time.Second      // for one whole case; the servers' own limits are 10 s
	pieceRest  = 2 * time.Millisecond // between two writes
	probeUser  = "1"
	probeSends = "GET /users/" + probeUser + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
)

// outcome is what one server did with one row.
type outcome struct {
	reply reply // whole as far as it came; its bytes are ours
	wrong error // nil when all is as the contract demands
}

// run sends a row to a server and holds what comes back against the demand: the
// answer, then what was stored, then another request on the same connection.
func (r row) run(ctx context.Context, s Server) outcome {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := dial(ctx, s.Address)
	if err != nil {
		return outcome{wrong: fmt.Errorf("connect: %w", err)}
	}
	c.chunked = s.Chunked
	defer c.net.Close()
	deadline, _ := ctx.Deadline()
	c.net.SetDeadline(deadline)
	// When the caller gives up, reads end at once. Stop is not needed: a deadline
	// of a closed connection does no harm.
	context.AfterFunc(ctx, func() { c.net.SetDeadline(time.Unix(1, 0)) })

	sendErr := c.send(r.pieces, pieceRest)
	switch r.end {
	case abort:
		c.net.(*net.TCPConn).SetLinger(0)
		c.net.Close()
		return outcome{wrong: serves(ctx, s)}
	case halfClose:
		c.net.(*net.TCPConn).CloseWrite()
	}
	got, err := c.read(r.bodiless())
	got.raw, got.body = bytes.Clone(got.raw), bytes.Clone(got.body)
	if errors.Is(err, errNoReply) && sendErr != nil && r.want.status == 0 {
		return outcome{got, nil} // refused while we were still sending
	}
	if err != nil {
		return outcome{got, err}
	}
	return outcome{got, r.judge(c, &got)}
}

// judge decides about a reply that is HTTP by the letter, and follows it up.
func (r row) judge(c *conn, got *reply) error {
	if r.also != 0 && got.status == r.also {
		return nil
	}
	if got.continues > 0 && r.allow != expectation {
		return fmt.Errorf("%d times 100 Continue, want none", got.continues)
	}
	wrong := r.want.check(got, r.allow, r.bodiless())
	if r.want.status == 0 || wrong != nil && r.allow == parser {
		refusalWrong := refusal(got)
		if refusalWrong == nil {
			return ends(c)
		}
		if r.want.status == 0 {
			return refusalWrong
		}
	}
	if wrong != nil {
		return wrong
	}
	if got.closes() {
		if r.end != mayClose && r.allow != parser {
			return errors.New("the server closes the connection, want it kept")
		}
		c.net.(*net.TCPConn).CloseWrite()
		return ends(c)
	}
	if got.status == 201 {
		if err := isStored(c, got); err != nil {
			return err
		}
	}
	return probe(c)
}

// isStored asks for the user that a POST has made. It does so on the same
// connection: in a cluster the other workers do not know that user.
func isStored(c *conn, made *reply) error {
	id := givenID(string(made.body))
	if _, err := c.net.Write([]byte(request("GET", "/users/"+id))); err != nil {
		return fmt.Errorf("ask for the new user %s: %w", id, err)
	}
	got, err := c.read(false)
	if err != nil {
		return fmt.Errorf("ask for the new user %s: %w", id, err)
	}
	if got.status != 200 || !bytes.Equal(got.body, made.body) {
		return fmt.Errorf("ask for the new user %s: %d %s, want 200 %s", id, got.status, capped(string(got.body)), capped(string(made.body)))
	}
	return nil
}

// probe sends one more request on the connection and reads to its end. A reply
// that was longer or shorter than it said shows here.
func probe(c *conn) error {
	if _, err := c.net.Write([]byte(probeSends)); err != nil {
		return fmt.Errorf("next request on the connection: %w", err)
	}
	got, err := c.read(false)
	if err != nil {
		return fmt.Errorf("next request on the connection: %w", err)
	}
	if err := found(probeUser).check(&got, none, false); err != nil {
		return fmt.Errorf("next request on the connection: %w", err)
	}
	return ends(c)
}

// ends demands that the connection ends and nothing more comes.
func ends(c *conn) error {
	extra, err := c.rest()
	if len(extra) > 0 {
		return fmt.Errorf("%d bytes after the end of the answer: %s", len(extra), capped(string(extra)))
	}
	return err
}

// serves demands that a server still takes connections and answers.
func serves(ctx context.Context, s Server) error {
	c, err := dial(ctx, s.Address)
	if err != nil {
		return fmt.Errorf("connect again: %w", err)
	}
	c.chunked = s.Chunked
	defer c.net.Close()
	deadline, _ := ctx.Deadline()
	c.net.SetDeadline(deadline)
	return probe(c)
}
