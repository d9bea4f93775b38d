//go:build !linux

package cgroup

import (
	"errors"
	"fmt"
	"syscall"

	"gonogo/runner/record"
)

// Tree is where groups can be made: nowhere on this system.
type Tree struct{}

// Find finds none.
func Find(...string) (*Tree, error) {
	return nil, &Missing{"this system has no control groups", "run it on Linux: they are what limits a container there"}
}

// Version is that of no kernel.
func (t *Tree) Version() int { return 0 }

// Sweep finds nothing to remove.
func (t *Tree) Sweep() (removed []string, err error) { return nil, nil }

// New makes none.
func (t *Tree) New(record.GroupLimits) (*Group, error) { return nil, errNone }

// Group is a control group that does not exist.
type Group struct{}

var errNone = fmt.Errorf("control group: not available on this system: %w", errors.ErrUnsupported)

// Place is not available here.
func (g *Group) Place(*syscall.SysProcAttr) (leave func() error, err error) { return nil, errNone }

// Limits are none.
func (g *Group) Limits() record.GroupLimits { return record.GroupLimits{} }

// Version is that of no kernel.
func (g *Group) Version() int { return 0 }

// Read is not available here.
func (g *Group) Read() (record.GroupCounts, error) { return record.GroupCounts{}, errNone }

// Remove has nothing to remove.
func (g *Group) Remove() error { return nil }

// Uncache is not available here.
func Uncache(string) error { return errNone }
