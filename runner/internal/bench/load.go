package main

import (
	"fmt"
	"slices"
	"time"
)

const (
	pairs  = 5
	window = 2 * time.Second
)

// arm is one generator of the comparison.
type arm struct {
	name string
	ours bool
	cost func(address string, connections int) (time.Duration, error)
}

func (b *bench) arms() (arms []arm) {
	for _, p := range found() {
		arms = append(arms, arm{p.name, false, func(address string, connections int) (time.Duration, error) {
			return b.cost(p, address, connections, window)
		}})
	}
	for _, engine := range []string{"epoll", "net"} {
		arms = append(arms, arm{"gonogo " + engine, true, func(address string, connections int) (time.Duration, error) {
			res, cpu, err := b.generate(spec(address, engine, connections, window))
			if err != nil {
				return 0, err
			}
			if bad := res.Counts.Bad(); bad > 0 {
				return 0, fmt.Errorf("gonogo %s: %d of %d requests failed: %v", engine, bad, res.Counts.Planned, res.Errors)
			}
			return cpu / time.Duration(res.Counts.OK), nil
		}})
	}
	return arms
}

// load prints what a request costs each generator. The arms take turns, and in
// every second round in the opposite order, so that drift hits all alike.
func (b *bench) load() error {
	address, stop, err := b.server()
	if err != nil {
		return err
	}
	defer stop()
	arms := b.arms()
	fmt.Fprintf(b.out, "CPU time of the generator per request, %d rounds of %v: median, and median of the ratios to %s\n\n", pairs, window, arms[0].name)
	fmt.Fprintf(b.out, "%-14s", "connections")
	for _, a := range arms {
		fmt.Fprintf(b.out, "%20s", a.name)
	}
	fmt.Fprintln(b.out)
	for _, connections := range []int{50, 300, 1000} {
		costs, failed := make([][]float64, len(arms)), make([]error, len(arms))
		for round := range pairs {
			for i := range arms {
				if round%2 == 1 {
					i = len(arms) - 1 - i
				}
				if failed[i] != nil {
					continue
				}
				c, err := arms[i].cost(address, connections)
				if err != nil && (i == 0 || arms[i].ours) {
					return err
				}
				failed[i] = err // a peer that fails costs nobody else the comparison
				costs[i] = append(costs[i], float64(c))
			}
		}
		fmt.Fprintf(b.out, "%-14d", connections)
		for i := range arms {
			if failed[i] != nil {
				fmt.Fprintf(b.out, "%20s", "failed")
				continue
			}
			fmt.Fprintf(b.out, "%20s", fmt.Sprintf("%.2f µs  x%.2f", median(costs[i])/1e3, median(ratios(costs[i], costs[0]))))
		}
		fmt.Fprintln(b.out)
		for i, err := range failed {
			if err != nil {
				fmt.Fprintf(b.out, "  %s at %d connections: %v\n", arms[i].name, connections, err)
			}
		}
	}
	return nil
}

func ratios(a, base []float64) []float64 {
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / base[i]
	}
	return r
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
