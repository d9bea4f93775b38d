package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gonogo/runner/record"
)

// Exchange is a request as it was sent, and what one server answered.
type Exchange struct {
	Request int    // its place in the list, from 0
	Sent    string // method and path, {id} filled in
	ID      int    // that {id} became
	Status  int
	Body    []byte
	Err     error // of an answer that did not come
}

// Equality is how services that know nothing of the contract answered the same
// requests.
type Equality struct {
	Requests    int          `json:"requests"`         // sent to each, {id} filled in
	Servers     []string     `json:"servers"`          // the first is what the others are held against
	Differences []Difference `json:"differences"`      //
	Unused      []string     `json:"unused,omitempty"` // members to ignore that no answer holds
}

// maxAnswer bounds an answer; who sends more is not compared.
const maxAnswer = 16 << 20

// client opens a connection for each request, follows no redirect and takes no
// proxy from the environment.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       patience,
}

// Ask sends requests one after the other. Where one holds {id} it is sent for the
// first, the middle and the last of 1..ids. The error is for a server that takes no
// connection at all.
func Ask(ctx context.Context, server Server, host string, requests []record.Request, ids int) ([]Exchange, error) {
	var all []Exchange
	for i, r := range requests {
		for _, id := range samples(r, ids) {
			x := answer(ctx, server.Address, host, r, id)
			x.Request = i
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if len(all) == 0 && unreachable(x.Err) {
				return nil, fmt.Errorf("ask %s: %w", server.Name, x.Err)
			}
			all = append(all, x)
		}
	}
	return all, nil
}

// unreachable reports whether not even a connection came about.
func unreachable(err error) bool {
	dial := (*net.OpError)(nil)
	return errors.As(err, &dial) && dial.Op == "dial"
}

// samples are the numbers that {id} stands for; 0 where there is none.
func samples(r record.Request, ids int) []int {
	if !strings.Contains(r.Path+r.Body+r.WantBody, "{id}") {
		return []int{0}
	}
	return slices.Compact([]int{1, max(1, ids/2), max(1, ids)})
}

func answer(ctx context.Context, address, host string, r record.Request, id int) Exchange {
	fill := func(s string) string { return strings.ReplaceAll(s, "{id}", strconv.Itoa(id)) }
	path := fill(r.Path)
	x := Exchange{ID: id, Sent: r.Method + " " + path}
	q, err := http.NewRequestWithContext(ctx, r.Method, "http://"+address, strings.NewReader(fill(r.Body)))
	if err != nil {
		x.Err = err
		return x
	}
	q.URL = &url.URL{Scheme: "http", Host: address, Opaque: path} // as written, escaped by nobody
	q.Host = host
	q.Header.Set("User-Agent", "gonogo")
	for name, value := range r.Header {
		q.Header.Set(name, value)
	}
	resp, err := client.Do(q)
	if err != nil {
		x.Err = err
		return x
	}
	defer resp.Body.Close()
	x.Status = resp.StatusCode
	x.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch coding := resp.Header.Get("Content-Encoding"); {
	case err != nil:
		x.Err = fmt.Errorf("read answer: %w", err)
	case len(x.Body) > maxAnswer:
		x.Err = fmt.Errorf("read answer: it is longer than %d MiB", maxAnswer>>20)
	case coding != "" && coding != "identity":
		x.Err = fmt.Errorf("read answer: it is coded as %q and cannot be compared: leave Accept-Encoding out of the request", coding)
	}
	return x
}

// Wrong says what an exchange has against its request's own demands: the status
// (any 2xx where none is named) and the body, if one is. Nil: nothing.
func (x Exchange) Wrong(r record.Request) error {
	switch {
	case x.Err != nil:
		return x.Err
	case r.WantStatus == 0 && x.Status/100 != 2:
		return fmt.Errorf("status %d, want any of 200 to 299", x.Status)
	case r.WantStatus != 0 && x.Status != r.WantStatus:
		return fmt.Errorf("status %d, want %d", x.Status, r.WantStatus)
	case r.WantBody != "" && !matches(string(x.Body), strings.ReplaceAll(r.WantBody, "{id}", strconv.Itoa(x.ID))):
		return errors.New("the body is not the wanted one")
	}
	return nil
}

