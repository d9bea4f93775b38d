package host

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Sets are the CPUs of servers and generators. One is the CPU of the one-core
// pair of servers, Many those of the k-core pair, K of them; each has its
// generator's beside it. An empty set means not pinned.
type Sets struct {
	One, OneGenerator   []int
	Many, ManyGenerator []int
	K                   int
}

// maxWorkers bounds K: at 50 connections more than 8 workers get so few each
// that their balance, not the server, decides.
const maxWorkers = 8

// Split shares out the CPUs that this process may use. The unit is the physical
// core, for two threads of one core slow each other; a server gets one thread of
// each of its cores, and the other stays idle. A generator gets both.
//
// From 3 cores on one NUMA node servers and generators never meet, and from 5 on
// one core is left for the rest of the machine. With 2 the one-core server and
// its generator have a core each, and the k-core servers share both with theirs.
// With 1 all share it. Two threads of the only core count as 2 cores, as there is
// nothing better to give.
func Split() (Sets, error) { return here().split(), nil }

// core is a physical core: its usable threads, ascending, and its NUMA node.
type core struct {
	threads []int
	node    int
}

func (m machine) split() Sets {
	if len(m.cpus) == 0 {
		return Sets{K: 2}
	}
	cores := m.near(m.cores())
	if len(cores) == 1 && len(cores[0].threads) > 1 {
		cores = []core{{threads: cores[0].threads[:1]}, {threads: cores[0].threads[1:]}}
	}
	switch n := len(cores); n {
	case 1:
		only := first(cores)
		return Sets{One: only, OneGenerator: only, Many: only, ManyGenerator: only, K: 2}
	case 2:
		both := first(cores)
		return Sets{One: both[:1], OneGenerator: every(cores[1:]), Many: both, ManyGenerator: both, K: 2}
	default:
		if n >= 5 {
			// The first core is the one left over: on most machines it serves
			// more interrupts than any other.
			cores = cores[1:]
		}
		k := min(max(2, len(cores)/2), maxWorkers)
		generator := every(cores[k:])
		return Sets{One: first(cores[:1]), OneGenerator: generator, Many: first(cores[:k]), ManyGenerator: generator, K: k}
	}
}

// near keeps the NUMA node with the most cores if it has enough to keep server
// and generator apart, else all.
func (m machine) near(cores []core) []core {
	nodes := map[int][]core{}
	best := 0
	for _, c := range cores {
		nodes[c.node] = append(nodes[c.node], c)
	}
	for n, c := range nodes {
		if len(c) > len(nodes[best]) || len(c) == len(nodes[best]) && n < best {
			best = n
		}
	}
	if len(nodes[best]) >= 3 {
		return nodes[best]
	}
	return cores
}

// cores lists the physical cores of the usable CPUs, by their lowest thread.
func (m machine) cores() []core {
	var cores []core
	seen := map[int]bool{}
	for _, cpu := range m.cpus {
		if seen[cpu] {
			continue
		}
		c := core{node: m.node(cpu)}
		for _, t := range m.siblings(cpu) {
			if slices.Contains(m.cpus, t) && !seen[t] {
				c.threads = append(c.threads, t)
				seen[t] = true
			}
		}
		cores = append(cores, c)
	}
	return cores
}

// siblings are the threads of the CPU's core, itself included.
func (m machine) siblings(cpu int) []int {
	if v, ok := m.read(cpuFile(cpu, "topology/thread_siblings_list")); ok {
		if list, err := parseList(v); err == nil && slices.Contains(list, cpu) {
			return list
		}
	}
	return []int{cpu}
}

// node is the NUMA node of a CPU; 0 where there are none.
func (m machine) node(cpu int) int {
	paths, _ := filepath.Glob(m.path(cpuFile(cpu, "node[0-9]*")))
	if len(paths) != 1 {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(paths[0]), "node"))
	if err != nil {
		return 0
	}
	return n
}

func first(cores []core) []int {
	var cpus []int
	for _, c := range cores {
		cpus = append(cpus, c.threads[0])
	}
	return cpus
}

func every(cores []core) []int {
	var cpus []int
	for _, c := range cores {
		cpus = append(cpus, c.threads...)
	}
	slices.Sort(cpus)
	return cpus
}
