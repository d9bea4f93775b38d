package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// each runs a test against each kind of server in a process of its own.
func each(t *testing.T, test func(t *testing.T, p *process)) {
	for name, start := range map[string]func(*testing.T) *process{"go": startGo, "node": startNode, "cluster": startCluster} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

// until polls a condition: a process ends when it ends.
func until(t *testing.T, what string, limit time.Duration, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not: %s", limit, what)
		}
	}
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *process) groupIsEmpty() bool {
	return errors.Is(syscall.Kill(-p.cmd.Process.Pid, 0), syscall.ESRCH)
}

// limit is what a loaded machine may need; the contract's own limit is 2 s.
const limit = 10 * time.Second

// health is what /healthz says.
type health struct {
	Runtime, Version, Token string
	PID                     int
	GOMAXPROCS, Workers     int
	WorkerPIDs              []int `json:"worker_pids"`
	Users, Requests         []uint64
	Delay                   string `json:"delay_ms"`
}

func (p *process) health(t *testing.T) health {
	t.Helper()
	r, err := ask(t.Context(), p.Address, "GET", "/healthz")
	var h health
	if err != nil || r.status != 200 || json.Unmarshal(r.body, &h) != nil {
		t.Fatalf("GET /healthz: %v, %d %q", err, r.status, r.body)
	}
	return h
}

func TestStopsWithIdleConnections(t *testing.T) {
	for _, group := range []bool{false, true} {
		t.Run(fmt.Sprintf("group=%v", group), func(t *testing.T) {
			each(t, func(t *testing.T, p *process) {
				for i := range 300 {
					c, err := dial(t.Context(), p.Address)
					if err != nil {
						t.Fatal(err)
					}
					defer c.net.Close()
					if i == 0 {
						continue // never sends a byte
					}
					if err := c.send(get("/users/1"), 0); err != nil {
						t.Fatal(err)
					}
					if _, err := c.read(false); err != nil {
						t.Fatal(err)
					}
				}
				pid := p.cmd.Process.Pid
				if group {
					pid = -pid
				}
				syscall.Kill(pid, syscall.SIGTERM)
				until(t, "the process has ended", limit, p.hasExited)
				if code := p.cmd.ProcessState.ExitCode(); code != 0 {
					t.Errorf("exit code %d, want 0; stderr %q", code, p.stderr.String())
				}
				until(t, "its group is empty", limit, p.groupIsEmpty)
				if _, err := dial(t.Context(), p.Address); err == nil {
					t.Error("the port still takes connections")
				}
			})
		})
	}
}

// What is in flight when the signal comes is finished, also where the whole group
// is told and a worker therefore hears twice: from whoever stops it and from its
// primary.
func TestStopFinishesWhatIsInFlight(t *testing.T) {
	for _, group := range []bool{false, true} {
		t.Run(fmt.Sprintf("group=%v", group), func(t *testing.T) {
			each(t, func(t *testing.T, p *process) {
				c, err := dial(t.Context(), p.Address)
				if err != nil {
					t.Fatal(err)
				}
				defer c.net.Close()
				const body = `{"name":"A","email":"a@b"}`
				head := fmt.Sprintf("POST /users HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:9])
				if _, err := c.net.Write([]byte(head)); err != nil {
					t.Fatal(err)
				}
				until(t, "the request has reached the application", limit, func() bool { return sum(p.health(t).Requests) > 0 })
				told := time.Now()
				pid := p.cmd.Process.Pid
				if group {
					pid = -pid
				}
				syscall.Kill(pid, syscall.SIGTERM)
				until(t, "the port takes no more connections", limit, func() bool {
					other, err := dial(t.Context(), p.Address)
					if err == nil {
						other.net.Close()
					}
					return err != nil
				})
				syscall.Kill(pid, syscall.SIGTERM) // said again, as by a primary to its workers
				if _, err := c.net.Write([]byte(body[9:])); err != nil {
					t.Fatal(err)
				}
				r, err := c.read(false)
				if time.Since(told) > 900*time.Millisecond {
					t.Skip("too slow a machine: what is in flight has a second to end")
				}
				if err != nil || r.status != 201 {
					t.Errorf("got %+v, %v; want 201", r, err)
				}
				until(t, "the process has ended", limit, p.hasExited)
			})
		})
	}
}

func sum(xs []uint64) (total uint64) {
	for _, x := range xs {
		total += x
	}
	return total
}

func TestPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // not defer: the parallel parts below run later
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	each(t, func(t *testing.T, p *process) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		again := exec.CommandContext(ctx, p.cmd.Path, p.cmd.Args[1:]...)
		again.WaitDelay = time.Second
		again.Dir = p.cmd.Dir
		again.Env = append(slices.Clone(p.cmd.Env), "PORT="+port)
		again.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := again.CombinedOutput()
		if again.ProcessState.ExitCode() != 1 {
			t.Errorf("%v, want exit code 1", err)
		}
		if text := string(out); !strings.Contains(text, port) || strings.Contains(text, `"ready"`) || strings.Contains(text, "    at ") {
			t.Errorf("printed %q, want a line that names port %s, and no stack", out, port)
		}
	})
}

func TestWorkersLeaveWithTheirPrimary(t *testing.T) {
	p := startCluster(t)
	syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL)
	until(t, "the workers have gone", limit, p.groupIsEmpty)
}

