package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"gonogo/runner/archive"
	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

// evil has what any kind of output could take for its own: markup, a formula, what a
// terminal obeys, text that turns the line round, lines of other formats, and the
// two lines of our own errors.
const evil = `"'><script>alert(1)</script><img src=x onerror=alert(1)></td></text>` + "`|[a](javascript:alert(1))*_~#&lt;,\\{}; " +
	"\x1b[31m\x1b]0;t\x07\x00\r\u0085\u009b2J\x7f\u202e\u2066\u200f" +
	"\nFORGED 1\nBenchmarkFORGED 1 1 ns/op\n# HELP FORGED x\nFORGED{a=\"b\"} 1\nTag=FORGED,0,0,0,x\n## FORGED\n|FORGED|\n```\ngonogo: hint: FORGED\n"

// formulas are what a spreadsheet begins one with.
var formulas = []string{"=", "+", "-", "@", "\t", "\r"}

// spoiled is a session of which every text of a user, a server or a machine is made
// hostile, or for comparison harmless: the same text with only its letters.
func spoiled(s *record.Session, with func(i int, was string) string) *record.Session {
	names := map[string]string{}
	for _, t := range s.Plan.Targets {
		names[t.Name] = with(len(names), t.Name)
	}
	for _, sc := range s.Plan.Scenarios {
		names[sc.Name] = with(len(names), sc.Name)
	}
	spoil(reflect.ValueOf(s).Elem(), "", names, with)
	return s
}

// asTheyAre are the members that are no free text: sums, histograms, words that rules and
// readers know, and names of files, which the archive gives.
var asTheyAre = regexp.MustCompile(`^(ID|V2|PlanSHA256|LogFile|Metric|Kind|Outcome|Engine|Arrivals|Method|Factor|Arm|Variant|Traced|Profile)$`)

func spoil(v reflect.Value, field string, names map[string]string, with func(int, string) string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoil(v.Field(i), v.Type().Field(i).Name, names, with)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), field, names, with)
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i), field, names, with)
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String || v.Len() == 0 {
			return
		}
		fresh := reflect.MakeMap(v.Type())
		for _, key := range slices.SortedFunc(maps.Keys(asMap(v)), strings.Compare) {
			x := reflect.New(v.Type().Elem()).Elem()
			x.Set(v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key())))
			spoil(x, field, names, with)
			fresh.SetMapIndex(reflect.ValueOf(with(len(key), key)).Convert(v.Type().Key()), x)
		}
		v.Set(fresh)
	case reflect.String:
		was := v.String()
		if name, ok := names[was]; ok {
			v.SetString(name)
		} else if was != "" && v.Type() == reflect.TypeFor[string]() && !asTheyAre.MatchString(field) {
			v.SetString(with(len(was), was))
		}
	}
}

func asMap(v reflect.Value) map[string]bool {
	all := map[string]bool{}
	for _, k := range v.MapKeys() {
		all[k.String()] = true
	}
	return all
}

func hostile(i int, was string) string { return formulas[i%len(formulas)] + was + evil }

func harmless(_ int, was string) string { return "x" + was + "y" }

