package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"gonogo/runner/contract"
	"gonogo/runner/load"
	"gonogo/runner/record"
)

// checkRequests holds services that know nothing of our contract against each
// other: by the requests of a file, and by nothing else.
func (c *checkCmd) checkRequests(ctx context.Context, s streams, servers []contract.Server) error {
	requests, err := requestsOf(c.Requests)
	if err != nil {
		return err
	}
	if c.IDs < 1 {
		return fail(exitUsage, "give 1 or more", "check requests: %d ids", c.IDs)
	}
	var names []string
	var answers [][]contract.Exchange
	for _, server := range servers {
		list, err := contract.Ask(ctx, server, server.Address, requests, c.IDs)
		if err != nil {
			return cannotAsk(err)
		}
		names, answers = append(names, server.Name), append(answers, list)
	}
	e := contract.Equal(names, answers, requests, c.Ignore)
	if err := printEquality(s.out, e, c.JSON); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return unequal(e)
}

// requestsOf reads a request file.
func requestsOf(path string) ([]record.Request, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fail(exitUsage, "it is a file of JSON lines such as {\"path\":\"/items/{id}\",\"status\":200}: docs/your-own-service.md", "read requests: %w", err)
	}
	defer f.Close()
	list, err := load.ReadRequests(f)
	if err != nil {
		return nil, fail(exitUsage, "each line is a JSON object with method, path, headers, body, status, want, weight, ignore", "%s: %w", path, err)
	}
	return list, nil
}

func printEquality(w io.Writer, e contract.Equality, asJSON bool) error {
	if asJSON {
		return writeJSON(w, e)
	}
	var b strings.Builder
	b.WriteString(e.String())
	fmt.Fprintf(&b, "requests: %d sent to each of %s, %d with differences\n", e.Requests, strings.Join(e.Servers, ", "), len(e.Differences))
	if len(e.Unused) > 0 {
		fmt.Fprintf(&b, "to ignore, but in no answer: %s\n", strings.Join(e.Unused, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unequal gives differences their exit code.
func unequal(e contract.Equality) error {
	if n := len(e.Differences); n > 0 {
		return fail(exitWrong, "services that answer differently cannot be compared: mend one, or name members that may differ with --ignore", "check requests: %d of %d answered differently or wrongly", n, e.Requests)
	}
	return nil
}
