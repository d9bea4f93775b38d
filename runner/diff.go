package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonogo/runner/diff"
	"gonogo/runner/findings"
	"gonogo/runner/record"
)

type diffCmd struct {
	A     string `arg:"" help:"Session: id, beginning of an id, folder, benchmark.json, or latest."`
	B     string `arg:"" help:"The session to hold against it."`
	Out   string `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	Force bool   `help:"Compare numbers of two machines too; every line then says that they are of two."`
	JSON  bool   `help:"The differences as JSON."`
}

// side names a session.
type side struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
}

// Run says what differs between two sessions, and by how much their numbers do.
func (c *diffCmd) Run(s streams) error {
	a, err := open(c.Out, c.A)
	if err != nil {
		return err
	}
	b, err := open(c.Out, c.B)
	if err != nil {
		return err
	}
	r, err := diff.Sessions(a, b)
	if err != nil {
		return err
	}
	refused := !r.SameMachine() && !c.Force
	if !refused {
		ea, eb := findings.Evaluate(a), findings.Evaluate(b)
		if err := r.Compare(a, b, &ea, &eb); err != nil {
			return err
		}
	}
	if c.JSON {
		err = writeJSON(s.out, struct {
			A side `json:"a"`
			B side `json:"b"`
			diff.Result
		}{side{a.ID, worth(a)}, side{b.ID, worth(b)}, r})
	} else {
		_, err = s.out.Write(describe(a, b, r, refused))
	}
	switch {
	case err != nil:
		return err
	case refused:
		return fail(exitInvalid, "--force compares all the same, and says so on every line",
			"compare numbers of %s and %s: they are of two machines: %s", a.ID, b.ID, plain(r.Machine[0].String()))
	case len(r.Doubts) > 0:
		return fail(exitInvalid, "two complete sessions can be compared", "compare numbers of %s and %s: %s", a.ID, b.ID, strings.Join(r.Doubts, "; "))
	}
	return nil
}

// describe is the page of a comparison.
func describe(a, b *record.Session, r diff.Result, refused bool) []byte {
	var w bytes.Buffer
	title(&w, "A", a)
	title(&w, "B", b)
	differences(&w, "plan", r.Plan)
	differences(&w, "contract", r.Contract)
	differences(&w, "versions", r.Versions)
	differences(&w, "machine", r.Machine)
	differences(&w, "settings of the machine", r.Settings)
	if refused {
		w.WriteString("numbers are not compared: they are of two machines\n")
		return w.Bytes()
	}
	numbers(&w, r)
	return w.Bytes()
}

func title(w *bytes.Buffer, name string, s *record.Session) {
	fmt.Fprintf(w, "%s  %s  %s, %s of %s, machine grade %s\n", name, plain(s.ID), worth(s), plural(len(s.Runs), "run"), plural(s.Plan.Blocks, "block"), dash(s.Host.Grade))
}

func differences(w *bytes.Buffer, what string, all []diff.Difference) {
	if len(all) == 0 {
		fmt.Fprintf(w, "%s: alike\n", what)
		return
	}
	fmt.Fprintf(w, "%s: %s\n", what, plural(len(all), "difference"))
	for _, d := range all {
		fmt.Fprintf(w, "  %s: %s -> %s\n", plain(d.Path), plain(orAbsent(d.A)), plain(orAbsent(d.B)))
	}
}

// numbers are printed in base units, which the names of the metrics end in.
func numbers(w *bytes.Buffer, r diff.Result) {
	mark := ""
	if !r.SameMachine() {
		mark = "TWO MACHINES\t"
	}
	for _, d := range r.Doubts {
		fmt.Fprintf(w, "NOT EVIDENCE: %s\n", d)
	}
	w.WriteString("numbers: medians over fresh processes, and B / A with its 95 % interval; p is adjusted for all rows; noise is what an A/A twin differs by within\n" +
		"a session, and what changed between the sessions is not in it\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, mark+"SCENARIO\tTARGET\tMETRIC\tA\tB\tB/A\t95 %\tP\tNOISE A\tNOISE B\tRUNS\t")
	for _, e := range r.Effects {
		interval := "too few runs"
		if e.Lo != nil {
			interval = digits(*e.Lo) + ".." + digits(*e.Hi)
		}
		fmt.Fprintf(t, "%s%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2g\t%s\t%s\t%d, %d\t%s\n", mark, plain(e.Scenario), plain(e.Target), e.Metric,
			digits(e.A), digits(e.B), digits(e.Ratio), interval, e.Adjusted, noise(e.FloorA), noise(e.FloorB), e.RunsA, e.RunsB, e.Word)
	}
	t.Flush() // into memory
	for _, x := range r.Skipped {
		fmt.Fprintf(w, "%snot compared: %s %s: %s\n", strings.ReplaceAll(mark, "\t", "  "), plain(x.Scenario), plain(x.Target), plain(x.Why))
	}
}

// digits prints four significant digits, and all of a larger number.
func digits(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func noise(ratio *float64) string {
	if ratio == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.1f %%", *ratio*100)
}
