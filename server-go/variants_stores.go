package main

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
)

// first yields the users of a fresh store, in the order of their ids.
func first(yield func(user) bool) {
	for i := 1; i <= firstUsers; i++ {
		id := strconv.Itoa(i)
		if !yield(user{id, "User " + id, fmt.Sprintf("user%d@example.com", i)}) {
			return
		}
	}
}

// mutexStore is the plain store with a lock that readers do not share.
type mutexStore struct {
	mu    sync.Mutex
	users map[string]user
	next  int
}

func newMutexStore() *mutexStore {
	s := newStore()
	return &mutexStore{users: s.users, next: s.next}
}

func (s *mutexStore) get(id string) (user, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, ok := s.users[id]
	return u, ok
}

func (s *mutexStore) add(name, email string) user {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := user{strconv.Itoa(s.next), name, email}
	s.next++
	s.users[u.ID] = u
	return u
}

func (s *mutexStore) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.users)
}

// shardedStore spreads users over maps with a lock each, by the hash of their id.
type shardedStore struct {
	shards [256]struct {
		mu    sync.RWMutex
		users map[string]user
		_     [32]byte // a shard fills a cache line of 64 bytes: neighbours do not share one
	}
	last atomic.Int64
}

func newShardedStore() *shardedStore {
	s := &shardedStore{}
	for i := range s.shards {
		s.shards[i].users = map[string]user{}
	}
	for u := range first {
		s.shards[fnv1a(u.ID)%256].users[u.ID] = u
	}
	s.last.Store(firstUsers)
	return s
}

func (s *shardedStore) get(id string) (user, bool) {
	shard := &s.shards[fnv1a(id)%256]
	shard.mu.RLock()
	defer shard.mu.RUnlock()
	u, ok := shard.users[id]
	return u, ok
}

func (s *shardedStore) add(name, email string) user {
	u := user{strconv.FormatInt(s.last.Add(1), 10), name, email}
	shard := &s.shards[fnv1a(u.ID)%256]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.users[u.ID] = u
	return u
}

func (s *shardedStore) size() int {
	n := 0
	for i := range s.shards {
		s.shards[i].mu.RLock()
		n += len(s.shards[i].users)
		s.shards[i].mu.RUnlock()
	}
	return n
}

// fnv1a is the 32-bit FNV-1a hash (Fowler, Noll and Vo). hash/fnv has it behind an
// interface, with an allocation for each string.
func fnv1a(s string) uint32 {
	h := uint32(2_166_136_261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16_777_619
	}
	return h
}

// syncStore keeps users in a sync.Map, which suits keys that are written once.
type syncStore struct {
	users sync.Map // of user by id
	last  atomic.Int64
}

func newSyncStore() *syncStore {
	s := &syncStore{}
	for u := range first {
		s.users.Store(u.ID, u)
	}
	s.last.Store(firstUsers)
	return s
}

func (s *syncStore) get(id string) (user, bool) {
	v, ok := s.users.Load(id)
	if !ok {
		return user{}, false
	}
	return v.(user), true
}

func (s *syncStore) add(name, email string) user {
	u := user{strconv.FormatInt(s.last.Add(1), 10), name, email}
	s.users.Store(u.ID, u)
	return u
}

// size counts: a number kept beside would be ahead of what is stored.
func (s *syncStore) size() int {
	n := 0
	s.users.Range(func(_, _ any) bool { n++; return true })
	return n
}
