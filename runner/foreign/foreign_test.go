package foreign

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var fixtures = []struct{ engine, file, want string }{
	// Members of the files, in base units; rates of k6's window 5500 / 1.1 s, of
	// Hyperfoil's 4000 / 2 s and 10 / 1 s.
	{"vegeta", "vegeta.json", `[{"name":"attack","requests":2000,"rate_per_sec":1000,"window_ns":2000000000,"min_ns":400000,"mean_ns":1500000,"max_ns":9000000,` +
		`"quantiles":[{"quantile":0.5,"value_ns":1200000},{"quantile":0.9,"value_ns":2100000},{"quantile":0.95,"value_ns":2500000},{"quantile":0.99,"value_ns":4000000}],` +
		`"counts":[{"name":"no answer","count":1},{"name":"status 200","count":1996},{"name":"status 500","count":3}]}]`},
	{"k6", "k6-export.json", `[{"name":"whole run","requests":180,"rate_per_sec":4.5,"min_ns":104000000,"mean_ns":144500000,"max_ns":1140000000,` +
		`"quantiles":[{"quantile":0.5,"value_ns":110250000},{"quantile":0.9,"value_ns":203500000},{"quantile":0.95,"value_ns":216000000}],` +
		`"counts":[{"name":"http_req_failed","count":2},{"name":"checks failed","count":10}]}]`},
	{"k6", "k6-handle.json", `[{"name":"get-c50","requests":5500,"rate_per_sec":5000,"window_ns":1100000000,"min_ns":250000,"mean_ns":1500000,"max_ns":8000000,` +
		`"quantiles":[{"quantile":0.5,"value_ns":1250000},{"quantile":0.99,"value_ns":4000000},{"quantile":0.999,"value_ns":6500000}],` +
		`"counts":[{"name":"http_req_failed","count":0},{"name":"checks failed","count":0},{"name":"dropped_iterations","count":12}]}]`},
	{"hyperfoil", "hyperfoil.json", `[{"name":"warmup/request","requests":10,"rate_per_sec":10,"window_ns":1000000000,"mean_ns":1000},` +
		`{"name":"window/request","requests":4002,"rate_per_sec":2000,"window_ns":2000000000,"min_ns":200000,"mean_ns":1500000,"max_ns":9000000,` +
		`"quantiles":[{"quantile":0.5,"value_ns":1200000},{"quantile":0.9,"value_ns":2000000},{"quantile":0.99,"value_ns":4000000},{"quantile":0.999,"value_ns":8000000},{"quantile":0.9999,"value_ns":9000000}],` +
		`"counts":[{"name":"connectFailureCount","count":0},{"name":"status_2xx","count":3999},{"name":"status_5xx","count":1},{"name":"invalid","count":1},{"name":"cacheHits","count":0},{"name":"resetCount","count":0},{"name":"timeouts","count":2},{"name":"blockedCount","count":0}]}]`},
	{"hyperfoil", "hyperfoil-later.json", `[{"name":"window/request","requests":500,"rate_per_sec":500,"window_ns":1000000000,` +
		`"counts":[{"name":"connectionErrors","count":0},{"name":"status_2xx","count":497},{"name":"invalid","count":0},{"name":"requestTimeouts","count":3},{"name":"internalErrors","count":0}]}]`},
}

func TestSummaries(t *testing.T) {
	for _, c := range fixtures {
		s, err := Engines[c.engine](fixture(t, c.file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		got, err := json.Marshal(s.Parts)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.file, err, got, c.want)
		}
		if !s.Foreign || s.Engine != c.engine {
			t.Errorf("%s: not marked as foreign, of %s", c.file, c.engine)
		}
		var text bytes.Buffer
		if err := s.Text(&text); err != nil || !strings.HasPrefix(text.String(), "FOREIGN: measured by "+c.engine+", not by gonogo.") {
			t.Errorf("%s: %v: %s", c.file, err, text.String())
		}
	}
}

// TestNotesOfARunThatFailed: who prints its numbers prints that too.
func TestNotesOfARunThatFailed(t *testing.T) {
	s, err := Hyperfoil(fixture(t, "hyperfoil-later.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"was cancelled", "1 errors, the first: agent a", "1 limits of the benchmark were missed"} {
		if !strings.Contains(strings.Join(s.Notes, "\n"), want) {
			t.Errorf("no %q in %q", want, s.Notes)
		}
	}
}

// TestRefused: what is of another engine, cut off, or no number of a measurement.
func TestRefused(t *testing.T) {
	for _, c := range fixtures {
		data := fixture(t, c.file)
		for engine, read := range Engines {
			if _, err := read(data); (err == nil) != (engine == c.engine) {
				t.Errorf("%s read as of %s: %v", c.file, engine, err)
			}
		}
		whole := bytes.TrimSpace(data)
		for n := range len(whole) {
			if _, err := Engines[c.engine](whole[:n]); err == nil {
				t.Errorf("%s: the first %d of %d bytes were taken for all", c.file, n, len(whole))
			}
		}
	}
	for _, c := range []struct{ engine, text, says string }{
		{"k6", `{"type":"Metric","metric":"vus"}` + "\n" + `{"type":"Point"}`, "read k6 summary: invalid character"}, // of --out json
		{"k6", `{"metrics":{"http_reqs":{"count":0}}}`, "tells of no request"},
		{"k6", `{"metrics":{"http_reqs":{"count":1.5}}}`, "http_reqs is 1.5, which is no count"},
		{"k6", `{"metrics":{"http_reqs":{"count":1},"http_req_duration":{"avg":-1}}}`, "avg is -1, which is no time"},
		{"k6", `{"metrics":{"http_reqs":{"count":1},"http_req_duration":{"max":1e300}}}`, "max is 1e+300, which is no time"},
		{"vegeta", `{"requests":-1,"latencies":{}}`, "requests is -1"},
		{"vegeta", `{"requests":1,"latencies":{"50th":-5,"min":1}}`, "latency 50th is -5"},
		{"vegeta", `{"requests":0,"latencies":{}}`, "tells of no request"},
		{"hyperfoil", `{"info":{},"total":[{"phase":"a","summary":{}}]}`, `phase "a": its summary has no requestCount`},
		{"hyperfoil", `{"info":{},"total":[{"start":2,"end":1,"summary":{"requestCount":1}}]}`, "end - start is -1"},
		{"hyperfoil", `{"info":{},"total":[{"summary":{"requestCount":1,"percentileResponseTime":{"x":1}}}]}`, `percentile "x" is none`},
		{"hyperfoil", `{"info":{},"total":[` + strings.TrimSuffix(strings.Repeat(`{"summary":{"requestCount":1}},`, 1001), ",") + `]}`, "1001 parts"},
	} {
		if _, err := Engines[c.engine]([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %.80s: %v, want %q", c.engine, c.text, err, c.says)
		}
	}
}

// TestNoTerminalObeys: names are of whoever wrote the file.
func TestNoTerminalObeys(t *testing.T) {
	s, err := Hyperfoil([]byte(`{"info":{"id":"\u001b[2J","benchmark":"b"},"total":[{"phase":"\u001b]0;x\u0007","metric":"m\nrequests 9","summary":{"requestCount":1}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := s.Text(&text); err != nil || strings.ContainsAny(text.String(), "\x1b\x07") || strings.Contains(text.String(), "\nrequests 9") {
		t.Errorf("%v: %q", err, text.String())
	}
}
