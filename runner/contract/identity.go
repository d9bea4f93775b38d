package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

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
