//go:build !linux

package postgres

import "os/exec"

// start has no affinity here: the server runs wherever the system likes.
func start(cmd *exec.Cmd, _ []int) error { return cmd.Start() }
