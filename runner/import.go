package main

import (
	"gonogo/runner/foreign"
)

// maxImport bounds a summary of another engine: the largest, Hyperfoil's with all its
// series, are a few MB.
const maxImport = 32 << 20

type importCmd struct {
	File   string `arg:"" help:"k6: of --summary-export or handleSummary; vegeta: of report -type=json; hyperfoil: a run exported as JSON."`
	Engine string `required:"" enum:"hyperfoil,k6,vegeta" help:"Whose summary it is: hyperfoil, k6 or vegeta."`
	JSON   bool   `help:"Print it as JSON, in base units."`
}

// Run prints a summary of another engine. It is kept nowhere.
func (c *importCmd) Run(s streams) error {
	data, err := readUpTo(c.File, maxImport)
	if err != nil {
		return fail(exitUsage, "", "read %s summary: %w", c.Engine, err)
	}
	summary, err := foreign.Engines[c.Engine](data)
	if err != nil {
		hint := map[string]string{
			"k6":        "k6 run --summary-export FILE writes one, and so does a script of gonogo export; the lines of --out json are none",
			"vegeta":    "vegeta report -type=json prints one",
			"hyperfoil": "export -f json in Hyperfoil's CLI writes one",
		}
		return fail(exitUsage, hint[c.Engine], "%s: %w", c.File, err)
	}
	if c.JSON {
		return writeJSON(s.out, summary)
	}
	return summary.Text(s.out)
}
