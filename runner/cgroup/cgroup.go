// Package cgroup puts one fresh process, and what it forks, into a control group of its
// own: with a CPU quota or a memory limit as a container has them, and with the
// kernel's account of what they did to it. It needs Linux, and the right to make groups
// below the runner's own: root's, or a delegated subtree.
//
// A group is named gonogo-PID-START-N after the runner that made it. It is removed when
// its process has ended; what a runner that was killed left is removed by the next one,
// which knows by the two numbers that its maker is gone.
//
// Sources: the kernel's Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst
// and scheduler/sched-bwc.rst.
package cgroup

// The controllers that limits need.
const (
	CPU    = "cpu"
	Memory = "memory"
)

// Missing says why no group can be made here, and what to do about it.
type Missing struct{ What, Do string }

func (m *Missing) Error() string { return "limit with control groups: " + m.What }

// period is the time over which a quota counts, of Docker and Kubernetes too.
const periodMicros = 100_000

const prefix = "gonogo-"
