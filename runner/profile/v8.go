package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"gonogo/runner/record"
)

// window is what preload.mjs tells of a process when the window has closed.
type window struct {
	PID         int     `json:"pid"`
	Begin       float64 `json:"begin_us"` // of the clock of V8's samples
	End         float64 `json:"end_us"`
	Utilisation float64 `json:"utilisation"`
	Delay       *struct {
		Resolution float64 `json:"resolution_ns"`
		Samples    uint64  `json:"samples"`
		Mean       float64 `json:"mean_ns"`
		P50        float64 `json:"p50_ns"`
		P99        float64 `json:"p99_ns"`
		Max        float64 `json:"max_ns"`
	} `json:"delay"`
	Allocations *heapProfile `json:"allocations"`
	Live        *struct {
		Begin int64 `json:"begin"`
		End   int64 `json:"end"`
	} `json:"live"`
}

// callFrame is V8's word for a function.
type callFrame struct {
	Function string `json:"functionName"`
	URL      string `json:"url"`
	Line     int    `json:"lineNumber"` // from 0
}

type cpuProfile struct {
	Nodes []struct {
		ID       int       `json:"id"`
		Frame    callFrame `json:"callFrame"`
		Children []int     `json:"children"`
	} `json:"nodes"`
	Start   float64   `json:"startTime"` // µs
	Samples []int     `json:"samples"`
	Deltas  []float64 `json:"timeDeltas"` // µs, each from the sample before it
}

type heapProfile struct {
	Head heapNode `json:"head"`
}

type heapNode struct {
	Frame    callFrame  `json:"callFrame"`
	Self     float64    `json:"selfSize"`
	Children []heapNode `json:"children"`
}

func digestNode(r *record.ProfileRun, files []file) error {
	windows, err := windowsOf(files)
	if err != nil {
		return err
	}
	switch r.Of {
	case record.ProfileCPU:
		var stacks []stack
		for _, w := range windows {
			more, err := cpuStacks(files, w)
			if err != nil {
				return err
			}
			stacks = append(stacks, more...)
		}
		r.Vectors = []record.ProfileVector{vector(record.VectorCPU, "ns", stacks, nodeCategory)}
	case record.ProfileMemory:
		var stacks []stack
		for _, w := range windows {
			if w.Allocations == nil {
				return fmt.Errorf("process %d tells of no allocations", w.PID)
			}
			stacks = append(stacks, w.Allocations.Head.stacks(nil)...)
		}
		r.Vectors = []record.ProfileVector{vector(record.VectorAlloc, "bytes", stacks, nodeCategory)}
	case record.ProfileHeap:
		return living(r, files, windows)
	case record.ProfileWaits:
		r.Loop, err = loop(windows)
		return err
	}
	return nil
}

func windowsOf(files []file) ([]window, error) {
	var all []window
	for _, f := range files {
		if !strings.HasPrefix(f.name, "window-") {
			continue
		}
		var w window
		if err := json.Unmarshal(f.data, &w); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		return nil, errors.New("no process told of its window")
	}
	return all, nil
}

// written is the profile that a process wrote when it ended. Its number is in the name:
// CPU.20261201.032606.15815.0.001.cpuprofile.
func written(files []file, pid int, suffix string) (file, error) {
	for _, f := range files {
		if strings.HasSuffix(f.name, suffix) && strings.Contains(f.name, fmt.Sprintf(".%d.", pid)) {
			return f, nil
		}
	}
	return file{}, fmt.Errorf("process %d wrote no %s when it ended", pid, suffix)
}

