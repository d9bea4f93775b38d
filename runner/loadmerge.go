package main

import (
	"encoding/json"
	"fmt"

	"gonogo/runner/load"
	"gonogo/runner/record"
)

// maxMerge bounds all records together: a worker's second is about 2 KB of it.
const maxMerge = 64 << 20

type loadMergeCmd struct {
	Files []string `arg:"" name:"file" help:"Records that gonogo load --json printed."`
	JSON  bool     `help:"Print the merged record as JSON."`
}

// Run merges records, exactly.
func (c *loadMergeCmd) Run(s streams) error {
	var parts []record.LoadRecord
	left := int64(maxMerge)
	for _, path := range c.Files {
		text, err := readUpTo(path, left)
		if err != nil {
			return fail(exitUsage, "", "read record: %w", err)
		}
		left -= int64(len(text))
		var r record.LoadRecord
		if err := json.Unmarshal(text, &r); err != nil {
			return fail(exitUsage, "gonogo load --json prints one", "read record %s: %w", path, err)
		}
		parts = append(parts, r)
	}
	whole, err := load.Merge(parts)
	if err != nil {
		return fail(exitUsage, "the records of all workers of one plan, each once", "%w", err)
	}
	if c.JSON {
		err = record.WriteJSONLine(s.out, whole)
	} else {
		err = load.Text(s.out, whole)
	}
	if err != nil {
		return fmt.Errorf("print record: %w", err)
	}
	if whole.Error != "" {
		return fail(exitFailed, "", "merge: %s", whole.Error)
	}
	return outcome(whole, nil, nil)
}