func TestDeadWorkerEndsTheCluster(t *testing.T) {
	p := startCluster(t)
	syscall.Kill(p.pids[1], syscall.SIGKILL)
	until(t, "the primary has ended", limit, p.hasExited)
	if code := p.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if text := p.stderr.String(); !strings.Contains(text, fmt.Sprintf("worker %d ended (SIGKILL)", p.pids[1])) {
		t.Errorf("stderr %q does not say which worker ended", text)
	}
	until(t, "the other worker has gone", limit, p.groupIsEmpty)
}

func TestHealth(t *testing.T) {
	each(t, func(t *testing.T, p *process) {
		before := p.health(t)
		if before.Token != p.Name || !strings.Contains(p.Name, before.Runtime) || before.Version == "" || !slices.Contains(p.pids, before.PID) {
			t.Errorf("health %+v of %s, pids %v", before, p.Name, p.pids)
		}
		workers := 1
		if len(p.pids) > 1 {
			workers = len(p.pids) - 1
			if !slices.Equal(before.WorkerPIDs, p.pids[1:]) {
				t.Errorf("worker pids %v, want %v", before.WorkerPIDs, p.pids[1:])
			}
		}
		if got := max(before.Workers, before.GOMAXPROCS); got != workers {
			t.Errorf("%d workers or GOMAXPROCS, want %d", got, workers)
		}
		for _, pieces := range [][]string{get("/users/1"), get("/nowhere"), post(`{"name":"A","email":"a@b"}`), post(`{`), call("HEAD", "/healthz")} {
			c, err := dial(t.Context(), p.Address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.net.Close()
			c.send(pieces, 0)
			if _, err := c.read(strings.HasPrefix(pieces[0], "HEAD")); err != nil {
				t.Fatal(err)
			}
		}
		after := p.health(t)
		if len(after.Users) != workers || len(after.Requests) != workers {
			t.Fatalf("users %v, requests %v, want %d of each", after.Users, after.Requests, workers)
		}
		var users, requests uint64
		for i := range workers {
			users, requests = users+after.Users[i]-before.Users[i], requests+after.Requests[i]-before.Requests[i]
		}
		if users != 1 || requests != 4 { // one POST was right; two questions were about health
			t.Errorf("%d users and %d requests more, want 1 and 4", users, requests)
		}
	})
}

// TestIDs makes users on connections that a cluster deals out in turn: worker w
// of 2 gives 10001+w, 10003+w, and so on.
func TestIDs(t *testing.T) {
	each(t, func(t *testing.T, p *process) {
		seen := map[string]bool{}
		for range 2 {
			c, err := dial(t.Context(), p.Address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.net.Close()
			for range 3 {
				c.send(post(`{"name":"A","email":"a@b"}`), 0)
				r, err := c.read(false)
				if err != nil {
					t.Fatal(err)
				}
				seen[givenID(string(r.body))] = true
			}
		}
		for id := 10001; id <= 10006; id++ { // 3 ids of each of 2 workers, or 6 of one
			if !seen[fmt.Sprint(id)] {
				t.Errorf("ids %v: no %d", seen, id)
			}
		}
	})
}

// TestResetsChangeNothing cuts POSTs off at every byte.
func TestResetsChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, p *process) {
		for _, whole := range []string{post(`{"name":"A","email":"a@b"}`)[0], strings.Join(chunked(`{"name":"A",`, `"email":"a@b"}`), "")} {
			for n := range len(whole) {
				if o := (row{pieces: []string{whole[:n]}, end: abort}).run(t.Context(), p.Server); o.wrong != nil {
					t.Fatalf("after a reset at byte %d: %v", n, o.wrong)
				}
			}
		}
		for _, users := range p.health(t).Users {
			if users != firstUsers {
				t.Errorf("%d users, want %d", users, firstUsers)
			}
		}
	})
}

// TestTimeouts waits for the 10 s after which both servers cut a request that
// hangs, and sees that an idle connection, which may rest for 65 s, outlives them.
func TestTimeouts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 11 s")
	}
	each(t, func(t *testing.T, p *process) {
		idle, err := dial(t.Context(), p.Address)
		if err != nil {
			t.Fatal(err)
		}
		defer idle.net.Close()
		idle.send(get("/users/1"), 0)
		if _, err := idle.read(false); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		hanging := map[string]*conn{}
		for name, sent := range map[string]string{
			"head": "GET /users/1 HTTP/1.1\r\nHost: ",
			"body": request("POST", "/users", "Content-Length: 26") + `{"name"`,
		} {
			c, err := dial(t.Context(), p.Address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.net.Close()
			c.net.SetDeadline(begun.Add(20 * time.Second))
			c.send([]string{sent}, 0)
			hanging[name] = c
		}
		for name, c := range hanging {
			r, err := c.read(false)
			if err == nil && r.status != 408 || err != nil && !errors.Is(err, errNoReply) {
				t.Errorf("%s: status %d, %v, want 408 or no answer", name, r.status, err)
			}
			if err := ends(c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(begun); took < 9*time.Second {
				t.Errorf("%s: cut after %v, want 10 s", name, took)
			}
		}
		idle.net.SetDeadline(time.Now().Add(patience))
		if err := probe(idle); err != nil {
			t.Errorf("idle for 10 s: %v", err)
		}
	})
}