// cpuStacks are the samples of a process that lie in its window. A sample stands for
// the time to the next one; in (idle) the thread waits for events, and does nothing.
func cpuStacks(files []file, w window) ([]stack, error) {
	f, err := written(files, w.PID, ".cpuprofile")
	if err != nil {
		return nil, err
	}
	var p cpuProfile
	if err := json.Unmarshal(f.data, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	if len(p.Samples) != len(p.Deltas) {
		return nil, fmt.Errorf("%s: %d samples at %d times", f.name, len(p.Samples), len(p.Deltas))
	}
	parent, frames := map[int]int{}, map[int]frame{}
	for _, n := range p.Nodes {
		frames[n.ID] = n.Frame.frame()
		for _, c := range n.Children {
			if c <= n.ID { // V8 numbers from the root out; else a walk might not end
				return nil, fmt.Errorf("%s: node %d is above its parent %d", f.name, c, n.ID)
			}
			parent[c] = n.ID
		}
	}
	values, counts := map[int]float64{}, map[int]int64{}
	at := p.Start
	for i, id := range p.Samples {
		at += p.Deltas[i]
		next := at
		if i+1 < len(p.Deltas) {
			next += p.Deltas[i+1]
		}
		if from, to := max(at, w.Begin), min(next, w.End); to > from && frames[id].name != "(idle)" {
			values[id] += to - from
			counts[id]++
		}
	}
	var stacks []stack
	for _, n := range p.Nodes {
		if values[n.ID] > 0 {
			stacks = append(stacks, stack{path2root(n.ID, parent, frames), int64(values[n.ID] * float64(time.Microsecond)), counts[n.ID]})
		}
	}
	return stacks, nil
}

// path2root are the frames from a node out. The root itself is no function.
func path2root(id int, parent map[int]int, frames map[int]frame) []frame {
	var all []frame
	for len(all) < deepest {
		up, ok := parent[id]
		if ok || len(all) == 0 {
			all = append(all, frames[id])
		}
		if !ok {
			return all
		}
		id = up
	}
	return all
}

// deepest is how many frames of a stack are kept, from the inside out. V8 keeps fewer.
const deepest = 512

// stacks are the samples of a heap profile. outer is reused by the nodes beside this one.
func (n heapNode) stacks(outer []frame) []stack {
	if n.Frame.Function != "(root)" {
		outer = append([]frame{n.Frame.frame()}, outer[:min(len(outer), deepest-1)]...)
	}
	var all []stack
	if n.Self > 0 && len(outer) > 0 {
		all = append(all, stack{outer, int64(n.Self), 1})
	}
	for _, c := range n.Children {
		all = append(all, c.stacks(outer)...)
	}
	return all
}

// living reads what --heap-prof wrote: what was alive when the process ended, or dead
// and not yet collected.
func living(r *record.ProfileRun, files []file, windows []window) error {
	var stacks []stack
	r.LiveHeap = &record.LiveHeap{}
	for _, w := range windows {
		f, err := written(files, w.PID, ".heapprofile")
		if err != nil {
			return err
		}
		var p heapProfile
		if err := json.Unmarshal(f.data, &p); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		stacks = append(stacks, p.Head.stacks(nil)...)
		if w.Live == nil {
			return fmt.Errorf("process %d tells of no heap", w.PID)
		}
		r.LiveHeap.Begin += w.Live.Begin
		r.LiveHeap.End += w.Live.End
	}
	r.Vectors = []record.ProfileVector{vector(record.VectorLive, "bytes", stacks, nodeCategory)}
	return nil
}

// loop is the delay of the worst process. A timer of so many ms is late by what it runs
// after them.
func loop(windows []window) (*record.EventLoop, error) {
	l := &record.EventLoop{Processes: len(windows)}
	for _, w := range windows {
		d := w.Delay
		if d == nil || d.Samples == 0 {
			continue // the primary of a cluster may be at rest; one that never was is told below
		}
		late := func(ns float64) time.Duration { return time.Duration(max(0, ns-d.Resolution)) }
		l.Utilisation = max(l.Utilisation, w.Utilisation)
		if l.Samples == 0 || late(d.P99) > l.P99 {
			l.Samples, l.Mean, l.P50, l.P99, l.Max = d.Samples, late(d.Mean), late(d.P50), late(d.P99), late(d.Max)
		}
	}
	if l.Samples == 0 {
		return nil, errors.New("no process told how late its timers were")
	}
	return l, nil
}

// frame names a function by its name and the last two parts of its file. A line is part
// of the name where there is no other.
func (c callFrame) frame() frame {
	name := c.Function
	if c.URL == "" {
		if name == "" {
			name = "(anonymous)"
		}
		return frame{name, ""}
	}
	file := strings.TrimPrefix(c.URL, "file://")
	if dir, base := path.Split(file); dir != "" && !strings.HasPrefix(file, "node:") {
		file = path.Join(path.Base(dir), base)
	}
	if name == "" {
		return frame{fmt.Sprintf("(anonymous) %s:%d", file, c.Line+1), c.URL}
	}
	return frame{name + " " + file, c.URL}
}
