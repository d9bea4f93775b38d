package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonogo/runner/archive"
	"gonogo/runner/decision"
	"gonogo/runner/findings"
	"gonogo/runner/record"
	"gonogo/runner/report"
)

type decideCmd struct {
	Ref     string `arg:"" optional:"" name:"archive" help:"Session: id, beginning of an id, folder, benchmark.json, or latest." default:"latest"`
	Out     string `help:"Folder of the archives." default:"results" placeholder:"DIR"`
	Inputs  string `help:"JSON file of what only you can know; a flag below overrides its member." placeholder:"FILE"`
	JSON    bool   `help:"Print decision.json in place of decision.md."`
	Replace bool   `help:"Let this decision take the place of another one in the archive."`

	With []string `help:"Sessions of memory-floor, capacity or scale on the same machine, with the same versions, to take numbers from." placeholder:"ID"`

	Given givenInputs `embed:"" group:"What only you can know (docs/decide.md):"`
}

// givenInputs are the scalars of record.DecisionInputs as flags, under the same
// JSON names, so that what was given lays itself over a file.
type givenInputs struct {
	Replicas      *int     `json:"replicas,omitempty" help:"Replicas that run today."`
	Binds         *string  `json:"binds,omitempty" help:"What decides their number: cpu, memory, availability or latency."`
	MinReplicas   *int     `json:"min_replicas,omitempty" help:"Replicas that availability asks for."`
	VCPUs         *int     `json:"vcpus_per_replica,omitempty" name:"vcpus" help:"vCPUs of a replica."`
	NodeProcesses *int     `json:"node_processes_per_replica,omitempty" help:"Node processes of a replica: 1, or the workers of a cluster."`
	PricePerVCPU  *float64 `json:"price_per_vcpu_month,omitempty" name:"price-vcpu" help:"Price of a vCPU for a month."`
	PricePerGiB   *float64 `json:"price_per_gib_month,omitempty" name:"price-gib" help:"Price of a GiB for a month."`
	Currency      *string  `json:"currency,omitempty" help:"Name of the currency."`
	PeakRate      *float64 `json:"peak_rate_per_sec,omitempty" help:"Requests per second of the whole service at its peak."`
	SLO           *float64 `json:"slo_p99_ms,omitempty" name:"slo-p99-ms" help:"p99 that a request has to meet, own work included."`
	OwnCPU        *float64 `json:"own_cpu_ms,omitempty" name:"own-cpu-ms" help:"CPU time of your own code in a request."`
	OwnIO         *float64 `json:"own_io_ms,omitempty" name:"own-io-ms" help:"Time that a request waits for others."`
	OwnMemory     *float64 `json:"own_memory_mib,omitempty" name:"own-memory-mib" help:"Data that a process has to hold in either language."`
	ReplicaMemory *float64 `json:"replica_memory_mib,omitempty" name:"replica-memory-mib" help:"Memory limit of a replica."`
	CPUTarget     *float64 `json:"cpu_target_ratio,omitempty" name:"cpu-target" help:"Share of its CPUs that a replica uses at the peak, in place of the plan's."`
	EffortDays    *float64 `json:"effort_days,omitempty" help:"Days that the migration takes."`
	CostPerDay    *float64 `json:"cost_per_effort_day,omitempty" name:"cost-per-day" help:"Cost of one of them."`
	HorizonMonths *float64 `json:"horizon_months,omitempty" help:"Months in which it has to pay."`
}

// Run decides, keeps the decision with its archive and prints it.
func (c *decideCmd) Run(s streams) error {
	in, err := c.inputs()
	if err != nil {
		return fail(exitUsage, "docs/decide.md lists the inputs; gonogo decide --help lists the flags", "%w", err)
	}
	loaded, err := open(c.Out, c.Ref)
	if err != nil {
		return err
	}
	if in, err = planned(&loaded.Plan, in); err != nil {
		return err
	}
	beside, err := c.beside(loaded)
	if err != nil {
		return err
	}
	d, err := decision.Make(loaded, findings.Evaluate(loaded), in, beside...)
	if refused := (*decision.Refused)(nil); errors.As(err, &refused) {
		return fail(exitInvalid, "gonogo compare makes a session that can be decided on", "decide on session %s: it is refused:\n  %s", loaded.ID, strings.Join(refused.Reasons, "\n  "))
	}
	if err != nil {
		return fail(exitUsage, "docs/decide.md lists the inputs and their ranges", "%w", err)
	}
	var page, data bytes.Buffer
	if err := errors.Join(report.Decision(&page, d), report.DecisionJSON(&data, d)); err != nil {
		return err
	}
	shown := &page
	if c.JSON {
		shown = &data
	}
	if _, err := s.out.Write(shown.Bytes()); err != nil {
		return fmt.Errorf("print decision: %w", err)
	}
	return c.keep(s, map[string][]byte{decisionPage: page.Bytes(), decisionData: data.Bytes()}, d)
}

// beside reads the sessions that numbers are taken from.
func (c *decideCmd) beside(s *record.Session) ([]record.Beside, error) {
	var all []record.Beside
	for _, ref := range c.With {
		other, err := open(c.Out, ref)
		if err != nil {
			return nil, err
		}
		b, err := decision.Beside(s, other, findings.Evaluate(other))
		if err != nil {
			return nil, fail(exitInvalid, "make it on the same machine with the same versions: gonogo memory-floor, gonogo capacity", "decide with session %s: it is refused:\n  %s", other.ID, strings.ReplaceAll(err.Error(), "; ", "\n  "))
		}
		for _, o := range all {
			if o.Kind == b.Kind {
				return nil, fail(exitUsage, "name one of them", "decide with sessions %s and %s: both are of %s", o.Session, b.Session, b.Kind)
			}
		}
		all = append(all, b)
	}
	return all, nil
}

