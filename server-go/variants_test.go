package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonogo/runner/contract"
	"gonogo/runner/plan"
)

// known are the cases that the plan says a variant answers in its own way.
func known(t *testing.T, name string) []string {
	t.Helper()
	for _, x := range plan.Targets(plan.CPUSets{}) {
		if x.Name == "go-1+"+name {
			return x.Known
		}
	}
	t.Fatalf("the plan has no go-1+%s", name)
	return nil
}

// Every variant keeps the contract, but for the cases that it is known for, and it
// does answer each of those in its own way.
func TestVariantsKeepTheContract(t *testing.T) {
	// One store is enough here: they stand behind the same handlers.
	for _, name := range []string{"typed", "json2", "pooled", "servemux", "admission", "sharded-256"} {
		build, ok := variants[name]
		if !ok && name == "json2" {
			continue // it is there in a build with GOEXPERIMENT=jsonv2
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(build())
			defer server.Close()
			result, err := contract.Check(t.Context(), []contract.Server{{Name: name, Address: server.Listener.Addr().String()}})
			if err != nil {
				t.Fatal(err)
			}
			want := known(t, name)
			var differs []string
			for _, d := range result.Differences {
				differs = append(differs, d.Case)
				if !slices.Contains(want, d.Case) {
					t.Error(d)
				}
			}
			for _, c := range want {
				if !slices.Contains(differs, c) {
					t.Errorf("%q is answered as the contract has it", c)
				}
			}
		})
	}
}

func TestUnknownVariantIsRefused(t *testing.T) {
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "VARIANT=typd") || !strings.Contains(r, "syncmap") {
			t.Errorf("panics with %q", r)
		}
	}()
	handler("typd")
}

// All stores hold what the plain one holds, and give every new user an id of its own,
// the next one, whoever else adds.
func TestStores(t *testing.T) {
	plain := newStore()
	for name, s := range map[string]users{"mutex": newMutexStore(), "rwmutex": newStore(), "sharded-256": newShardedStore(), "syncmap": newSyncStore()} {
		t.Run(name, func(t *testing.T) {
			for id, want := range plain.users {
				if got, ok := s.get(id); !ok || got != want {
					t.Fatalf("get(%s) = %v, %v, want %v", id, got, ok, want)
				}
			}
			if _, ok := s.get("10001"); ok || s.size() != 10_000 {
				t.Errorf("%d users, and 10001 is there: %v", s.size(), ok)
			}
			var wg sync.WaitGroup
			ids := make([][]string, 8)
			for i := range ids {
				wg.Go(func() {
					for range 250 {
						ids[i] = append(ids[i], s.add("A", "a@b").ID)
						s.get(ids[i][0])
					}
				})
			}
			wg.Wait()
			all := slices.Concat(ids...)
			slices.Sort(all)
			if n := len(slices.Compact(all)); n != 2000 || all[0] != "10001" || all[1999] != "12000" || s.size() != 12_000 {
				t.Errorf("%d ids from %s to %s, %d users", n, all[0], all[1999], s.size())
			}
			if u, ok := s.get("11234"); !ok || (u != user{"11234", "A", "a@b"}) {
				t.Errorf("get(11234) = %v, %v", u, ok)
			}
		})
	}
}

// Values published with the hash: http://www.isthe.com/chongo/tech/comp/fnv/.
func TestFNV1a(t *testing.T) {
	for text, want := range map[string]uint32{"": 0x811c9dc5, "a": 0xe40c292c, "foobar": 0xbf9cf968} {
		if got := fnv1a(text); got != want {
			t.Errorf("%q: %#x, want %#x", text, got, want)
		}
	}
	// By hand: 10 000 ids over 256 shards are 39 each, give or take five deviations of 6.2.
	s := newShardedStore()
	for i := range s.shards {
		if n := len(s.shards[i].users); n < 8 || n > 70 {
			t.Errorf("shard %d holds %d users", i, n)
		}
	}
}

// One request under way is all that a limit of one admits; the next is told so at
// once, /healthz is answered all the same, and afterwards all is as before.
func TestAdmissionFailsFast(t *testing.T) {
	server := httptest.NewServer(&admission{Handler: newAPI(newStore()), limit: 1})
	defer server.Close()
	get := func(path string) (int, string) {
		resp, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body)
	}
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /users HTTP/1.1\r\nHost: h\r\nContent-Length: 26\r\n\r\n") // and no body yet
	deadline := time.Now().Add(10 * time.Second)
	for status := 0; status != http.StatusServiceUnavailable; {
		var body string
		if status, body = get("/users/1"); status == http.StatusServiceUnavailable && body != `{"error":"overloaded"}` {
			t.Errorf("refused with %s", body)
		}
		if time.Now().After(deadline) {
			t.Fatal("a second request is never refused")
		}
	}
	if status, _ := get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	fmt.Fprint(c, `{"name":"A","email":"a@b"}`)
	answer := make([]byte, 12)
	if _, err := io.ReadFull(c, answer); err != nil || !bytes.Equal(answer, []byte("HTTP/1.1 201")) {
		t.Errorf("the request under way got %q, %v", answer, err)
	}
	for status := 0; status != http.StatusOK; status, _ = get("/users/1") {
		if time.Now().After(deadline) {
			t.Fatal("no request is admitted again")
		}
	}
}

// A buffer that one large answer has grown is not kept.
func TestPooledBuffersAreCapped(t *testing.T) {
	s := scratches.New().(*scratch)
	if s.buffer.Cap() < pooledFirst || !s.reusable() {
		t.Errorf("a new buffer has %d bytes", s.buffer.Cap())
	}
	s.buffer = *bytes.NewBuffer(make([]byte, 10, pooledMost))
	if !s.reusable() || s.buffer.Len() > 0 {
		t.Errorf("a buffer of %d bytes is given away, or not emptied", s.buffer.Cap())
	}
	s.buffer = *bytes.NewBuffer(make([]byte, 10, pooledMost+1))
	if s.reusable() {
		t.Errorf("a buffer of %d bytes is kept", s.buffer.Cap())
	}
}
