package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonogo/runner/record"
)

// QuotaFactor is the name of the factor below.
const QuotaFactor = "cpus"

// The ends of names of arms that do not know their quota as the matched ones do.
const (
	byItself    = "-default"
	machineWide = "-machine"
)

// Quotas is how much CPU time a second a server may use, by a control group's quota, as
// containers have it: processors stay visible, and a server that has used up its share is
// stopped until the next tenth of a second. The matched arms have as many threads or workers
// as the quota has whole CPUs, rounded up. The others show what is had without that: Go's
// own default, which looks at the quota since 1.25; Go as it was before; and a worker for
// each processor that Node sees.
func Quotas(levels []float64) Factor {
	return Factor{
		Name: QuotaFactor, Levels: levels,
		Arms: func(c CPUSets) []record.Target {
			target := func(name, base string, argv ...string) record.Target {
				return record.Target{Name: name, Base: base, Argv: argv, CPUs: c.Many, GeneratorCPUs: c.ManyGenerator}
			}
			old := target("go"+machineWide, "go", "bin/server-go")
			old.Env = []string{"GODEBUG=containermaxprocs=0"}
			return []record.Target{
				target("go", "node-cluster", "bin/server-go"), target("go"+byItself, "go", "bin/server-go"), old,
				target("node-cluster", "", "node", "server-node/cluster.mjs"), target("node-cluster"+machineWide, "node-cluster", "node", "server-node/cluster.mjs"),
			}
		},
		Target: func(arm record.Target, level float64) (record.Target, error) {
			if n := len(arm.CPUs); !(level > 0) || n > 0 && level > float64(n) {
				return arm, fmt.Errorf("sweep cpus: a quota of %g CPUs, for servers that have %d", level, n)
			}
			arm.Group = &record.GroupLimits{CPUs: level}
			k := int(math.Ceil(level))
			switch arm.Name {
			case "go":
				arm.Workers, arm.Env = k, append(slices.Clone(arm.Env), "GOMAXPROCS="+strconv.Itoa(k))
			case "node-cluster":
				arm.Workers, arm.Env = k, append(slices.Clone(arm.Env), "WORKERS="+strconv.Itoa(k))
			}
			return arm, nil
		},
		Label: func(level float64) string { return strconv.FormatFloat(level, 'g', -1, 64) + "cpu" },
	}
}
