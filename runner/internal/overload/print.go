package overload

import (
	"fmt"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Markdown is the record as a part of the README.
func Markdown(o *OverloadRecord) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d CPUs, %s %s, %s, node %s, %s UTC, `make overload`, %v. Loopback; the clients share the machine.\n",
		cell(o.Host.CPUModel), len(o.Host.CPUs), cell(o.Host.OS), cell(o.Host.Arch), cell(o.Host.GoVersion), cell(o.Host.NodeVersion),
		o.Started.UTC().Format("2006-01-02 15:04"), o.Took.Round(time.Second))
	if o.Short {
		b.WriteString("\n**A short form: it shows that everything works; the figures are no evidence, and no time limit of a server was reached.**\n")
	}
	for i := range o.Servers {
		server(&b, &o.Servers[i])
	}
	return b.String()
}

func server(b *strings.Builder, s *OverloadServer) {
	fmt.Fprintf(b, "\n**%s**: capacity %.1f k/s; before the faults p99 %s ms at half of it, PSS %s MiB; peak RSS of its whole life %s MiB (one process group throughout).\n\n",
		cell(s.Target), s.CapacityPerSec/1e3, ms(&s.P99Before), mib(s.PSSBefore), mib(s.RSSPeak))
	b.WriteString("| fault | clients | what came of it | /healthz answered, p99, max ms | PSS peak, after MiB | files peak | recovery s | checks |\n|---|---:|---|---:|---:|---:|---:|---|\n")
	for i := range s.Trials {
		t := &s.Trials[i]
		fmt.Fprintf(b, "| %s, %v | %d | %s | %d of %d, %s, %s | %s, %s | %s | %s | %s |\n", cell(t.Fault), t.Length.Round(100*time.Millisecond), t.Connections, outcome(t),
			t.Health.Answered, t.Health.Asked, ms(&t.Health.P99), ms(&t.Health.Max), mib(t.PSSPeak), mib(t.PSSAfter), number(t.FilesPeak), seconds(t.Recovery), failed(t.Checks))
	}
}

func outcome(t *OverloadTrial) string {
	switch {
	case t.OfferedPerSec > 0:
		return fmt.Sprintf("offered %.1f, answered %.1f k/s", t.OfferedPerSec/1e3, t.AnsweredPerSec/1e3)
	case t.HeldMax == nil:
		return fmt.Sprintf("%d bodies, %d times 413", t.Opened, t.Answered)
	}
	return fmt.Sprintf("%d opened, %d ended by the server, the longest held %.1f s", t.Opened, t.Ended, t.HeldMax.Seconds())
}

// failed names the checks that failed.
func failed(checks []record.Check) string {
	var list []string
	for _, c := range checks {
		if !c.OK {
			list = append(list, fmt.Sprintf("FAILED %s: %s (limit %s)", c.Name, c.Observed, c.Limit))
		}
	}
	if list == nil {
		return fmt.Sprintf("all %d pass", len(checks))
	}
	return cell(strings.Join(list, "; "))
}

func ms(d *time.Duration) string { return fmt.Sprintf("%.2f", float64(*d)/1e6) }

func seconds(d *time.Duration) string {
	if d == nil {
		return "none"
	}
	return fmt.Sprintf("%.1f", d.Seconds())
}

func mib(n *uint64) string {
	if n == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.0f", float64(*n)/(1<<20))
}

func number(n *int) string {
	if n == nil {
		return "n/a"
	}
	return fmt.Sprint(*n)
}

// cell keeps text inside a cell of a table.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(s) }
