// Package contract holds the agreement between the servers as one table of raw
// requests, proves servers against it and against each other, and fuzzes them
// for differences. Nothing is timed between servers that answer differently.
package contract

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"gonogo/runner/record"
)

// Server is one running target.
type Server struct {
	Name    string
	Address string // host:port
	// Known are the cases that it is known to answer in its own way: an answer of any
	// kind will do, or an end of the connection. Chunked: it sends users in chunks, and has to.
	Known   []string
	Chunked bool
}

// Result is the outcome of a check.
type Result struct {
	Cases       int             `json:"cases"`
	Parity      []record.Parity `json:"parity"` // one entry a server, in their order
	Differences []Difference    `json:"differences"`
}

// Difference is a case in which a server broke the contract, or in which servers
// answered differently although each alone would pass.
type Difference struct {
	Case    string   `json:"case"`
	Sent    string   `json:"sent"` // quoted; cut when long
	Want    string   `json:"want"`
	Answers []Answer `json:"answers"`
	Repeat  string   `json:"repeat,omitempty"` // the command that does it again
}

// Answer is one server's part in a difference.
type Answer struct {
	Server string `json:"server"`
	Raw    string `json:"raw"` // the answer as received, quoted; cut when long
	Wrong  string `json:"wrong,omitempty"`
}

func (d Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  sent %s\n  want %s\n", d.Case, d.Sent, d.Want)
	for _, a := range d.Answers {
		fmt.Fprintf(&b, "  %s answered %s\n", a.Server, a.Raw)
		if a.Wrong != "" {
			fmt.Fprintf(&b, "    wrong: %s\n", a.Wrong)
		}
	}
	if d.Repeat != "" {
		fmt.Fprintf(&b, "  repeat: %s\n", d.Repeat)
	}
	return b.String()
}

// String lists the differences; it is empty when there are none.
func (r Result) String() string {
	var b strings.Builder
	for _, d := range r.Differences {
		b.WriteString(d.String())
	}
	return b.String()
}

// parallel is how many cases are under way at once.
const parallel = 48

// Check runs the whole table against every server, holds each answer against
// the contract, and compares the servers with each other to the byte. At last
// it asks whether they are still the same processes. The error is for a check
// that could not be made; what a server does wrong is a Difference.
func Check(ctx context.Context, servers []Server) (Result, error) {
	return check(ctx, servers, table())
}

func check(ctx context.Context, servers []Server, rows []row) (Result, error) {
	result := Result{Cases: len(rows)}
	for _, s := range servers {
		// How many bytes a whole reply takes: what each of millions of replies
		// costs on the wire. A reply that is wrong is the table's business.
		r, err := ask(ctx, s.Address, "GET", "/users/500")
		if dialErr := (*net.OpError)(nil); errors.As(err, &dialErr) && dialErr.Op == "dial" {
			return result, fmt.Errorf("check %s: %w", s.Name, err)
		}
		result.Parity = append(result.Parity, record.Parity{Target: s.Name, Cases: len(rows), ReplyBytesGET: len(r.raw)})
	}
	before := identities(ctx, servers)
	outcomes := runAll(ctx, servers, rows)
	if err := ctx.Err(); err != nil {
		return result, err
	}
	for i, r := range rows {
		held, of := heldTo(servers, outcomes[i], r.name)
		if d, differs := compare(held, of, r.allow); differs {
			d.Case, d.Sent, d.Want = r.name, capped(strings.Join(r.pieces, "")), r.want.String()
			result.Differences = append(result.Differences, d)
		}
	}
	result.Differences = append(result.Differences, others(ctx, servers, before)...)
	return result, ctx.Err()
}

// runAll runs every row against every server.
func runAll(ctx context.Context, servers []Server, rows []row) [][]outcome {
	outcomes := make([][]outcome, len(rows))
	var wg sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for i, r := range rows {
		outcomes[i] = make([]outcome, len(servers))
		for j, s := range servers {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				outcomes[i][j] = r.run(ctx, s)
			})
		}
	}
	wg.Wait()
	return outcomes
}

// heldTo leaves out, of one case, the servers that are known to answer it in their
// own way, and did, if only by ending the connection.
func heldTo(servers []Server, outcomes []outcome, name string) ([]Server, []outcome) {
	var held []Server
	var of []outcome
	for i, s := range servers {
		silent := outcomes[i].reply.status == 0 && !errors.Is(outcomes[i].wrong, errNoReply)
		if !slices.Contains(s.Known, name) || silent {
			held, of = append(held, s), append(of, outcomes[i])
		}
	}
	return held, of
}

// compare looks for what is wrong with the answers to one case, each alone and
// side by side. It reports false when nothing is.
func compare(servers []Server, outcomes []outcome, a allowance) (Difference, bool) {
	differs := false
	for i := range outcomes {
		differs = differs || outcomes[i].wrong != nil
	}
	if !differs && len(outcomes) > 0 && a != parser && a != expectation {
		first := signature(&outcomes[0].reply, a)
		for i := range outcomes[1:] {
			if signature(&outcomes[i+1].reply, a) != first {
				outcomes[i+1].wrong = errors.New("status line, Content-Type, Allow, framing or body is not that of " + servers[0].Name)
				differs = true
			}
		}
	}
	if !differs {
		return Difference{}, false
	}
	var d Difference
	for i, o := range outcomes {
		answer := Answer{Server: servers[i].Name, Raw: capped(string(o.reply.raw))}
		if o.wrong != nil {
			answer.Wrong = o.wrong.Error()
		}
		d.Answers = append(d.Answers, answer)
	}
	return d, true
}

// ask sends one request on a connection of its own.
func ask(ctx context.Context, address, method, target string) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := dial(ctx, address)
	if err != nil {
		return reply{}, err
	}
	defer c.net.Close()
	deadline, _ := ctx.Deadline()
	c.net.SetDeadline(deadline)
	if err := c.send(call(method, target), 0); err != nil {
		return reply{}, err
	}
	return c.read(method == "HEAD")
}

// spots touch every route and leave the store as it was.
var spots = []row{
	{pieces: get("/users/1"), want: found("1")},
	{pieces: get("/users/10000"), want: found("10000")},
	{pieces: call("HEAD", "/users/500"), want: found("500")},
	{pieces: get("/users/0500"), want: notFound},
	{pieces: get("/users"), want: wrongMethod("POST")},
}

// Spot asks a server a few questions that do not change its store, to see that
// it is of the kind that was checked. It returns when the first was answered, or
// the first wrong answer.
func Spot(ctx context.Context, s Server) (answered time.Time, err error) {
	for i, r := range spots {
		o := r.run(ctx, s)
		if o.wrong != nil {
			line, _, _ := strings.Cut(r.pieces[0], " HTTP")
			return time.Time{}, fmt.Errorf("spot-check %s: %s: %w", s.Address, line, o.wrong)
		}
		if i == 0 {
			answered = time.Now()
		}
	}
	return answered, nil
}
