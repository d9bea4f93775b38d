package plan

import (
	"slices"

	"gonogo/runner/record"
)

// GoPostgres is the Go server in a build with pgx, below the kit's folder. It is another
// file than the plain server, which does not link pgx.
const GoPostgres = "bin/server-go-postgres"

// PostgresTargets are the pair on one core with their users in PostgreSQL, and the A/A
// twin. Each needs a database of its own in its environment: they run at the same time
// when they are proved alike.
func PostgresTargets(c CPUSets) []record.Target {
	one := func(name, base string, argv []string, env ...string) record.Target {
		return record.Target{Name: name, Base: base, Argv: argv, Env: append(env, "VARIANT=postgres"), Workers: 1, CPUs: c.One, GeneratorCPUs: c.OneGenerator}
	}
	node := []string{"node", "server-node/postgres/server.mjs"}
	twin := one("node-postgres-twin", "node-postgres", node)
	twin.Twin = true
	return []record.Target{
		one("go-postgres", "node-postgres", []string{GoPostgres}, "GOMAXPROCS=1"),
		one("node-postgres", "", node),
		twin,
	}
}

// NewPostgres is the plan of a comparison whose targets ask a store of their own kit. It
// is a part of the question, and no decision comes of it: on a small machine the store
// takes CPU from those that ask it, and its own cost is in nobody's account.
func NewPostgres(o Options, targets []record.Target, store record.Store) *record.Plan {
	if o.Quick {
		targets = slices.DeleteFunc(slices.Clone(targets), func(t record.Target) bool { return t.Twin })
	}
	p := comparison(o, targets)
	p.Part, p.Decision, p.Store = true, nil, &store
	return p
}
