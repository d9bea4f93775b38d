// A service that knows nothing of gonogo: items in memory, net/http alone.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

type price struct {
	Currency string  `json:"currency"`
	Amount   float64 `json:"amount"`
}

type item struct {
	ID        int      `json:"id"`
	Name      string   `json:"name"`
	CreatedAt string   `json:"createdAt"`
	Price     price    `json:"price"`
	Tags      []string `json:"tags"`
}

type store struct {
	mu    sync.RWMutex
	items []item
}

func (s *store) add(name string) item {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := len(s.items) + 1
	it := item{id, name, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), price{"EUR", float64(id%100) + 0.5}, []string{"new"}}
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
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { send(w, 200, map[string]string{"status": "up"}) })
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		it, ok := s.get(id)
		if err != nil || !ok {
			send(w, 404, map[string]string{"error": "no such item"})
			return
		}
		send(w, 200, it)
	})
	mux.HandleFunc("POST /items", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Name string `json:"name"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Name == "" {
			send(w, 400, map[string]string{"error": "name is needed"})
			return
		}
		send(w, 201, s.add(in.Name))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { send(w, 404, map[string]string{"error": "no such item"}) })
	log.Fatal(http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), mux))
}
