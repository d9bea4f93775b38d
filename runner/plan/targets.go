package plan

import (
	"fmt"
	"strconv"

	"gonogo/runner/record"
)

// CPUSets say where servers and generator run. One is the set of the one-core
// pair, Many that of the k-core pair; each has the generator's beside it. An
// empty set is not pinned.
type CPUSets struct {
	One, OneGenerator   []int
	Many, ManyGenerator []int
	// K is the number of processes or GOMAXPROCS of the k-core pair.
	K int
}

// DefaultTargets are the four servers of the question: Go and Node on one core,
// and both on k. A Node process against Go on all cores would compare cores, not
// runtimes, so it is not among them. The fifth is the A/A twin: node-1 again under
// a second label, whose difference from node-1 is the noise of this machine.
func DefaultTargets(c CPUSets) []record.Target {
	k := max(c.K, 2)
	one := func(name, base string, argv []string, env ...string) record.Target {
		return record.Target{Name: name, Base: base, Argv: argv, Env: env, Workers: 1, CPUs: c.One, GeneratorCPUs: c.OneGenerator}
	}
	many := func(name, base string, argv []string, env ...string) record.Target {
		return record.Target{Name: name, Base: base, Argv: argv, Env: env, Workers: k, CPUs: c.Many, GeneratorCPUs: c.ManyGenerator}
	}
	goServer, nodeServer := []string{"bin/server-go"}, []string{"node", "server-node/server.mjs"}
	twin := one("node-1-twin", "node-1", nodeServer)
	twin.Twin = true
	cluster := fmt.Sprintf("node-cluster-%d", k)
	return []record.Target{
		one("go-1", "node-1", goServer, "GOMAXPROCS=1"),
		one("node-1", "", nodeServer),
		twin,
		many(fmt.Sprintf("go-%d", k), cluster, goServer, "GOMAXPROCS="+strconv.Itoa(k)),
		many(cluster, "", []string{"node", "server-node/cluster.mjs"}, "WORKERS="+strconv.Itoa(k)),
	}
}
