package session

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	"gonogo/runner/cgroup"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// group is the control group of a step's target; nil members where it has none.
type group struct {
	*cgroup.Group
	run *record.Run
}

// enter makes the control group that the target asks for.
func (s *step) enter() (*group, error) {
	limits := s.target.Group
	if limits == nil {
		return &group{}, nil
	}
	s.run.Limits = limits
	if s.Groups == nil {
		return nil, errors.New("make control group: this session has no place for one")
	}
	if limits.MemoryBytes > 0 {
		if err := s.uncache(); err != nil {
			return nil, err
		}
	}
	g, err := s.Groups.New(*limits)
	if err != nil {
		return nil, err
	}
	return &group{g, s.run}, nil
}

// uncache has the target read its program itself, so that it is charged for it.
func (s *step) uncache() error {
	program := s.target.Argv[0]
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		program = filepath.Join(s.Root, program)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	return cgroup.Uncache(path)
}

// place is where the target starts; nil without a group.
func (g *group) place() sut.Place {
	if g.Group == nil {
		return nil
	}
	return g.Place
}

// leave takes the account of the target's life, which has ended, and removes the group.
func (g *group) leave() error {
	if g.Group == nil {
		return nil
	}
	life, err := g.Read()
	if err == nil {
		var window *record.GroupCounts
		if g.run.Group != nil {
			window = g.run.Group.Window
		}
		g.run.Group = &record.Group{Version: g.Version(), Limits: g.Limits(), Window: window, Life: life}
	}
	return errors.Join(err, g.Remove())
}

// counts reads the group at an edge of the window.
func (s *step) counts() (c record.GroupCounts, err error) {
	if s.group == nil || s.group.Group == nil {
		return c, nil
	}
	return s.group.Read()
}

// countWindow keeps what the group's counters grew by in the window.
func (s *step) countWindow(before record.GroupCounts) error {
	after, err := s.counts()
	if err != nil || s.group == nil || s.group.Group == nil {
		return err
	}
	grown := after.Since(before)
	s.run.Group = &record.Group{Version: s.group.Version(), Limits: s.group.Limits(), Window: &grown, Life: after}
	return nil
}
