package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// frame is a function in a stack.
type frame struct {
	name string // as it is printed
	at   string // import path of Go, URL of Node; "" where it has none
}

// stack is a sample: frames from the innermost out, and what it counts.
type stack struct {
	frames []frame
	value  int64
	count  int64
}

// most is how many functions of a vector are kept by self, and as many by cumulative
// value. What is below is a part of a thousandth, and of the total all the same.
const most = 120

// vector sums stacks by function.
func vector(name, unit string, stacks []stack, category func([]frame) string) record.ProfileVector {
	v := record.ProfileVector{Name: name, Unit: unit, Categories: map[string]int64{}}
	all := map[string]*record.Function{}
	at := func(f frame) *record.Function {
		if all[f.name] == nil {
			all[f.name] = &record.Function{Name: f.name, Category: category([]frame{f})}
		}
		return all[f.name]
	}
	for _, s := range stacks {
		if s.value <= 0 || len(s.frames) == 0 {
			continue
		}
		v.Total += s.value
		v.Samples += s.count
		v.Categories[category(s.frames)] += s.value
		at(s.frames[0]).Self += s.value
		seen := map[string]bool{}
		for _, f := range s.frames {
			if !seen[f.name] {
				seen[f.name] = true
				at(f).Cum += s.value
			}
		}
	}
	v.Functioned = len(all)
	v.Functions = largest(all)
	return v
}

func largest(all map[string]*record.Function) []record.Function {
	list := make([]record.Function, 0, len(all))
	for _, f := range all {
		list = append(list, *f)
	}
	bySelf := func(a, b record.Function) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Cum, a.Cum), strings.Compare(a.Name, b.Name))
	}
	slices.SortFunc(list, func(a, b record.Function) int {
		return cmp.Or(cmp.Compare(b.Cum, a.Cum), strings.Compare(a.Name, b.Name))
	})
	kept := slices.Clone(list[:min(most, len(list))])
	slices.SortFunc(list, bySelf)
	for _, f := range list[:min(most, len(list))] {
		if !slices.ContainsFunc(kept, func(k record.Function) bool { return k.Name == f.Name }) {
			kept = append(kept, f)
		}
	}
	slices.SortFunc(kept, bySelf)
	return kept
}

// digest fills in all that follows from the files of a run.
func digest(r *record.ProfileRun, files []file) error {
	if r.Runtime == "node" {
		return digestNode(r, files)
	}
	return digestGo(r, files)
}

func find(files []file, name string) ([]byte, error) {
	for _, f := range files {
		if f.name == name {
			return f.data, nil
		}
	}
	return nil, fmt.Errorf("there is no %s", name)
}