// keptAs archives a session as compare does, with a hostile log for each run.
func keptAs(t *testing.T, out string, s *record.Session, log string) string {
	t.Helper()
	w, err := archive.Create(out, &s.Plan, s.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddContract(s.Contract); err != nil {
		t.Fatal(err)
	}
	if s.Probes != nil {
		if err := w.AddProbes(s.Probes); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		r.LogFile, r.PlanSHA256 = w.LogName(r.Step, r.Attempt), w.PlanSHA256()
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
		overwrite(t, filepath.Join(w.Dir(), filepath.FromSlash(r.LogFile)), []byte(log))
	}
	if err := w.Finish(s.Changes); err != nil {
		t.Fatal(err)
	}
	loaded, err := archive.Load(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if err := keep(w.Dir(), out, loaded, findings.Evaluate(loaded)); err != nil {
		t.Fatal(err)
	}
	return w.ID()
}

// few are a session of two blocks that shows all that outputs have.
func few() *record.Session {
	s := example.Session()
	n := slices.IndexFunc(s.Plan.Steps, func(st record.Step) bool { return st.Block > 2 })
	s.Plan.Blocks, s.Plan.Steps, s.Runs = 2, s.Plan.Steps[:n], s.Runs[:n]
	s.Plan.Decision = &record.DecisionRules{Pairs: []record.DecisionPair{{Target: "go-1", Base: "node-1", Cores: 1}},
		SavingMin: 0.1, CPUTarget: 0.6, OwnWork: []time.Duration{0}}
	for i := range s.Runs {
		r := &s.Runs[i]
		r.Settings = &record.Settings{Runtime: "node", Version: "v20.20.2"}
		r.Checks = append(r.Checks, record.Check{Name: "hiccups", Observed: "many", Limit: "few"})
		r.LogTail = "the end"
		r.Load.Checks = append(r.Load.Checks, record.Check{Name: "late", Observed: "1 %", Limit: "2 %"})
	}
	s.Runs[3].Load.Errors = map[string]record.ErrorKind{"body": {Count: 2, Example: "not this"}}
	return s
}

// TestHostileNames sends a session of which every text is hostile through every
// output, and holds each against what its kind allows. Where a kind has a structure,
// it has to be that of the same session with harmless texts.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	var ids, others, outs [2]string
	for i, with := range []func(int, string) string{harmless, hostile} {
		outs[i] = t.TempDir()
		log := []string{"ready\nx\n", "ready\n" + evil}[i]
		ids[i] = keptAs(t, outs[i], spoiled(few(), with), log)
		other := spoiled(few(), func(k int, was string) string { return with(k+1, was) })
		other.Host = spoiled(few(), with).Host // else they are of two machines
		others[i] = keptAs(t, outs[i], other, log)
	}
	for _, c := range outputs {
		t.Run(strings.Join(c.args[:min(len(c.args), 4)], " "), func(t *testing.T) {
			if c.args[0] != "decide" && c.args[0] != "verify" { // which look at the same files
				t.Parallel()
			}
			var got [2]result
			for i := range got {
				args := slices.Clone(c.args)
				for k, a := range args {
					args[k] = strings.NewReplacer("ID", ids[i], "OTHER", others[i]).Replace(a)
				}
				got[i] = inProcess(append(args, "--out", outs[i])...)
			}
			if got[1].code != got[0].code {
				t.Errorf("exit %d, and %d without hostile texts\n%.2000s\n%.1000s", got[1].code, got[0].code, got[1].err, got[1].out)
			}
			if got[1].out == "" && got[1].err == "" {
				t.Error("it printed nothing: the test shows nothing")
			}
			c.kind(t, got[1].out, got[0].out)
			diagnostics(t, got[1].err, got[0].err)
		})
	}
}

// diagnostics have as many lines of our own as without hostile texts.
func diagnostics(t *testing.T, got, like string) {
	t.Helper()
	shownByTerminal(t, got)
	if a, b := strings.Count("\n"+got, "\ngonogo: "), strings.Count("\n"+like, "\ngonogo: "); a != b {
		t.Errorf("%d lines of our own on stderr, not %d: %.1000q", a, b, got)
	}
}

// outputs is the table: a command line, and what its output must be.
var outputs = []struct {
	args []string
	kind func(t *testing.T, got, like string)
}{
	{[]string{"report", "ID"}, terminalText},
	{[]string{"report", "ID", "--format", "md"}, markdown},
	{[]string{"report", "ID", "--format", "html"}, html},
	{[]string{"report", "ID", "--format", "csv"}, asCSV},
	{[]string{"report", "ID", "--format", "json"}, asJSON},
	{[]string{"report", "ID", "--format", "hyperfine"}, asJSON},
	{[]string{"report", "ID", "--format", "github"}, asJSON},
	{[]string{"report", "ID", "--format", "bench"}, asBench},
	{[]string{"report", "ID", "--format", "hlog"}, hlog},
	{[]string{"report", "ID", "--format", "hgrm"}, hgrm},
	{[]string{"report", "ID", "--format", "junit"}, junit},
	{[]string{"report", "ID", "--format", "prometheus"}, prometheus},
	{[]string{"report", "ID", "--format", "hgrm", "--cell", "none"}, terminalText},
	{[]string{"list"}, terminalText},
	{[]string{"list", "--json"}, asJSON},
	{[]string{"show", "ID", "4"}, terminalText},
	{[]string{"show", "ID", "4", "--json"}, asJSON},
	{[]string{"show", "ID", "none"}, terminalText},
	{[]string{"diff", "ID", "OTHER", "--force"}, terminalText},
	{[]string{"diff", "ID", "OTHER", "--force", "--json"}, asJSON},
	{[]string{"decide", "ID", "--json"}, asJSON},
	{[]string{"decide", "ID", "--currency", "$" + strings.ReplaceAll(evil, "\x00", ""), "--replicas", "3", "--replace"}, markdown},
	{[]string{"verify", "ID"}, terminalText},
	{[]string{"verify", "ID", "--json"}, asJSON},
}

// obeyed tells a character that a terminal obeys, or that turns text round.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

func shownByTerminal(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Error("not UTF-8")
	}
	if i := strings.IndexFunc(text, obeyed); i >= 0 {
		t.Errorf("a terminal obeys %.120q", text[max(0, i-40):])
	}
}