// matches holds a body against a wanted one, in which {digits} may stand once.
func matches(body, want string) bool {
	before, after, some := strings.Cut(want, "{digits}")
	if !some {
		return body == want
	}
	digits, ok := strings.CutPrefix(body, before)
	digits, ok2 := strings.CutSuffix(digits, after)
	return ok && ok2 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// mostPaths bounds what is told of one pair of answers.
const mostPaths = 8

// Equal holds the answers of servers against the requests' own demands and against
// those of the first server: the same status and the same JSON, whatever the order
// of members; what is not JSON to the byte. Members named in ignore, or by the
// request, are not looked at, at any depth. answers has a list a server, as Ask
// gives it.
func Equal(servers []string, answers [][]Exchange, requests []record.Request, ignore []string) Equality {
	e := Equality{Servers: servers, Differences: []Difference{}}
	if len(answers) == 0 {
		return e
	}
	e.Requests = len(answers[0])
	seen := map[string]bool{}
	for k, first := range answers[0] {
		r := requests[first.Request]
		skip := slices.Concat(ignore, r.Ignore)
		d := Difference{Case: fmt.Sprintf("request %d", first.Request+1), Sent: first.Sent, Want: wanting(r)}
		if len(servers) > 1 {
			d.Want += ", as " + servers[0] + " answers"
		}
		differs := false
		for i, name := range servers {
			x := answers[i][k]
			wrong := x.Wrong(r)
			if wrong == nil && i > 0 && first.Err == nil {
				wrong = unlike(x, first, servers[0], skip)
			}
			a := Answer{Server: name, Raw: fmt.Sprintf("%d %s", x.Status, capped(string(x.Body)))}
			if x.Err != nil && x.Status == 0 {
				a.Raw = "nothing"
			}
			if wrong != nil {
				a.Wrong, differs = wrong.Error(), true
			}
			d.Answers = append(d.Answers, a)
			held(x.Body, skip, seen)
		}
		if differs {
			e.Differences = append(e.Differences, d)
		}
	}
	for _, name := range ignored(ignore, requests) {
		if !seen[name] {
			e.Unused = append(e.Unused, name)
		}
	}
	return e
}

func wanting(r record.Request) string {
	text := "any status of 200 to 299"
	if r.WantStatus != 0 {
		text = fmt.Sprintf("status %d", r.WantStatus)
	}
	if r.WantBody != "" {
		text += " and " + capped(r.WantBody)
	}
	return text
}

// ignored are the members that are ignored anywhere, each once.
func ignored(ignore []string, requests []record.Request) []string {
	names := slices.Clone(ignore)
	for _, r := range requests {
		names = append(names, r.Ignore...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unlike says how an answer differs from that of the first server.
func unlike(x, first Exchange, name string, ignore []string) error {
	if x.Status != first.Status {
		return fmt.Errorf("status %d, %s answered %d", x.Status, name, first.Status)
	}
	a, isJSON := decode(x.Body)
	b, isJSON2 := decode(first.Body)
	switch {
	case isJSON != isJSON2:
		return fmt.Errorf("the body is %s, that of %s is %s", form(isJSON), name, form(isJSON2))
	case !isJSON && !bytes.Equal(x.Body, first.Body):
		return fmt.Errorf("the body is no JSON and not that of %s to the byte", name)
	case !isJSON:
		return nil
	}
	d := comparison{other: name, ignore: ignore}
	d.compare("$", a, b)
	if len(d.paths) == 0 {
		return nil
	}
	if n := len(d.paths) - mostPaths; n > 0 {
		d.paths = append(d.paths[:mostPaths], fmt.Sprintf("and %d more", n))
	}
	return errors.New(strings.Join(d.paths, "; "))
}

func form(isJSON bool) string {
	if isJSON {
		return "JSON"
	}
	return "no JSON"
}

func (e Equality) String() string {
	var b strings.Builder
	for _, d := range e.Differences {
		b.WriteString(d.String())
	}
	return b.String()
}
