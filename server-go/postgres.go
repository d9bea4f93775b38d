//go:build postgres

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/julienschmidt/httprouter"
)

// The API with its users in PostgreSQL, in a build with the tag postgres: only that
// links pgx, and is larger by it. Which database is told by PGHOST, PGUSER and the like.
// server-node/postgres/server.mjs is the same program.
func init() {
	variants["postgres"] = func() http.Handler {
		d, err := open(context.Background())
		if err != nil {
			panic(fmt.Errorf("open store: %w", err))
		}
		return d
	}
}

// connections are open from the start to the end. Requests beyond them wait for one.
const connections = 10

// The statements are prepared, once on each connection.
const (
	selectUser = "SELECT id, name, email FROM gonogo.users WHERE id = $1"
	insertUser = "INSERT INTO gonogo.users (name, email) VALUES ($1, $2) RETURNING id"
	countUsers = "SELECT count(*) FROM gonogo.users"
)

//go:embed postgres.sql
var freshUsers string

// database is the API over a table. A query that has begun is finished, whether or not
// somebody still waits for the answer: Node's does the same.
type database struct {
	*api
	pool *pgxpool.Pool
}

func open(ctx context.Context) (*database, error) {
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	config.MinConns, config.MaxConns = connections, connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, freshUsers); err != nil {
		return nil, err
	}
	for range connections { // a pool opens them when it likes
		c, err := pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		defer c.Release()
	}
	return newDatabase(pool), nil
}

func newDatabase(pool *pgxpool.Pool) *database {
	d := &database{exchange(parts{users: nobody{}}), pool}
	// The routes of the plain server: a router cannot take a second handler for one.
	d.router = &httprouter.Router{HandleMethodNotAllowed: true, NotFound: d.router.NotFound, MethodNotAllowed: d.router.MethodNotAllowed}
	d.router.GET("/users/:id", d.read)
	d.router.HEAD("/users/:id", d.read)
	d.router.POST("/users", d.create)
	d.router.GET("/healthz", d.health)
	d.router.HEAD("/healthz", d.health)
	d.api.size = d.count
	return d
}

// nobody is a store in memory without users: they are elsewhere.
type nobody struct{}

func (nobody) get(string) (user, bool) { return user{}, false }
func (nobody) add(string, string) user { return user{} }
func (nobody) size() int               { return 0 }

func (d *database) read(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	var u user
	err := d.pool.QueryRow(context.Background(), selectUser, stored.Replace(p.ByName("id"))).Scan(&u.ID, &u.Name, &u.Email)
	if errors.Is(err, pgx.ErrNoRows) {
		notFound(w, r)
		return
	}
	if err != nil {
		unavailable(w)
		return
	}
	u.Name, u.Email = given.Replace(u.Name), given.Replace(u.Email)
	send(w, http.StatusOK, encode(u))
}

func (d *database) create(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	body, ok := bodyOf(w, r)
	if !ok {
		return
	}
	name, email, problem := parse(body)
	if problem != "" {
		fail(w, http.StatusBadRequest, problem)
		return
	}
	u := user{Name: name, Email: email}
	if err := d.pool.QueryRow(context.Background(), insertUser, stored.Replace(name), stored.Replace(email)).Scan(&u.ID); err != nil {
		unavailable(w)
		return
	}
	send(w, http.StatusCreated, encode(u))
}

// count is for health: a store that cannot be counted holds nothing.
func (d *database) count() (n int) {
	d.pool.QueryRow(context.Background(), countUsers).Scan(&n)
	return n
}

func unavailable(w http.ResponseWriter) {
	fail(w, http.StatusServiceUnavailable, "store unavailable")
}

// PostgreSQL's text holds every character but U+0000, which the contract has too: it is
// stored as \0, and the \ itself as \\.
var (
	stored = strings.NewReplacer(`\`, `\\`, "\x00", `\0`)
	given  = strings.NewReplacer(`\\`, `\`, `\0`, "\x00")
)
