package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// identities tells of every server which processes it is.
func identities(ctx context.Context, servers []Server) []string {
	all := make([]string, len(servers))
	for i, s := range servers {
		all[i] = identity(ctx, s.Address)
	}
	return all
}

// others finds servers that are no longer the processes they were: one that
// crashed and was started again has answered as two.
func others(ctx context.Context, servers []Server, before []string) []Difference {
	var differences []Difference
	for i, after := range identities(ctx, servers) {
		if after != before[i] && ctx.Err() == nil {
			differences = append(differences, Difference{Case: "the same processes after all cases", Sent: "GET /healthz", Want: before[i],
				Answers: []Answer{{Server: servers[i].Name, Raw: after, Wrong: "another process, or none"}}})
		}
	}
	return differences
}

// identity tells which processes answer: the token and the pids of /healthz. A
// server without such a route is known by answering at all.
func identity(ctx context.Context, address string) string {
	r, err := ask(ctx, address, "GET", "/healthz")
	if err != nil {
		return err.Error()
	}
	var h struct {
		Token      string `json:"token"`
		PID        int    `json:"pid"`
		WorkerPIDs []int  `json:"worker_pids"`
	}
	if r.status != 200 || json.Unmarshal(r.body, &h) != nil {
		return fmt.Sprintf("status %d", r.status)
	}
	if h.WorkerPIDs == nil {
		h.WorkerPIDs = []int{h.PID} // of a cluster it is whoever answered
	}
	slices.Sort(h.WorkerPIDs)
	return fmt.Sprintf("token %q, pids %v", h.Token, h.WorkerPIDs)
}
