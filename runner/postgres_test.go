package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonogo/runner/contract"
	"gonogo/runner/plan"
	"gonogo/runner/postgres"
	"gonogo/runner/record"
	"gonogo/runner/sut"
)

// postgresKit is a kit that has what the comparison with PostgreSQL needs, and where its
// programs are; it skips loudly where something is missing, or fails where it is required.
func postgresKit(t *testing.T) (kit, bin string) {
	t.Helper()
	missing := func(what string) {
		if os.Getenv("REQUIRE_POSTGRES") != "" {
			t.Fatal(what + ", and REQUIRE_POSTGRES is set")
		}
		t.Skip(strings.ToUpper(what) + ": the servers with PostgreSQL are not tested")
	}
	needNode(t)
	bin, err := postgres.Find()
	if err != nil {
		missing("PostgreSQL is not installed")
	}
	if _, err := os.Stat("../server-node/postgres/node_modules/pg"); err != nil {
		missing("pg is not installed (make postgres-servers)")
	}
	kit = theKit(t)
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-tags", "postgres", "-o", filepath.Join(kit, plan.GoPostgres), "../server-go").CombinedOutput(); err != nil {
		missing(fmt.Sprintf("pgx cannot be built (%s)", out))
	}
	return kit, bin
}

func withPostgres(t *testing.T) (kit string, server *postgres.Server) {
	t.Helper()
	kit, bin := postgresKit(t)
	server, err := postgres.Start(t.Context(), bin, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return kit, server
}

func startWithPostgres(t *testing.T, kit string, target record.Target) *sut.Process {
	t.Helper()
	p, err := sut.Start(t.Context(), nil, sut.Spec{Target: target, Dir: kit, LogPath: filepath.Join(t.TempDir(), "log"), ReadyTimeout: patience, Grace: patience})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The two servers keep the contract with their users in PostgreSQL, with the same number
// of connections to it, and each start finds the users of a fresh store.
func TestServersWithPostgres(t *testing.T) {
	t.Parallel()
	kit, server := withPostgres(t)
	targets := plan.PostgresTargets(plan.CPUSets{})[:2] // the third is the second again
	var asked []contract.Server
	var started []*sut.Process
	for i := range targets {
		env, err := server.Database(t.Context(), databaseOf(targets[i]))
		if err != nil {
			t.Fatal(err)
		}
		targets[i].Env = append(targets[i].Env, env...)
		p := startWithPostgres(t, kit, targets[i])
		t.Cleanup(func() { p.Stop() })
		started = append(started, p)
		asked = append(asked, contract.Server{Name: targets[i].Name, Address: p.Address()})
	}
	result, err := contract.Check(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Differences) > 0 {
		t.Error(result)
	}
	for i, x := range targets {
		const open = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
		if n, err := server.Query(t.Context(), databaseOf(x), open+" AND datname = current_database()"); err != nil || n != "10" {
			t.Errorf("%s holds %s connections to PostgreSQL, %v, want 10", x.Name, n, err)
		}
		h, err := started[i].Health(t.Context())
		if err != nil || len(h.Users) != 1 || h.Users[0] <= plan.IDs {
			t.Errorf("%s: users %v, %v: nothing was stored", x.Name, h.Users, err)
		}
		if _, err := started[i].Stop(); err != nil {
			t.Error(err)
		}
		again := startWithPostgres(t, kit, x)
		if h, err = again.Health(t.Context()); err != nil || len(h.Users) != 1 || h.Users[0] != plan.IDs {
			t.Errorf("%s: a new process starts with users %v, %v, want %d", x.Name, h.Users, err, plan.IDs)
		}
		checkHardText(t, x.Name, again.Address())
		if _, err := again.Stop(); err != nil {
			t.Error(err)
		}
	}
	checkGone(t, kit, server)
}

// checkHardText stores what PostgreSQL cannot hold as it is, and reads it back.
func checkHardText(t *testing.T, name, address string) {
	t.Helper()
	const user = `{"id":"10001","name":"\u0000\\0\\\\0'\";--","email":"\u0000@"}`
	for _, ask := range []func() (*http.Response, error){
		func() (*http.Response, error) {
			return http.Post("http://"+address+"/users", "application/json", strings.NewReader(user))
		},
		func() (*http.Response, error) { return http.Get("http://" + address + "/users/10001") },
	} {
		r, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || string(body) != user {
			t.Errorf("%s: %d %s, %v, want %s", name, r.StatusCode, body, err, user)
		}
	}
}

// checkGone: a store that is gone is an error to those who ask, and not the end of the
// process.
func checkGone(t *testing.T, kit string, server *postgres.Server) {
	t.Helper()
	for _, x := range plan.PostgresTargets(plan.CPUSets{})[:2] {
		env, err := server.Database(t.Context(), "away_"+databaseOf(x))
		if err != nil {
			t.Fatal(err)
		}
		x.Env = append(x.Env, env...)
		p := startWithPostgres(t, kit, x)
		t.Cleanup(func() { p.Stop() })
		if out, err := server.Query(context.Background(), "postgres", "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '"+"away_"+databaseOf(x)+"'"); err != nil || out != "10" {
			t.Fatalf("ended %s, %v", out, err)
		}
		if _, err := server.Query(context.Background(), "postgres", `ALTER DATABASE "away_`+databaseOf(x)+`" ALLOW_CONNECTIONS false`); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			r, err := http.Get("http://" + p.Address() + "/users/1")
			if err != nil {
				t.Fatal(err)
			}
			var body bytes.Buffer
			io.Copy(&body, r.Body)
			r.Body.Close()
			if r.StatusCode != 503 || body.String() != `{"error":"store unavailable"}` {
				t.Errorf("%s: %d %s", x.Name, r.StatusCode, body.String())
			}
		}
		if err := p.Alive(); err != nil {
			t.Error(err)
		}
	}
}
