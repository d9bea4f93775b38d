package load

import (
	"strings"
	"testing"

	"gonogo/runner/record"
)

func streamOf(t *testing.T, ids int, requests ...record.Request) *stream {
	t.Helper()
	s, err := newStream(&record.LoadSpec{Host: "h", IDs: ids, Seed: 42, Requests: requests})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// splitmix64 with seed 1234567: the first values of its reference
// implementation (Vigna, prng.di.unimi.it/splitmix64.c).
func TestMix(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := mix(1234567, uint64(i)); got != want {
			t.Errorf("value %d: %d, want %d", i, got, want)
		}
	}
}

func TestStreamDraws(t *testing.T) {
	get := record.Request{Method: "GET", Path: "/{id}", Weight: 80}
	post := record.Request{Method: "POST", Path: "/", Body: "{id}", Weight: 20}
	s := streamOf(t, 10, get, post)
	const n = 100_000
	kinds, ids := map[string]int{}, map[uint64]int{}
	for i := range uint64(n) {
		x, id := s.at(i)
		kinds[x.request.Method]++
		ids[id]++
		if again, same := s.at(i); again != x || same != id {
			t.Fatalf("request %d differs when asked for again", i)
		}
	}
	if p := float64(kinds["POST"]) / n; p < 0.195 || p > 0.205 { // deviation 0.0013
		t.Errorf("share of POST %.4f, want 0.2", p)
	}
	if len(ids) != 10 || ids[0] != 0 {
		t.Errorf("ids %v, want 1 to 10", ids)
	}
	for id, k := range ids {
		if k < 9500 || k > 10_500 { // 10 000, deviation 95
			t.Errorf("id %d drawn %d times of %d", id, k, n)
		}
	}
}

func TestTemplateRenders(t *testing.T) {
	s := streamOf(t, 10_000, record.Request{Method: "POST", Path: "/u/{id}", Header: map[string]string{"B": "2", "A": "1"}, Body: `{"n":"{id}-{id}"}`})
	x := s.templates[0]
	for id, want := range map[string]string{
		"7":     "POST /u/7 HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\nContent-Length: 11\r\n\r\n{\"n\":\"7-7\"}",
		"10000": "POST /u/10000 HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\nContent-Length: 19\r\n\r\n{\"n\":\"10000-10000\"}",
	} {
		got := string(x.append(nil, []byte(id)))
		if got != want || x.size[len(id)] != len(want) {
			t.Errorf("id %s: %q of %d bytes, want %q of %d", id, got, x.size[len(id)], want, len(want))
		}
	}
	plain := streamOf(t, 0, record.Request{Method: "GET", Path: "/"}).templates[0]
	if got := string(plain.append(nil, nil)); got != "GET / HTTP/1.1\r\nHost: h\r\n\r\n" {
		t.Errorf("%q", got)
	}
	if got := string(streamOf(t, 0, record.Request{Method: "POST", Path: "/"}).templates[0].append(nil, nil)); !strings.Contains(got, "Content-Length: 0\r\n") {
		t.Errorf("POST without a body: %q", got)
	}
}

