package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The files that gonogo plan --write starts: a pair to be filled in, and its requests.
var (
	//go:embed starter/plan.json
	starterPlan []byte
	//go:embed starter/requests.jsonl
	starterRequests []byte
)

// starterRequestsName is the file that the starter plan names.
const starterRequestsName = "requests.jsonl"

// write starts a plan file, and a file of requests beside it if there is none. What is
// there is never written over.
func (c *planCmd) write(s streams) error {
	if err := create(c.Write, starterPlan); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fail(exitUsage, "name another file, or edit that one", "write plan: %w", err)
		}
		return fail(exitPreflight, "name a folder that can be written to", "write plan: %w", err)
	}
	fmt.Fprintf(s.out, "%s: written; put in how your services are started\n", c.Write)
	requests := filepath.Join(filepath.Dir(c.Write), starterRequestsName)
	switch err := create(requests, starterRequests); {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(s.out, "%s: there already\n", requests)
	case err != nil:
		return fail(exitPreflight, "", "write requests: %w", err)
	default:
		fmt.Fprintf(s.out, "%s: written; put in your requests, one a line\n", requests)
	}
	fmt.Fprintf(s.out, "then: gonogo plan --plan %s; gonogo compare --plan %s --quick\n", c.Write, c.Write)
	return nil
}

func create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
