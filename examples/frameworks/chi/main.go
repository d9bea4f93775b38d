// Items in memory, written the way a chi service is.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

type price struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type item struct {
	ID        int      `json:"id"`
	Name      string   `json:"name"`
	Price     price    `json:"price"`
	Tags      []string `json:"tags"`
	CreatedAt string   `json:"createdAt"`
}

type store struct {
	mu    sync.RWMutex
	items []item
}

func (s *store) add(name string) item {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := len(s.items) + 1
	it := item{id, name, price{float64(id%100) + 0.5, "EUR"}, []string{"new"}, time.Now().UTC().Format("2006-01-02T15:04:05.000Z")}
	s.items = append(s.items, it)
	return it
}

func (s *store) get(id int) (item, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id < 1 || id > len(s.items) {
		return item{}, false
	}
	return s.items[id-1], true
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func main() {
	var s store
	for i := 1; i <= 1000; i++ {
		s.add("Item " + strconv.Itoa(i))
	}
	r := chi.NewRouter()
	r.Get("/health", func(w http.ResponseWriter, _ *http.Request) { send(w, 200, map[string]string{"status": "up"}) })
	r.Get("/items/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(chi.URLParam(r, "id"))
		it, ok := s.get(id)
		if err != nil || !ok {
			send(w, 404, map[string]string{"error": "no such item"})
			return
		}
		send(w, 200, it)
	})
	r.Post("/items", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Name string `json:"name"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Name == "" {
			send(w, 400, map[string]string{"error": "name is needed"})
			return
		}
		send(w, 201, s.add(in.Name))
	})
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) { send(w, 404, map[string]string{"error": "no such item"}) })
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), r))
}
