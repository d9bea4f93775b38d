package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"gonogo/runner/record"
	"gonogo/runner/session"
)

// progress tells on stderr what runs. It writes when a step begins and when it
// has ended, never in a timed window. On a terminal one line is rewritten;
// elsewhere each ended step has a line of its own. It uses no colour.
type progress struct {
	w        io.Writer
	plan     *record.Plan
	terminal bool
}

func newProgress(w io.Writer, p *record.Plan) *progress {
	f, ok := w.(*os.File)
	terminal := false
	if ok {
		info, err := f.Stat()
		terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return &progress{w, p, terminal}
}

func (p *progress) say(text string) {
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintln(p.w, text)
}

// line is a line that stays.
func (p *progress) line(text string) {
	p.say(text)
	if p.terminal {
		fmt.Fprintln(p.w)
	}
}

func (p *progress) observe(e session.Event) {
	where := fmt.Sprintf("step %d of %d, block %d of %d", e.Step.Index+1, len(p.plan.Steps), e.Step.Block, p.plan.Blocks)
	if p.plan.Confirms(e.Step) {
		where = "to confirm a maximum"
	}
	if p.plan.Kind.Searched() {
		where = fmt.Sprintf("search %d of %d", e.Step.Block, p.plan.Blocks)
	}
	left := fmt.Sprintf("%v left", max(e.Left, 0).Round(time.Second))
	switch {
	case e.Run == nil && p.terminal:
		p.say(fmt.Sprintf("%s, %s: %s", where, left, e.Step.Key()))
	case e.Run != nil && e.Run.Outcome != record.Done:
		p.say(fmt.Sprintf("%s: %s %s: %s", where, e.Step.Key(), e.Run.Outcome, legible(e.Run.Reason)))
		if p.terminal {
			fmt.Fprintln(p.w)
		}
	case e.Run != nil && !p.terminal:
		p.say(fmt.Sprintf("%s, %s: %s done", where, left, e.Step.Key()))
	}
}

// done clears the line that was rewritten.
func (p *progress) done() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
