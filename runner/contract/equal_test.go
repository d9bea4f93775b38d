package contract

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gonogo/runner/record"
)

// answering is a service that answers each path with a status and a body.
func answering(t *testing.T, name string, status int, bodies map[string]string) Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		body, ok := bodies[r.Method+" "+r.RequestURI]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, strings.ReplaceAll(body, "{sent}", string(sent)))
	}))
	t.Cleanup(s.Close)
	return Server{Name: name, Address: s.Listener.Addr().String()}
}

// equalOf asks both and compares.
func equalOf(t *testing.T, requests []record.Request, ignore []string, servers ...Server) Equality {
	t.Helper()
	var names []string
	var answers [][]Exchange
	for _, s := range servers {
		list, err := Ask(t.Context(), s, s.Address, requests, 10)
		if err != nil {
			t.Fatal(err)
		}
		names, answers = append(names, s.Name), append(answers, list)
	}
	return Equal(names, answers, requests, ignore)
}

// TestEqual: two services answer one request; what is told of it. The wanted texts
// follow from RFC 8259: members have no order, numbers are values, arrays have an
// order.
func TestEqual(t *testing.T) {
	for name, c := range map[string]struct {
		a, b   string
		ignore []string
		want   string // in what is told; "": they are equal
	}{
		"the same":                        {`{"id":1}`, `{"id":1}`, nil, ""},
		"members in another order":        {`{"id":1,"name":"A"}`, `{"name":"A", "id":1}`, nil, ""},
		"numbers by value":                {`[1.0,100,-0,0.5e1,12e-1]`, `[1,1e2,0,5,1.2]`, nil, ""},
		"beyond float64":                  {`[9007199254740992]`, `[9007199254740993]`, nil, "$[0]: 9007199254740993, a has 9007199254740992"},
		"an exponent nobody writes out":   {`[1e999999999]`, `[1e999999998]`, nil, "$[0]: 1e999999998"},
		"a sign":                          {`[-1]`, `[1]`, nil, "$[0]: 1, a has -1"},
		"a text that looks like a number": {`{"id":1}`, `{"id":"1"}`, nil, `$.id: "1", a has 1`},
		"a number for a text":             {`{"id":"1"}`, `{"id":1}`, nil, `$.id: 1, a has "1"`},
		"escapes":                         {`{"n":"\u0041"}`, `{"n":"A"}`, nil, ""},
		"null is not absent":              {`{"id":null}`, `{}`, nil, "$.id: absent, a has null"},
		"a member more":                   {`{}`, `{"a b":false}`, nil, `$["a b"]: false, absent at a`},
		"false is not null":               {`{"x":false}`, `{"x":null}`, nil, "$.x: null, a has false"},
		"an object for a text":            {`{"x":"{}"}`, `{"x":{}}`, nil, "$.x: an object of 0 members"},
		"an array's order":                {`[1,2]`, `[2,1]`, nil, "$[0]: 2, a has 1; $[1]: 1, a has 2"},
		"an array's length":               {`{"u":[{"n":1}]}`, `{"u":[{"n":2},{"n":1}]}`, nil, "$.u: 2 elements, a has 1; $.u[0].n: 2, a has 1"},
		"deep":                            {`{"u":[{"n":{"m":1}}]}`, `{"u":[{"n":{"m":2}}]}`, nil, "$.u[0].n.m: 2, a has 1"},
		"ignored at any depth":            {`{"ts":1,"u":[{"ts":2,"n":1}]}`, `{"ts":3,"u":[{"n":1}]}`, []string{"ts"}, ""},
		"ignored and another":             {`{"ts":1,"n":1}`, `{"ts":3,"n":2}`, []string{"ts"}, "$.n: 2, a has 1"},
		"two values":                      {`{"id":1}`, `{"id":1}{}`, nil, "the body is no JSON, that of a is JSON"},
		"texts":                           {"hello", "hello", nil, ""},
		"other texts":                     {"hello", "Hello", nil, "not that of a to the byte"},
		"nothing":                         {"", "", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			requests := []record.Request{{Method: "GET", Path: "/x"}}
			e := equalOf(t, requests, c.ignore, answering(t, "a", 200, map[string]string{"GET /x": c.a}), answering(t, "b", 200, map[string]string{"GET /x": c.b}))
			if c.want == "" && len(e.Differences) == 0 {
				return
			}
			if len(e.Differences) != 1 || c.want == "" || !strings.Contains(e.Differences[0].Answers[1].Wrong, c.want) || e.Differences[0].Answers[0].Wrong != "" {
				t.Errorf("told %q, want %q", e, c.want)
			}
		})
	}
}

