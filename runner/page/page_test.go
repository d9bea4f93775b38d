package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

func written(t *testing.T, s *record.Session) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, s, findings.Evaluate(s)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sessions are the archived cases of package report and the example.
func sessions(t *testing.T) map[string]*record.Session {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "report", "testdata", "sessions", "*", "benchmark.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	all := map[string]*record.Session{"example": example.Session(), "capacity": example.Capacity()}
	for _, f := range files {
		name := filepath.Base(filepath.Dir(f))
		all[name] = session(t, name)
	}
	return all
}

func session(t *testing.T, name string) *record.Session {
	t.Helper()
	switch name {
	case "example":
		return example.Session()
	case "capacity":
		return example.Capacity()
	}
	s, err := archive.Load(filepath.Join("..", "report", "testdata", "sessions", name, "benchmark.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	active = regexp.MustCompile(`(?i)<script|\son[a-z]+=|javascript:|<iframe|<object|<embed|@import|url\(|<img|https?://`)
	drawn  = regexp.MustCompile(`(?s)<svg.*?</svg>`)
)

// TestEveryCase: the page of a session is the same twice, and that of every case holds nothing that acts or
// fetches, no number that is none, and drawings that are well-formed.
func TestEveryCase(t *testing.T) {
	for name, s := range sessions(t) {
		got := written(t, s)
		if name == "example" && written(t, s) != got {
			t.Errorf("%s: the second page differs", name)
		}
		if bad := active.FindString(got); bad != "" {
			t.Errorf("%s: the page holds %q", name, bad)
		}
		for _, word := range []string{"NaN", "Inf", "ZgotmplZ", "%!"} {
			if strings.Contains(got, word) {
				t.Errorf("%s: the page holds %q", name, word)
			}
		}
		for _, svg := range drawn.FindAllString(got, -1) {
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v in %.200s", name, err, svg)
				}
			}
		}
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// TestFirstScreen: what stands before the charts.
func TestFirstScreen(t *testing.T) {
	for name, want := range map[string][]string{
		"quick":      {`class="watermark" role="alert">SMOKE RUN`, "No answer: a smoke run gives no verdict."},
		"incomplete": {`class="watermark" role="alert">INCOMPLETE SESSION`, "No answer: nothing can be concluded"},
		"empty":      {`class="watermark"`},
		"capacity": {"<h1>How much load can these servers take?</h1>", "Capacity of go-1", "limited by p95 &lt;= 20ms", "No verdict: this session asked no question",
			"p95 of the response time against the offered rate", "The line across is the limit of 20ms.", "Goodput under overload", "open loop at 120 % of the capacity that was found"},
		"standard": {"No answer: the plan asks no primary question.", "not graded"},
		"example": {"go-1 against node-1better in rate (2.012 ×), CPU per request (0.501 ×), memory under load (0.184 ×); " +
			"no difference that matters in p99 latency (get-open).", "gradeB", "Noise floor±", "; a smaller difference is none", "EQUIVALENT", "gonogo decide 2026"},
	} {
		got := written(t, session(t, name))
		words := strings.ReplaceAll(tag.ReplaceAllString(got, ""), narrow, " ")
		for _, text := range want {
			if !strings.Contains(got, text) && !strings.Contains(words, text) {
				t.Errorf("%s: no %q on the page", name, text)
			}
		}
		if marked := strings.Contains(got, `class="watermark"`); marked != (name != "standard" && name != "example" && name != "capacity") {
			t.Errorf("%s: watermark is %v", name, marked)
		}
	}
}

// TestHostileNames: names come from users, reasons from servers.
func TestHostileNames(t *testing.T) {
	const evil = `"><script>alert(1)</script><p a='`
	s := example.Session()
	for i := range s.Plan.Targets {
		if x := &s.Plan.Targets[i]; x.Name == "go-1" {
			x.Name = evil
		}
	}
	for i := range s.Plan.Scenarios {
		s.Plan.Scenarios[i].Name += evil
	}
	rename := func(st *record.Step) {
		st.Scenario += evil
		if st.Target == "go-1" {
			st.Target = evil
		}
	}
	for i := range s.Plan.Steps {
		rename(&s.Plan.Steps[i])
	}
	for i := range s.Runs {
		rename(&s.Runs[i].Step)
		s.Runs[i].Reason += evil
	}
	for i := range s.Plan.Primary {
		q := &s.Plan.Primary[i]
		q.Scenario += evil
		if q.Target == "go-1" {
			q.Target = evil
		}
	}
	s.ID, s.Host.CPUModel, s.Host.Checks[1].Observed = evil, evil, evil
	got := written(t, s)
	if strings.Contains(got, "<script") || strings.Contains(got, "<p a=") {
		t.Error("a name became an element")
	}
	if n := strings.Count(got, "alert(1)"); n < 100 {
		t.Errorf("the names are on the page %d times: the test changed none", n)
	}
}

// TestDigits: three significant digits, every digit before the point, and no more
// digits than three after a rounding that carries.
func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1.9349: "1.93", 9.996: "10.0", 99.94: "99.9", 99.96: "100", 999.4: "999", 1234567: "1" + narrow + "234" + narrow + "567",
		0.012345: "0.0123", 0.5: "0.500", -12345: "-12" + narrow + "345", -0.00370: "-0.00370", 1e-9: "1e-09",
	} {
		if got := digits(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}

// TestScales: hand arithmetic. A linear axis from 0 to 20 000 in steps of 5 000 holds
// 16 894. It is 200 units long and begins at 100, so 10 000 is at 200.
func TestScales(t *testing.T) {
	x, ticks := fromZero(16_894, 100, 300)
	if len(ticks) != 5 || ticks[4] != 20_000 || x.at(10_000) != 200 || x.at(0) != 100 {
		t.Errorf("ticks %v, 10 000 at %v", ticks, x.at(10_000))
	}
	y, ticks := decades(0.17, 12, 0, 100) // 0.1, 0.2, ... 20: from 0.1 to 20
	if ticks[0] != 0.1 || y.at(0.1) != 0 || y.at(y.hi) != 100 || y.hi != 20 {
		t.Errorf("ticks %v, %+v", ticks, y)
	}
	if at := (scale{lo: 1, hi: 100, from: 0, to: 10, log: true}).at(10); at != 5 {
		t.Errorf("10 is at %v of 1..100", at)
	}
	if at := nines(0.999); at < 2.9999 || at > 3.0001 {
		t.Errorf("p99.9 has %v nines", at)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteError(t *testing.T) {
	s := example.Session()
	if err := HTML(broken{}, s, findings.Evaluate(s)); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
