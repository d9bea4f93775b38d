package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
	"gonogo/runner/record"
)

// What the truth of the example comes to: 16000/1.42 = 11268/s at 16 connections, 44.3
// at the peak, and five levels of go-1 whose limit is not the generator.
func TestAPageOfASweep(t *testing.T) {
	s := example.Scale()
	e := findings.Evaluate(s)
	var table, md, rows bytes.Buffer
	for _, err := range []error{Table(&table, s, e), Markdown(&md, s, e), CSV(&rows, s, e)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"What does one more cost, and what does it add?", "AGAINST CONNECTIONS", "round trip", "generator", "MEMORY", "3000 requests/s at every level",
		"WHAT ONE MORE COSTS AND ADDS", "KiB/connection", "44.3", "no law: 5 levels count, and a fit takes 6", "asked no question"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	for line := range strings.Lines(table.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
			t.Errorf("%d letters: %s", n, line)
		}
	}
	for _, want := range []string{"## AGAINST CONNECTIONS", "| 16 | 11.3 | 11.1..11.4 |", "Universal scalability law: 95 % intervals over resampled processes"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("no %q in\n%s", want, md.String())
		}
	}
	all, err := csv.NewReader(&rows).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	arm, level, scenario := slices.Index(all[0], "arm"), slices.Index(all[0], "level"), slices.Index(all[0], "scenario")
	for _, row := range all[1:] {
		if _, connections, _ := strings.Cut(row[scenario], "-c"); row[level] != connections || row[arm] != "go-1" && row[arm] != "node-1" {
			t.Fatalf("row %v, want its arm and its level", row)
		}
	}
}

// One factor of which nothing but rows is known: no curve, no claim.
func TestASweepOfAnotherFactor(t *testing.T) {
	s := example.Scale()
	s.Plan.Scale.Factor = "delay_ms"
	e := findings.Evaluate(s)
	var b bytes.Buffer
	if err := Table(&b, s, e); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "AGAINST DELAY_MS") || strings.Contains(text, "WHAT ONE MORE") || strings.Contains(text, "no law") {
		t.Errorf("%s", text)
	}
}

func TestASpoiledSweepCanBePrinted(t *testing.T) {
	light := example.Scale()
	light.Plan.Rules.Scale.Resamples = 20
	for i := range light.Runs {
		light.Runs[i].Load.Service = nil
	}
	data, err := json.Marshal(light)
	if err != nil {
		t.Fatal(err)
	}
	printed := 0
	rapid.Check(t, func(t *rapid.T) {
		var s record.Session
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		spoil(rng, reflect.ValueOf(&s.Plan).Elem(), rapid.IntRange(0, 1).Draw(t, "plan"))
		spoil(rng, reflect.ValueOf(s.Plan.Scale), rapid.IntRange(0, 1).Draw(t, "sweep"))
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			spoil(rng, reflect.ValueOf(&s.Runs[rng.IntN(len(s.Runs))]).Elem(), 4)
		}
		if s.Validate() != nil {
			return
		}
		printed++
		e := findings.Evaluate(&s)
		for name, w := range Formats {
			var b bytes.Buffer
			if err := w(&b, &s, e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
	if printed == 0 {
		t.Error("nothing was printed: the test shows nothing")
	}
}
