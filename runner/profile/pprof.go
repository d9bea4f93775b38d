package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"gonogo/runner/record"
)

func digestGo(r *record.ProfileRun, files []file) error {
	switch r.Of {
	case record.ProfileCPU:
		stacks, err := parseGo(files, goCPU, "cpu")
		if err != nil {
			return err
		}
		r.Vectors = []record.ProfileVector{vector(record.VectorCPU, "ns", stacks, goCategory)}
	case record.ProfileMemory:
		allocated, _, err := grown(files, "heap", "alloc_space")
		if err != nil {
			return err
		}
		living, live, err := grown(files, "heap", "inuse_space")
		if err != nil {
			return err
		}
		r.LiveHeap = &live
		allocated, living = slices.DeleteFunc(allocated, ofProfiler), slices.DeleteFunc(living, ofProfiler)
		r.Vectors = []record.ProfileVector{vector(record.VectorAlloc, "bytes", allocated, goCategory), vector(record.VectorLive, "bytes", living, goCategory)}
	case record.ProfileWaits:
		blocked, _, err := grown(files, "block", "delay")
		if err != nil {
			return err
		}
		held, _, err := grown(files, "mutex", "delay")
		if err != nil {
			return err
		}
		var locks, others []stack
		for _, s := range blocked {
			if waitedFor(s.frames) == record.LockCategory {
				locks = append(locks, s)
			} else {
				others = append(others, s)
			}
		}
		r.Vectors = []record.ProfileVector{waits(record.VectorLock, locks), waits(record.VectorMutex, held), waits(record.VectorBlock, others)}
	case record.ProfileTrace:
		data, err := find(files, goTrace)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(data[:min(len(data), 16)]), "go 1.") {
			return fmt.Errorf("%s is no execution trace", goTrace)
		}
	}
	return nil
}

// ofProfiler: what writing a profile allocates is not the server's.
func ofProfiler(s stack) bool { return goCategory(s.frames) == catProfiler }

// parseGo reads the stacks of one value of a profile.
func parseGo(files []file, name, value string) ([]stack, error) {
	data, err := find(files, name)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	at := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == value })
	if at < 0 {
		return nil, fmt.Errorf("%s has no %s", name, value)
	}
	var stacks []stack
	for _, s := range p.Sample {
		one := stack{value: s.Value[at], count: s.Value[0]}
		for _, l := range s.Location {
			for _, line := range l.Line { // inlined functions first
				if line.Function != nil {
					one.frames = append(one.frames, frame{line.Function.Name, pathOf(line.Function.Name)})
				}
			}
		}
		stacks = append(stacks, one)
	}
	return stacks, nil
}

// pathOf is the import path in the name of a function: all up to the first dot behind
// the last slash that is not in a type argument.
func pathOf(name string) string {
	head, _, _ := strings.Cut(name, "[")
	slash := strings.LastIndexByte(head, '/') + 1
	dot := strings.IndexByte(head[slash:], '.')
	if dot < 0 {
		return ""
	}
	return head[:slash+dot]
}

// grown subtracts, stack by stack, what a profile held at the begin of the window from
// what it held at its end. Of a stack that holds less, nothing is left. live are both
// sums.
func grown(files []file, kind, value string) (stacks []stack, live record.LiveHeap, err error) {
	begin, err := parseGo(files, edgeFile(kind, "begin"), value)
	if err != nil {
		return nil, live, err
	}
	end, err := parseGo(files, edgeFile(kind, "end"), value)
	if err != nil {
		return nil, live, err
	}
	by := map[string]int{}
	for _, s := range end {
		live.End += s.value
		key := keyOf(s)
		if i, ok := by[key]; ok {
			stacks[i].value += s.value
			stacks[i].count += s.count
			continue
		}
		by[key] = len(stacks)
		stacks = append(stacks, s)
	}
	for _, s := range begin {
		live.Begin += s.value
		if i, ok := by[keyOf(s)]; ok {
			stacks[i].value -= s.value
			stacks[i].count -= s.count
		}
	}
	return stacks, live, nil
}

func keyOf(s stack) string {
	var b strings.Builder
	for _, f := range s.frames {
		b.WriteString(f.name)
		b.WriteByte('\n')
	}
	return b.String()
}

// waits is the vector of a lock's profile by who waits, or who held it, and not by the
// function of package sync that both go through. The category is what was waited for.
func waits(name string, stacks []stack) record.ProfileVector {
	v := vector(name, "ns", trimmed(stacks, func(f frame) bool {
		return f.at == "runtime" || f.at == "sync" || f.at == "internal/sync" || f.at == "internal/poll"
	}), goCategory)
	v.Categories = map[string]int64{}
	for _, s := range stacks {
		if s.value > 0 && len(s.frames) > 0 {
			v.Categories[waitedFor(s.frames)] += s.value
		}
	}
	return v
}

// trimmed leaves out what inner says, from the inside on, but never all of a stack.
func trimmed(stacks []stack, inner func(frame) bool) []stack {
	all := slices.Clone(stacks)
	for i, s := range all {
		n := 0
		for n < len(s.frames)-1 && inner(s.frames[n]) {
			n++
		}
		all[i].frames = s.frames[n:]
	}
	return all
}
