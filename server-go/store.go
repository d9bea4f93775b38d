package main

import (
	"fmt"
	"strconv"
	"sync"
)

// firstUsers is how many users a fresh store holds, with ids 1 to firstUsers.
const firstUsers = 10_000

// user is stored and answered with its members in this order.
type user struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// store keeps users in memory. Ids are strings: nothing parses them.
type store struct {
	mu    sync.RWMutex // requests run in parallel; Node has one thread and needs none
	users map[string]user
	next  int
}

func newStore() *store {
	s := &store{users: make(map[string]user, firstUsers), next: firstUsers + 1}
	for i := 1; i <= firstUsers; i++ {
		id := strconv.Itoa(i)
		s.users[id] = user{id, "User " + id, fmt.Sprintf("user%d@example.com", i)}
	}
	return s
}

func (s *store) get(id string) (user, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	u, ok := s.users[id]
	return u, ok
}

// add stores a user under the next free id.
func (s *store) add(name, email string) user {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := user{strconv.Itoa(s.next), name, email}
	s.next++
	s.users[u.ID] = u
	return u
}

func (s *store) size() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.users)
}