func TestTemplateChecks(t *testing.T) {
	want := func(status int, body string) *template {
		return streamOf(t, 100, record.Request{Method: "GET", Path: "/{id}", WantStatus: status, WantBody: body}).templates[0]
	}
	for _, c := range []struct {
		name   string
		x      *template
		status int
		body   string
		kind   string
	}{
		{"any 2xx, any body", want(0, ""), 204, "", ""},
		{"not 2xx", want(0, ""), 301, "", record.ErrStatus},
		{"other status", want(200, ""), 201, "", record.ErrStatus},
		{"the body", want(200, `{"id":"{id}"}`), 200, `{"id":"42"}`, ""},
		{"another id", want(200, `{"id":"{id}"}`), 200, `{"id":"43"}`, record.ErrBody},
		{"an id that is longer", want(200, `{"id":"{id}"}`), 200, `{"id":"420"}`, record.ErrLength},
		{"shorter", want(200, `{"id":"{id}"}`), 200, `{"id":"42"`, record.ErrLength},
		{"empty", want(200, `{"id":"{id}"}`), 200, "", record.ErrLength},
		{"digits", want(201, `{"id":"{digits}","n":"{id}"}`), 201, `{"id":"10001","n":"42"}`, ""},
		{"one digit", want(201, `{"id":"{digits}","n":"{id}"}`), 201, `{"id":"1","n":"42"}`, ""},
		{"no digit", want(201, `{"id":"{digits}","n":"{id}"}`), 201, `{"id":"","n":"42"}`, record.ErrLength},
		{"a letter", want(201, `{"id":"{digits}","n":"{id}"}`), 201, `{"id":"1x","n":"42"}`, record.ErrBody},
		{"digits, wrong end", want(201, `{"id":"{digits}","n":"{id}"}`), 201, `{"id":"11","n":"43"}`, record.ErrBody},
		{"digits alone", want(200, "{digits}"), 200, "7", ""},
		{"right status, error body of the same length", want(200, "hello"), 200, "error", record.ErrBody},
	} {
		r := newReader(1000)
		r.head = head{status: c.status, size: 1}
		r.at = 1 + copy(r.buf[1:], c.body)
		r.length = int64(len(c.body))
		kind, text := c.x.check(r, []byte("42"))
		if kind != c.kind || (kind == "") != (text == "") {
			t.Errorf("%s: %q %q, want %q", c.name, kind, text, c.kind)
		}
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	for name, r := range map[string]record.Request{
		"no method":          {Path: "/"},
		"method":             {Method: "GET /x", Path: "/"},
		"path without slash": {Method: "GET", Path: "x"},
		"blank in the path":  {Method: "GET", Path: "/a b"},
		"line in the path":   {Method: "GET", Path: "/a\r\nX: y"},
		"header name":        {Method: "GET", Path: "/", Header: map[string]string{"A:": "b"}},
		"header value":       {Method: "GET", Path: "/", Header: map[string]string{"A": "b\r\nC: d"}},
		"length":             {Method: "GET", Path: "/", Header: map[string]string{"content-LENGTH": "5"}},
		"coding":             {Method: "GET", Path: "/", Header: map[string]string{"Transfer-Encoding": "chunked"}},
		"digits in the path": {Method: "GET", Path: "/{digits}"},
		"digits twice":       {Method: "GET", Path: "/", WantBody: "{digits}{digits}"},
		"status":             {Method: "GET", Path: "/", WantStatus: 100},
		"weight":             {Method: "GET", Path: "/", Weight: -1},
		"id without a range": {Method: "GET", Path: "/{id}"},
	} {
		if _, err := newStream(&record.LoadSpec{Host: "h", Requests: []record.Request{r}}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestReadRequests(t *testing.T) {
	got, err := ReadRequests(strings.NewReader(`{"path":"/a"}

{"method":"POST","path":"/b","headers":{"X":"y"},"body":"z","status":201,"want":"w","weight":3}
`))
	if err != nil || len(got) != 2 || got[0].Method != "GET" || got[1].Header["X"] != "y" || got[1].WantStatus != 201 || got[1].WantBody != "w" || got[1].Weight != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range [][2]string{
		{"", "there are none"}, {"{}", "line 1"}, {"{\"path\":\"/\"}\n{\"path\":\"/\",\"x\":1}", "line 2"},
		{`{"path":"/"} {"path":"/"}`, "more than one JSON value"}, {`[]`, "line 1"},
	} {
		if _, err := ReadRequests(strings.NewReader(c[0])); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%q: %v, want %q", c[0], err, c[1])
		}
	}
}

// A file that never ends, or that stands for more memory than it has bytes, is refused.
func TestReadRequestsBounds(t *testing.T) {
	for want, text := range map[string]string{
		"100000 requests": strings.Repeat("{\"path\":\"/\"}\n", maxRequests+1),
		"16 MiB":          strings.Repeat("\n", maxRequestFile+1),
		"there twice":     `{"path":"/a","path":"/b"}`,
	} {
		if _, err := ReadRequests(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
