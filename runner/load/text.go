package load

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"gonogo/runner/histogram"
	"gonogo/runner/record"
)

// Text prints a record on one screen. Every number has its unit, and what cannot
// be known is not printed.
func Text(w io.Writer, r *record.LoadRecord) error {
	p := printer{bufio.NewWriter(w), &r.Spec, &r.Result}
	p.heading()
	if p.res.Counts.Answered() == 0 {
		fmt.Fprintf(p, "\nno data: none of %d requests got a right answer\n", p.res.Counts.Planned)
	} else {
		p.rate()
		p.latencies()
	}
	p.errors()
	p.generator()
	p.checks()
	if r.Error != "" {
		fmt.Fprintf(p, "\nended before its time: %s\n", told(r.Error))
	}
	return p.Flush()
}

// told is a text of a server, or of whoever made a record that was merged.
func told(s string) string { return record.Printable(s) }

type printer struct {
	*bufio.Writer
	spec *record.LoadSpec
	res  *record.LoadResult
}

func (p printer) heading() {
	s, r := p.spec, p.res
	kept := "kept"
	if s.NewConns {
		kept = "new for each request"
	}
	how := "closed loop"
	if s.Kind == record.Open {
		how = fmt.Sprintf("open loop, %s/s, %s arrivals", number(s.RatePerSec), told(cmp.Or(s.Arrivals, constant)))
	}
	fmt.Fprintf(p, "%s, %d connections, %s; warm-up %s, window %s; engine %s\n",
		how, s.Connections, kept, Short(r.Warmup), Short(r.Window), told(r.Engine))
}

func (p printer) rate() {
	c := p.res.Counts
	fmt.Fprintf(p, "\nrate           %s/s: %d right answers in the window", number(float64(c.InWindow)/p.res.Window.Seconds()), c.InWindow)
	if late := c.Answered() - c.InWindow; late > 0 {
		fmt.Fprintf(p, ", %d after it", late)
	}
	fmt.Fprintln(p)
	if c.Miss > 0 {
		fmt.Fprintf(p, "misses         %d of them answered 404, as expected\n", c.Miss)
	}
}

// columns are the quantiles that are printed.
var columns = []float64{0.5, 0.9, 0.95, 0.99, 0.999, 0.9999}

func (p printer) latencies() {
	fmt.Fprintf(p, "\n%-15s%9s", "", "min")
	for _, q := range columns {
		fmt.Fprintf(p, "%9s", fmt.Sprintf("p%g", 100*q))
	}
	fmt.Fprintf(p, "%9s%9s\n", "max", "mean")
	if p.res.Kind == record.Open {
		p.row("response time", p.res.Response)
		p.row("service time", p.res.Service)
		p.row("send lag", p.res.SendLag)
		p.row("  of it ours", p.res.Pacing)
	} else {
		p.row("service time", p.res.Service)
	}
	p.row("misses", p.res.Miss)
	if p.res.Kind == record.Open {
		fmt.Fprintln(p, "Response time counts from when a request was due, service time from when it was sent.")
	} else {
		fmt.Fprintln(p, "Closed loop: a connection sends when its reply came, so this does not show queueing.")
	}
}

// row prints quantiles as far as there are values enough: ten beyond each.
func (p printer) row(name string, r *record.Histogram) {
	if r == nil {
		return
	}
	h, err := histogram.Decode(r)
	if err != nil {
		fmt.Fprintf(p, "%-15s%v\n", name, err)
		return
	}
	fmt.Fprintf(p, "%-15s%9s", name, Short(h.Min()))
	for _, q := range columns {
		text := "-"
		if float64(h.Count())*(1-q) >= 10 {
			text = p.capped(h.Quantile(q))
		}
		fmt.Fprintf(p, "%9s", text)
	}
	fmt.Fprintf(p, "%9s%9s\n", p.capped(h.Max()), Short(h.Mean()))
}

// capped marks what was cut off by the time-out.
func (p printer) capped(d time.Duration) string {
	if p.res.Counts.TimedOut > 0 && d >= p.spec.Timeout {
		return "≥" + Short(d)
	}
	return Short(d)
}

func (p printer) errors() {
	c := p.res.Counts
	fmt.Fprintf(p, "\nerrors         %d of %d requests", c.Bad(), c.Planned)
	if c.Bad() > 0 {
		fmt.Fprintf(p, " (%.3g %%): %d failed, %d timed out, %d unfinished", 100*float64(c.Bad())/float64(c.Planned), c.Failed, c.TimedOut, c.Unfinished)
	}
	fmt.Fprintln(p)
	kinds := slices.SortedFunc(maps.Keys(p.res.Errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.res.Errors[b].Count, p.res.Errors[a].Count), cmp.Compare(a, b))
	})
	for _, k := range kinds {
		fmt.Fprintf(p, "  %d x %s, such as: %s\n", p.res.Errors[k].Count, told(k), told(p.res.Errors[k].Example))
	}
}

func (p printer) generator() {
	r := p.res
	fmt.Fprintf(p, "connections    %d at the end, %d dialled in the window\n", r.Connections, r.NewDials)
	fmt.Fprintf(p, "traffic        %s in, %s out\n", size(r.BytesIn), size(r.BytesOut))
	if n := r.Counts.InWindow; n > 0 && r.Window > 0 {
		fmt.Fprintf(p, "generator      %s of CPU a request, %.0f %% of a CPU, %d garbage collections\n",
			Short(r.CPU.Total()/time.Duration(n)), 100*float64(r.CPU.Total())/float64(r.Window), r.GCCount)
	}
}

func (p printer) checks() {
	for _, c := range p.res.Checks {
		if c.OK {
			continue
		}
		word := "doubtful"
		if c.Void {
			word = "void"
		}
		fmt.Fprintf(p, "%-15s%s: %s (limit %s)\n", word, told(c.Name), told(c.Observed), told(c.Limit))
	}
}

// Short is a duration with three digits and its unit.
func Short(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if d >= u.unit {
			return digits3(float64(d)/float64(u.unit)) + " " + u.name
		}
	}
	return fmt.Sprintf("%d ns", d)
}

func digits3(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// number has blanks between thousands.
func number(v float64) string {
	if v < 100 {
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

func size(n uint64) string {
	const kib = 1 << 10
	switch {
	case n >= kib*kib*kib:
		return digits3(float64(n)/(kib*kib*kib)) + " GiB"
	case n >= kib*kib:
		return digits3(float64(n)/(kib*kib)) + " MiB"
	case n >= kib:
		return digits3(float64(n)/kib) + " KiB"
	}
	return fmt.Sprintf("%d B", n)
}
