package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonogo/runner/archive"
	"gonogo/runner/host"
	"gonogo/runner/plan"
	"gonogo/runner/postgres"
	"gonogo/runner/record"
)

type postgresCmd struct {
	Seed   *uint64       `help:"Seed of the order and of the requests (default: random; archived)." placeholder:"N"`
	Budget time.Duration `help:"Wanted length; it decides how many blocks fit." default:"12m" placeholder:"12m"`
	Quick  bool          `help:"Smoke run of one short block. Not evidence."`
	Out    string        `help:"Folder of the archives." default:"results" placeholder:"DIR"`
}

// poolSize is how many connections each server holds to PostgreSQL: connections in
// server-go/postgres.go, CONNECTIONS in server-node/postgres/server.mjs.
const poolSize = 10

// Run compares the pair on one core with their users in PostgreSQL, one of its own that
// it starts for the session and removes after it.
func (c *postgresCmd) Run(ctx context.Context, s streams) (err error) {
	if c.Budget < time.Minute && !c.Quick {
		return fail(exitUsage, "give at least 1m, or --quick", "plan session: a budget of %v holds no block", c.Budget)
	}
	kit, err := findKit()
	if err != nil {
		return err
	}
	bin, err := needsPostgres(kit)
	if err != nil {
		return err
	}
	release, err := exclusive("postgres", s)
	if err != nil {
		return err
	}
	defer release()
	sets, err := host.Split()
	if err != nil {
		return err
	}
	cpus := storeCPUs(sets)
	server, err := postgres.Start(ctx, bin, cpus)
	if err != nil {
		return fail(exitPreflight, "it needs some 100 MB in the folder for temporary files", "%w", err)
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	p, err := c.plan(ctx, server, sets, cpus)
	if err != nil {
		return err
	}
	return c.measure(ctx, kit, p, s)
}

func (c *postgresCmd) measure(ctx context.Context, kit kit, p *record.Plan, s streams) error {
	h, err := preflight(ctx, kit, p, c.Out)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, describePlan(p))
	fmt.Fprintf(s.err, "store: %s on CPUs %v, %d connections of each server\n", p.Store.Version, p.Store.CPUs, p.Store.Connections)
	if h, err = grade(ctx, h, p, s); err != nil {
		return err
	}
	dir, err := measure(ctx, kit, p, h, c.Out, s)
	if err != nil {
		return err
	}
	return conclude(dir, c.Out, s)
}

// needsPostgres finds what the default run does without.
func needsPostgres(k kit) (bin string, err error) {
	bin, err = postgres.Find()
	if err != nil {
		return "", fail(exitPreflight, "apt-get install postgresql, or your system's package of its server", "skipped, nothing was measured: %w", err)
	}
	for file, what := range map[string]string{plan.GoPostgres: "go-postgres needs pgx", "server-node/postgres/node_modules/pg/package.json": "node-postgres needs pg from npm"} {
		if _, err := os.Stat(filepath.Join(k.root, file)); err != nil {
			return "", fail(exitPreflight, "make postgres-servers brings it", "skipped, nothing was measured: %s: %w", what, err)
		}
	}
	return bin, nil
}

// storeCPUs are those that neither server nor generator uses. Where there are none it
// shares the server's: a generator that is disturbed would measure itself.
func storeCPUs(sets host.Sets) []int {
	if spare := host.Spare(slices.Concat(sets.One, sets.OneGenerator)); len(spare) > 0 {
		return spare
	}
	return sets.One
}

func (c *postgresCmd) plan(ctx context.Context, server *postgres.Server, sets host.Sets, cpus []int) (*record.Plan, error) {
	targets := plan.PostgresTargets(plan.CPUSets(sets))
	for i, t := range targets {
		env, err := server.Database(ctx, databaseOf(t))
		if err != nil {
			return nil, err
		}
		targets[i].Env = append(t.Env, env...)
	}
	text, err := server.Version(ctx)
	if err != nil {
		return nil, err
	}
	seed := rand.Uint64()
	if c.Seed != nil {
		seed = *c.Seed
	}
	return plan.NewPostgres(plan.Options{Kit: version(), CPUs: plan.CPUSets(sets), Seed: seed, Budget: c.Budget, Quick: c.Quick}, targets,
		record.Store{Version: text, Settings: postgres.Settings(), CPUs: cpus, Connections: poolSize}), nil
}

// databaseOf is the name of a target's database.
func databaseOf(t record.Target) string { return strings.ReplaceAll(t.Name, "-", "_") }

// storeIsGone refuses to go on with a session whose store ended with it.
func storeIsGone(p *record.Plan, w *archive.Writer) error {
	if p.Store == nil {
		return nil
	}
	return fail(exitPreflight, "gonogo postgres begins anew", "resume session %s: the PostgreSQL that its servers asked was removed when it was cut short", filepath.Base(w.Dir()))
}