func TestEqualStatusesAndBodies(t *testing.T) {
	bodies := map[string]string{
		"GET /n/1": `{"id":1}`, "GET /n/5": `{"id":5}`, "GET /n/10": `{"id":10}`, // of {id} 1, 10/2, 10
		"POST /n": `{"id":"77","is":{sent}}`, "GET /a%2Fb?q={x}": "raw",
	}
	a, b := answering(t, "a", 200, bodies), answering(t, "b", 200, bodies)
	requests := []record.Request{
		{Method: "GET", Path: "/n/{id}", WantBody: `{"id":{id}}`},
		{Method: "POST", Path: "/n", Body: `{"of":{id}}`, WantStatus: 200, WantBody: `{"id":"{digits}","is":{"of":{id}}}`},
		{Method: "GET", Path: "/a%2Fb?q={x}", WantStatus: 200},
		{Method: "GET", Path: "/none", WantStatus: 404},
	}
	if e := equalOf(t, requests, nil, a, b); len(e.Differences) > 0 || e.Requests != 3+3+1+1 {
		t.Errorf("%d requests, told %q", e.Requests, e)
	}
	requests = []record.Request{{Method: "GET", Path: "/none"}, {Method: "GET", Path: "/n/5", WantStatus: 201}, {Method: "GET", Path: "/n/5", WantBody: `{"id":{digits}0}`}}
	e := equalOf(t, requests, nil, a, answering(t, "c", 503, bodies))
	var told []string
	for _, d := range e.Differences {
		told = append(told, d.Case+": "+d.Answers[0].Wrong+" / "+d.Answers[1].Wrong)
	}
	want := []string{
		"request 1: status 404, want any of 200 to 299 / status 404, want any of 200 to 299",
		"request 2: status 200, want 201 / status 503, want 201",
		"request 3: the body is not the wanted one / status 503, want any of 200 to 299",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// TestEqualOfTwoRightStatuses: each status is right for itself, and they are not the
// same.
func TestEqualOfTwoRightStatuses(t *testing.T) {
	bodies := map[string]string{"GET /x": "{}"}
	e := equalOf(t, []record.Request{{Method: "GET", Path: "/x"}}, nil, answering(t, "a", 200, bodies), answering(t, "b", 201, bodies))
	if len(e.Differences) != 1 || e.Differences[0].Answers[1].Wrong != "status 201, a answered 200" {
		t.Errorf("told %q", e)
	}
}

func TestEqualIgnoredByTheRequest(t *testing.T) {
	a := answering(t, "a", 200, map[string]string{"GET /x": `{"ts":1}`, "GET /y": `{"ts":1}`})
	b := answering(t, "b", 200, map[string]string{"GET /x": `{"ts":2}`, "GET /y": `{"ts":2}`})
	e := equalOf(t, []record.Request{{Method: "GET", Path: "/x", Ignore: []string{"ts"}}, {Method: "GET", Path: "/y"}}, []string{"createdAt"}, a, b)
	if len(e.Differences) != 1 || e.Differences[0].Sent != "GET /y" || !slices.Equal(e.Unused, []string{"createdAt"}) {
		t.Errorf("told %q, unused %v", e, e.Unused)
	}
}

// TestAskWithoutAnswer: a service that ends the connection, one that codes its
// answer, one that redirects, and one that is not there.
func TestAskWithoutAnswer(t *testing.T) {
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ends":
			panic(http.ErrAbortHandler)
		case "/coded":
			w.Header().Set("Content-Encoding", "gzip")
		case "/moved":
			http.Redirect(w, r, "/there", http.StatusFound)
		}
	}))
	t.Cleanup(odd.Close)
	requests := []record.Request{{Method: "GET", Path: "/"}, {Method: "GET", Path: "/ends"}, {Method: "GET", Path: "/coded"}, {Method: "GET", Path: "/moved"}}
	e := equalOf(t, requests, nil, Server{Name: "odd", Address: odd.Listener.Addr().String()})
	if len(e.Differences) != 3 || !strings.Contains(e.Differences[0].Answers[0].Wrong, "EOF") || e.Differences[0].Answers[0].Raw != "nothing" ||
		!strings.Contains(e.Differences[1].Answers[0].Wrong, `coded as "gzip"`) || !strings.Contains(e.Differences[2].Answers[0].Wrong, "status 302") {
		t.Errorf("told %q", e)
	}
	odd.Close()
	if _, err := Ask(t.Context(), Server{Name: "odd", Address: odd.Listener.Addr().String()}, "h", requests, 1); err == nil || !strings.Contains(err.Error(), "ask odd: ") {
		t.Errorf("asked nobody: %v", err)
	}
}
