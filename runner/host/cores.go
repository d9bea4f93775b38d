package host

import (
	"fmt"
	"slices"
)

// CoreSet is where a server of so many cores and its generator run.
type CoreSet struct{ Server, Generator []int }

// Cores shares out the cores for a sweep: a set for each k. All sets have the same
// generator, on cores that no server gets, so that the levels differ in the server
// alone; where the largest k takes every core, that one shares them with it and the
// generator of the others has the last core. The unit is the physical core, as for
// Split. The error says how many there are.
func Cores(ks []int) (map[int]CoreSet, error) { return here().coreSets(ks) }

func (m machine) coreSets(ks []int) (map[int]CoreSet, error) {
	all := m.cores()
	if len(all) == 1 && len(all[0].threads) > 1 { // nothing better to give, as in Split
		all = []core{{threads: all[0].threads[:1]}, {threads: all[0].threads[1:]}}
	}
	most := slices.Max(ks)
	cores := m.near(all) // one NUMA node, if it has enough
	if len(cores) <= most {
		cores = all
	}
	n := len(cores)
	if slices.Min(ks) < 1 || most > n {
		return nil, fmt.Errorf("share out cores: %d to %d are asked for a server, and this process may use %d", slices.Min(ks), most, n)
	}
	if n >= 5 && n >= most+2 {
		cores = cores[1:] // left over, as in Split
	}
	generator := every(cores[min(most, len(cores)-1):])
	sets := map[int]CoreSet{}
	for _, k := range ks {
		sets[k] = CoreSet{Server: first(cores[:k]), Generator: generator}
		if k == len(cores) {
			sets[k] = CoreSet{Server: first(cores), Generator: every(cores)}
		}
	}
	return sets, nil
}
