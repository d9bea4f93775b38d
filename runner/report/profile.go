package report

import (
	"fmt"
	"strconv"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// profileAlone is the page of a session of profiles: the diagnosis, the functions, and
// how two targets differ.
func (v view) profileAlone() document {
	d := document{
		title:     ProfileQuestion,
		mark:      mark(v.s, *v.e),
		head:      head(v.s),
		findings:  gravestFirst(v.e.Findings),
		discarded: v.e.Discarded,
		runs:      len(v.s.Runs),
		foot:      append([]string{"No verdict and no decision comes from this session: its runs carried profilers. Raw profiles are in its folder: go tool pprof, go tool trace, and the DevTools of Chrome open them."}, foot(v.s)...),
	}
	if p := v.e.Profiles; p != nil {
		d.verdicts, d.load, d.memory = diagnoses(p), functions(p, 5), differs(p, 12)
		d.detail = []grid{functions(p, 25), differs(p, 40), v.profilers(p), pausesTold(p)}
	}
	return d
}

// ProfileQuestion is what a session of profiles answers.
const ProfileQuestion = "Where do these servers spend their time and their memory?"

func diagnoses(p *findings.Profiles) grid {
	g := grid{title: "DIAGNOSIS", lead: []string{"Three vectors of each target at saturation: CPU, locks (of Node: what holds up its one thread), memory. Suspect: beyond its limit. A greener profile is no lower latency: only an end-to-end run tells."},
		columns: []heading{{name: "vector", text: true}, {name: "word", text: true}, {name: "most in", text: true}}}
	for _, t := range p.Targets {
		known := func(x, by float64) string {
			if x == 0 {
				return unknown
			}
			return digits(x / by)
		}
		group := fmt.Sprintf("%s: %s k req/s, p99 %s ms, %s %% of its CPUs", t.Target, known(t.Rate, kilo), known(t.P99, millis), known(t.Busy, percnt))
		if t.Shared {
			group += ", which it shares with the generator"
		}
		for _, d := range t.Diagnosis {
			g.rows = append(g.rows, row{group: group, cells: []cell{{text: d.Vector}, {text: d.Word}, {text: d.Top}}, remark: d.Observed + "; limit: " + d.Threshold})
			group = ""
		}
		if t.Paradox != "" {
			g.rows[len(g.rows)-1].remark += ". ALARM: " + t.Paradox
		}
	}
	return g
}

// vectorWords say what the vector of a runtime counts.
func vectorWords(runtime, name string) (what, unit string) {
	switch name {
	case record.VectorCPU:
		if runtime == "node" {
			return "time in which its thread was not idle", "ms"
		}
		return "CPU time", "ms"
	case record.VectorAlloc:
		return "bytes allocated in the window", "MiB"
	case record.VectorLive:
		if runtime == "node" {
			return "bytes in use when it ended", "MiB"
		}
		return "bytes in use at the end of the window and not at its begin", "MiB"
	case record.VectorLock:
		return "waits for locks, by who waited", "ms"
	case record.VectorMutex:
		return "waits for locks, by who held them", "ms"
	case record.VectorBlock:
		return "waits for channels and conditions, by who waited", "ms"
	}
	return name, ""
}

// functions has the largest of each vector by their own part.
func functions(p *findings.Profiles, most int) grid {
	g := grid{title: "FUNCTIONS", lead: []string{"Self: in the function; cumulative: in it and in what it called. Each vector is from a fresh process of its own, see docs/profile.md."},
		columns: []heading{{name: "function", text: true}, {name: "self", unit: "%"}, {name: "cum.", unit: "%"}, {name: "self"}, {name: "", text: true}, {name: "category", text: true}}}
	for _, t := range p.Targets {
		for _, r := range t.Runs {
			for _, vec := range r.Vectors {
				what, unit := vectorWords(t.Runtime, vec.Name)
				by := map[string]float64{"ms": millis, "MiB": mebi}[unit]
				group := fmt.Sprintf("%s, %s: %s, %s %s in all", t.Target, vec.Name, what, digits(float64(vec.Total)/by), unit)
				for _, f := range topOf(vec, most) {
					g.rows = append(g.rows, row{group: group, cells: []cell{{text: f.Name}, {text: shareOf(f.Self, vec.Total)}, {text: shareOf(f.Cum, vec.Total)}, {text: digits(float64(f.Self) / by)}, {text: unit}, {text: f.Category}}})
					group = ""
				}
			}
		}
	}
	return g
}

// topOf are the functions with the largest part of their own.
func topOf(v record.ProfileVector, most int) []record.Function {
	var top []record.Function
	for _, f := range v.Functions {
		if len(top) < most && f.Self > 0 {
			top = append(top, f)
		}
	}
	return top
}

func shareOf(part, total int64) string {
	if total == 0 {
		return unknown
	}
	return digits(100 * float64(part) / float64(total))
}

func differs(p *findings.Profiles, most int) grid {
	d := p.Difference
	if d == nil {
		return grid{columns: []heading{{name: ""}}}
	}
	g := grid{title: "DIFFERENCE", lead: []string{"CPU time of a request by " + d.By + ": the share of the samples times the CPU time that a request takes where nobody profiles. " +
		map[string]string{"function": "A function without a number is not among the largest.", "category": "What V8 compiles into the function that calls it, such as JSON and Map, is in Node's own; scheduling of Node holds all native code without a function of JavaScript."}[d.By]},
		columns: []heading{{name: d.By, text: true}, {name: d.A, unit: "%"}, {name: d.B, unit: "%"}, {name: d.A, unit: "µs"}, {name: d.B, unit: "µs"}, {name: "difference", unit: "µs"}}}
	for i, r := range d.Rows {
		if i == most {
			break
		}
		g.rows = append(g.rows, row{cells: []cell{{text: r.Name}, {text: digits(100 * r.AShare)}, {text: digits(100 * r.BShare)}, {text: digits(r.A / micros)}, {text: digits(r.B / micros)}, {text: digits((r.A - r.B) / micros)}}})
	}
	return g
}

// profilers say what each took of the rate, and what of Node's loop was seen.
func (v view) profilers(p *findings.Profiles) grid {
	g := grid{title: "Runs", lead: []string{"What each profiler left of the rate of the run without one: profiles are of a slower server than the one that is compared elsewhere."},
		columns: []heading{{name: "target", text: true}, {name: "profile", text: true}, {name: "req/s"}, {name: "of plain", unit: "%"}, {name: "loop p50", unit: "ms"}, {name: "p99", unit: "ms"}, {name: "max", unit: "ms"}, {name: "loop busy", unit: "%"}, {name: "files"}}}
	for _, t := range p.Targets {
		if t.Rate > 0 {
			g.rows = append(g.rows, row{cells: []cell{{text: t.Target}, {text: "none"}, {text: whole(t.Rate)}, {text: "100"}, {}, {}, {}, {}, {}}})
		}
		for _, r := range t.Runs {
			cells := []cell{{text: t.Target}, {text: r.Of}, {text: whole(r.Rate)}, {text: unknown}, {}, {}, {}, {}, {text: strconv.Itoa(len(r.Files))}}
			if r.OfPlain > 0 {
				cells[3].text = digits(100 * r.OfPlain)
			}
			if l := r.Loop; l != nil {
				cells[4].text, cells[5].text, cells[6].text, cells[7].text = digits(float64(l.P50)/millis), digits(float64(l.P99)/millis), digits(float64(l.Max)/millis), digits(100*l.Utilisation)
			}
			g.rows = append(g.rows, row{cells: cells})
		}
	}
	return g
}

func pausesTold(p *findings.Profiles) grid {
	g := grid{title: "Pauses of 1 ms and more", lead: []string{"By the runtimes' own word (gctrace, trace-gc), in the window."},
		columns: []heading{{name: "target", text: true}, {name: "profile", text: true}, {name: "pauses"}, {name: "total", unit: "ms"}, {name: "longest", unit: "ms"}}}
	for _, t := range p.Targets {
		for _, x := range t.Pauses {
			g.rows = append(g.rows, row{cells: []cell{{text: t.Target}, {text: x.Of}, {text: strconv.Itoa(x.Count)}, {text: digits(float64(x.Total) / millis)}, {text: digits(float64(x.Longest) / millis)}}})
		}
	}
	return g
}

// ProfileTable is one table of a session of profiles, for package page.
type ProfileTable struct {
	Title, Lead string
	Head        []string
	Rows        [][]string
}

// ProfileTables are those of a session of profiles, in order.
func ProfileTables(s *record.Session, e findings.Evaluation) []ProfileTable {
	if e.Profiles == nil {
		return nil
	}
	v := newView(s, &e)
	var all []ProfileTable
	for _, g := range []grid{diagnoses(e.Profiles), differs(e.Profiles, 40), functions(e.Profiles, 15), v.profilers(e.Profiles), pausesTold(e.Profiles)} {
		if len(g.rows) == 0 {
			continue
		}
		t := ProfileTable{Title: g.title, Head: []string{}}
		if len(g.lead) > 0 {
			t.Lead = g.lead[0]
		}
		for _, c := range g.columns {
			name := c.name
			if c.unit != "" {
				name += " " + c.unit
			}
			t.Head = append(t.Head, name)
		}
		for _, r := range g.rows {
			if r.group != "" {
				t.Rows = append(t.Rows, []string{r.group})
			}
			var cells []string
			for _, c := range r.cells {
				cells = append(cells, c.text)
			}
			t.Rows = append(t.Rows, cells)
			if r.remark != "" {
				t.Rows = append(t.Rows, []string{r.remark})
			}
		}
		all = append(all, t)
	}
	return all
}