// The files of a decision, in the folder of its session.
const (
	decisionPage = "decision.md"
	decisionData = "decision.json"
)

// maxInputs bounds an inputs file.
const maxInputs = 4 << 20

// inputs reads the file and lays the flags over it. A member that does not exist is
// an error: a misspelt price would else be a missing one. So is one that is there twice.
func (c *decideCmd) inputs() (record.DecisionInputs, error) {
	var in record.DecisionInputs
	if c.Inputs != "" {
		data, err := readSome(c.Inputs)
		if err != nil {
			return in, fmt.Errorf("read inputs: %w", err)
		}
		if err := record.Strictly(data, &in); err != nil {
			return in, fmt.Errorf("read inputs %s: %w", c.Inputs, err)
		}
	}
	given, err := json.Marshal(c.Given)
	if err == nil {
		err = record.Strictly(given, &in)
	}
	if err != nil { // NaN and infinity are numbers to a flag and none to JSON
		return in, fmt.Errorf("read flags: %w", err)
	}
	return in, decision.Check(in)
}

// planned lays inputs over those of the session's own plan file, if it had one.
func planned(p *record.Plan, in record.DecisionInputs) (record.DecisionInputs, error) {
	if p.Service == nil || p.Service.Inputs == nil {
		return in, nil
	}
	var whole record.DecisionInputs
	for _, part := range []record.DecisionInputs{*p.Service.Inputs, in} {
		data, err := json.Marshal(part)
		if err == nil {
			err = json.Unmarshal(data, &whole)
		}
		if err != nil {
			return whole, fmt.Errorf("read inputs of the plan: %w", err)
		}
	}
	return whole, nil
}

func readSome(path string) ([]byte, error) { return readUpTo(path, maxInputs) }

// readUpTo reads a file that may be a stranger's, or endless.
func readUpTo(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is larger than %d MiB", path, most>>20)
	}
	return data, err
}

// keep writes the decision into the folder of its session. What somebody decided
// there before, or has written into the file since, is not lost without --replace.
func (c *decideCmd) keep(s streams, files map[string][]byte, d *record.Decision) error {
	dir, err := archive.Resolve(c.Out, c.Ref)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("keep decision: %w", err)
	} else if !info.IsDir() {
		fmt.Fprintf(s.err, "gonogo: %s is a file and not the folder of a session: the decision is printed and not kept\n", dir)
		return nil
	}
	var todo, other []string
	for _, name := range []string{decisionPage, decisionData} { // the JSON last: where it is, the page is
		old, err := archive.ReadFile(dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			todo = append(todo, name)
		case err != nil:
			return fmt.Errorf("keep decision: %w", err)
		case !bytes.Equal(old, files[name]):
			todo, other = append(todo, name), append(other, name)
		}
	}
	if len(other) > 0 && !c.Replace {
		return fail(exitPreflight, "--replace puts this decision in its place", "keep decision in %s: another one is there%s: %s differs", dir, before(dir), strings.Join(other, ", "))
	}
	if len(other) > 0 {
		fmt.Fprintf(s.err, "gonogo: the decision in %s%s is replaced by %s\n", dir, before(dir), d.Answer)
	}
	for _, name := range todo {
		if err := archive.WriteFile(filepath.Join(dir, name), func(w io.Writer) error {
			_, err := w.Write(files[name])
			return err
		}); err != nil {
			return fmt.Errorf("keep decision: %w", err)
		}
	}
	return nil
}

// before names the answer that a folder holds, if it can be read.
func before(dir string) string {
	data, err := archive.ReadFile(dir, decisionData)
	var old struct{ Answer record.Answer }
	if err != nil || json.Unmarshal(data, &old) != nil || old.Answer == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", string(old.Answer))
}

// decision decides again on the inputs that a filed decision names, if there is
// one, and holds both its files against what comes out.
func (v *verification) decision(dir string, s *record.Session, e findings.Evaluation) {
	files := map[string][]byte{}
	var problems []archive.Problem
	for _, name := range []string{decisionPage, decisionData} {
		data, err := archive.ReadFile(dir, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, archive.Problem{File: name, Text: err.Error()})
		}
		if err == nil {
			files[name] = data
		}
	}
	if len(files)+len(problems) == 0 {
		return
	}
	for name, want := range again(files[decisionData], s, e) {
		if !bytes.Equal(files[name], want) {
			problems = append(problems, archive.Problem{File: name, Text: "is not what gonogo decide gives for the inputs in " + decisionData})
		}
	}
	slices.SortFunc(problems, func(a, b archive.Problem) int { return strings.Compare(a.File, b.File) })
	if len(problems) > 0 && s.Plan.Kit != version() {
		v.Notes = append(v.Notes, fmt.Sprintf("the session is of gonogo %s and this is %s: the words of a decision may differ for that alone", s.Plan.Kit, version()))
	}
	v.add("decision", "the session and the inputs give it again, to the byte", problems...)
}

// again is what both files of a decision should hold; of nothing where its inputs
// cannot be read or decide nothing.
func again(data []byte, s *record.Session, e findings.Evaluation) map[string][]byte {
	var old struct {
		Inputs record.DecisionInputs
		Beside []record.Beside
	}
	var page, whole bytes.Buffer
	if json.Unmarshal(data, &old) == nil {
		if d, err := decision.Make(s, e, old.Inputs, old.Beside...); err == nil {
			err = errors.Join(report.Decision(&page, d), report.DecisionJSON(&whole, d))
			if err != nil {
				page.Reset()
				whole.Reset()
			}
		}
	}
	return map[string][]byte{decisionPage: page.Bytes(), decisionData: whole.Bytes()}
}