func terminalText(t *testing.T, got, _ string) {
	shownByTerminal(t, got)
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "FORGED") || strings.HasPrefix(line, "gonogo: hint") {
			t.Errorf("a text became a line: %.100q", line)
		}
	}
}

// unescaped are the characters that Markdown obeys, of a text.
var escaped = regexp.MustCompile(`\\[[:punct:]]|&(amp|lt|gt|quot|#39);`)

func markdown(t *testing.T, got, like string) {
	terminalText(t, got, like)
	shape := func(text string) (all []string) {
		for line := range strings.Lines(text) {
			s := strings.Map(func(r rune) rune {
				if strings.ContainsRune("`|<>[]*_~#", r) {
					return r
				}
				return -1
			}, escaped.ReplaceAllString(line, ""))
			all = append(all, s)
		}
		return all
	}
	a, b := shape(got), shape(like)
	if !slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b)))) || len(a) != len(b) {
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("line %d is %q, without hostile texts %q\n%.300q", i+1, a[i], b[i], strings.Split(got, "\n")[i])
				return
			}
		}
		t.Errorf("%d lines, without hostile texts %d", len(a), len(b))
	}
}

var tag = regexp.MustCompile(`<(/?[a-zA-Z!][^\s>]*)|\s([a-z-]+)="[^"]*"`)

// html has the elements and attributes of the harmless page, in the same order.
func html(t *testing.T, got, like string) {
	shownByTerminal(t, got)
	shape := func(text string) (all []string) {
		for _, m := range tag.FindAllStringSubmatch(text, -1) {
			all = append(all, m[1]+m[2])
		}
		return all
	}
	a, b := shape(got), shape(like)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("element %d is %q, without hostile texts %q", i, a[i], b[i])
			return
		}
	}
	if len(a) != len(b) || len(a) < 100 {
		t.Errorf("%d elements, without hostile texts %d", len(a), len(b))
	}
	for _, active := range []string{"<script", "onerror=alert(1)>", "href=\"javascript:"} {
		if strings.Contains(got, active) {
			t.Errorf("the page has %s", active)
		}
	}
}

func asCSV(t *testing.T, got, like string) {
	shownByTerminal(t, got)
	rows, err := csv.NewReader(strings.NewReader(got)).ReadAll() // each row as long as the first
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rows); n != strings.Count(like, "\n") {
		t.Errorf("%d rows, without hostile texts %d", n, strings.Count(like, "\n"))
	}
	for _, row := range rows {
		for _, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
				t.Errorf("a spreadsheet computes %.60q", cell)
			}
		}
	}
}

func asJSON(t *testing.T, got, like string) {
	shownByTerminal(t, got)
	if got == "" && like == "" {
		return // refused
	}
	var v any
	if err := json.Unmarshal([]byte(got), &v); err != nil {
		t.Errorf("no JSON: %v\n%.300s", err, got)
	}
	if !strings.Contains(got, `script>alert(1)`) && strings.Contains(like, "xgo-1y") {
		t.Error("the names are not in it")
	}
}

// lines holds each line against a form, and their number against the harmless one.
func eachLine(t *testing.T, got, like string, form *regexp.Regexp) {
	t.Helper()
	shownByTerminal(t, got)
	for line := range strings.Lines(got) {
		if !form.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("no line of this format: %.200q", line)
		}
	}
	if a, b := strings.Count(got, "\n"), strings.Count(like, "\n"); a != b {
		t.Errorf("%d lines, without hostile texts %d", a, b)
	}
}

func asBench(t *testing.T, got, like string) {
	eachLine(t, got, like, regexp.MustCompile(`^(BenchmarkServe/target=[^/ ]+/scenario=[^/ ]+/loop=\w+ \d+( [\d.]+ \S+)+|Unit \S+ better=\w+|[a-z]+: .*)$`))
}

