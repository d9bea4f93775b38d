package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/julienschmidt/httprouter"
)

// variants are the API with one part exchanged, by the name that VARIANT gives, so
// that what a part is worth is a number. The plain server runs nothing of them. One
// that exchanges the JSON encoder is there in a build with GOEXPERIMENT=jsonv2.
var variants = map[string]func() http.Handler{
	"typed":       func() http.Handler { return exchange(parts{parse: parseTyped}) },
	"pooled":      func() http.Handler { return exchange(parts{reply: replyPooled}) },
	"mutex":       func() http.Handler { return exchange(parts{users: newMutexStore()}) },
	"rwmutex":     func() http.Handler { return exchange(parts{users: newStore()}) },
	"sharded-256": func() http.Handler { return exchange(parts{users: newShardedStore()}) },
	"syncmap":     func() http.Handler { return exchange(parts{users: newSyncStore()}) },
	"servemux":    func() http.Handler { return newMuxed(newStore()) },
	"admission":   func() http.Handler { return &admission{Handler: newAPI(newStore()), limit: admitted} },
}

// handler is the plain API, or a variant.
func handler(variant string) http.Handler {
	if variant == "" {
		return newAPI(newStore())
	}
	build, ok := variants[variant]
	if !ok {
		panic(fmt.Sprintf("VARIANT=%s: this build has %v", variant, slices.Sorted(maps.Keys(variants))))
	}
	return build()
}

// users is a store behind an interface. A call through it costs some nanoseconds of
// a request's many thousands; rwmutex, which is the plain store behind it, tells how
// many.
type users interface {
	get(id string) (user, bool)
	add(name, email string) user
	size() int
}

// parts are what a variant may exchange; nil is the plain server's own.
type parts struct {
	users users
	parse func(body []byte) (name, email, problem string)
	reply func(w http.ResponseWriter, status int, u user)
}

// exchanged is the API with some parts exchanged.
type exchanged struct {
	*api
	parts
}

func exchange(p parts) *api {
	var plain *store
	if p.users == nil { // a second store, if only for a moment, would be in the memory
		plain = newStore()
		p.users = plain
	}
	x := exchanged{newAPI(plain), p}
	if x.parse == nil {
		x.parse = parse
	}
	if x.reply == nil {
		x.reply = func(w http.ResponseWriter, status int, u user) { send(w, status, encode(u)) }
	}
	x.api.size = x.users.size
	// The routes of the plain server: a router cannot take a second handler for one.
	x.router = &httprouter.Router{HandleMethodNotAllowed: true, NotFound: x.router.NotFound, MethodNotAllowed: x.router.MethodNotAllowed}
	x.router.GET("/users/:id", x.read)
	x.router.HEAD("/users/:id", x.read)
	x.router.POST("/users", x.create)
	x.router.GET("/healthz", x.health)
	x.router.HEAD("/healthz", x.health)
	return x.api
}

func (x exchanged) read(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	u, ok := x.users.get(p.ByName("id"))
	if !ok {
		notFound(w, r)
		return
	}
	x.reply(w, http.StatusOK, u)
}

func (x exchanged) create(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	body, ok := bodyOf(w, r)
	if !ok {
		return
	}
	name, email, problem := x.parse(body)
	if problem != "" {
		fail(w, http.StatusBadRequest, problem)
		return
	}
	x.reply(w, http.StatusCreated, x.users.add(name, email))
}
