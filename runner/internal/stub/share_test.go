package stub

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// accepted starts a cluster of two, opens ten connections that carry a request each,
// and returns how many each worker took.
func accepted(t *testing.T, flags ...string) []int {
	t.Helper()
	argv := Argv(append(flags, "-workers=2")...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "PORT=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Signal(os.Interrupt)
	line, _ := bufio.NewReader(out).ReadBytes('\n')
	var ready struct{ Port int }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	address := fmt.Sprintf("127.0.0.1:%d", ready.Port)
	for range 10 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, get500)
		io.Copy(io.Discard, c)
		c.Close()
	}
	resp, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var health struct{ Requests []int }
	if err := json.NewDecoder(resp.Body).Decode(&health); err != nil {
		t.Fatal(err)
	}
	return health.Requests
}

func TestWhoTakesConnections(t *testing.T) {
	if got := accepted(t, "-fair"); !slices.Equal(got, []int{5, 5}) {
		t.Errorf("in turn: %v of 10 connections", got)
	}
	for _, flags := range [][]string{{"-one-worker"}, {"-one-worker", "-fair"}} {
		if got := accepted(t, flags...); !slices.Equal(got, []int{10, 0}) {
			t.Errorf("%v: %v of 10 connections", flags, got)
		}
	}
}

func TestStoreThatOutlivesItsProcess(t *testing.T) {
	kept := Behaviour{Memory: Memory{KeepStore: filepath.Join(t.TempDir(), "store")}}
	for _, want := range []int{10_000, 10_001, 10_002} {
		s := listen(t, kept)
		if n := s.users.size(); n != want {
			t.Errorf("it starts with %d users, want %d", n, want)
		}
		exchange(t, s, post(`{"name":"A","email":"a@b"}`))
	}
	if n := listen(t, Behaviour{}).users.size(); n != 10_000 {
		t.Errorf("without a file: %d users", n)
	}
}