func hlog(t *testing.T, got, like string) {
	eachLine(t, got, like, regexp.MustCompile(`^(#\[.*\]|"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"|Tag=[^,\s]+,-?[\d.]+,[\d.]+,[\d.]+,[A-Za-z0-9+/=]+)$`))
}

func hgrm(t *testing.T, got, like string) {
	eachLine(t, got, like, regexp.MustCompile(`^(#\[.*\]|\s*Value\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)|\s*[\d.]+ +[\d.]+ +\d+( +[\d.inf]+)?|)$`))
}

func prometheus(t *testing.T, got, like string) {
	eachLine(t, got, like, regexp.MustCompile(`^(# (HELP|TYPE) gonogo_\w+ .*|gonogo_\w+(\{\w+="([^"\\]|\\["\\n])*"(,\w+="([^"\\]|\\["\\n])*")*\})? [\d.]+)$`))
}

func junit(t *testing.T, got, like string) {
	shownByTerminal(t, got)
	count := func(text string) (n int) {
		var u struct {
			Cases []struct {
				Name string `xml:"name,attr"`
			} `xml:"testcase"`
		}
		if err := xml.Unmarshal([]byte(text), &u); err != nil {
			t.Error(err)
		}
		return len(u.Cases)
	}
	if a, b := count(got), count(like); a != b || a < 2 {
		t.Errorf("%d tests, without hostile texts %d", a, b)
	}
}

// TestHostileRecord: a file that names itself as it likes, and a record of load that
// a stranger made.
func TestHostileRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spoiled(few(), hostile)
	s.ID = evil
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(s); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "benchmark.json")
	overwrite(t, file, b.Bytes())
	r := *s.Runs[0].Load
	r.Errors = map[string]record.ErrorKind{evil: {Count: 1, Example: evil}}
	r.Counts.OK, r.Counts.Failed, r.Engine = r.Counts.OK-1, 1, evil
	part := record.LoadRecord{SchemaVersion: record.SchemaVersion, Kit: evil, Error: evil, Result: r,
		Spec: record.LoadSpec{Arrivals: evil, Kind: record.Open, Connections: 1, RatePerSec: 1}}
	b.Reset()
	if err := json.NewEncoder(&b).Encode(part); err != nil {
		t.Fatal(err)
	}
	loadFile := filepath.Join(dir, "load.json")
	overwrite(t, loadFile, b.Bytes())
	for _, c := range []struct {
		args []string
		kind func(t *testing.T, got, like string)
	}{
		{[]string{"report", file}, terminalText},
		{[]string{"report", file, "--format", "csv"}, func(t *testing.T, got, _ string) { asCSV(t, got, strings.Repeat("\n", len(s.Runs)+1)) }},
		{[]string{"show", file, "1"}, terminalText},
		{[]string{"verify", file, "--out", dir}, terminalText},
		{[]string{"diff", file, file}, terminalText},
		{[]string{"decide", file}, terminalText},
		{[]string{"load", "merge", loadFile}, terminalText},
		{[]string{"load", "merge", "--json", loadFile}, asJSON},
		{[]string{"list", "--out", "x" + strings.ReplaceAll(evil, "\x00", "")}, terminalText},
		{[]string{"report", "x" + strings.ReplaceAll(evil, "\x00", "")}, terminalText},
	} {
		got := inProcess(c.args...)
		if got.out == "" && got.err == "" {
			t.Errorf("%.40q printed nothing", c.args)
		}
		t.Run(fmt.Sprintf("%.30q", strings.Join(c.args[:1], " ")), func(t *testing.T) {
			c.kind(t, got.out, "")
			diagnostics(t, got.err, strings.Repeat("gonogo: \n", min(2, strings.Count("\n"+got.err, "\ngonogo: "))))
		})
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// TestAnErrorQuotesNoLineOfOurs: what an error quotes cannot pass for our advice.
func TestAnErrorQuotesNoLineOfOurs(t *testing.T) {
	var b bytes.Buffer
	exitWith(streams{err: &b}, fail(exitFailed, evil, "start x: %s\n  indented", evil))
	diagnostics(t, b.String(), "gonogo: error: \ngonogo: hint: ")
	if !strings.Contains(b.String(), "\n  gonogo: hint: FORGED\n  \n  indented\n") {
		t.Errorf("%q", b.String())
	}
}
