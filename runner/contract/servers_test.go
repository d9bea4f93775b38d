package contract

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a server started for a test, in a process group of its own.
type process struct {
	Server
	cmd    *exec.Cmd
	stderr bytes.Buffer
	pids   []int
	exited chan struct{}
}

// start runs a server of this repository until the end of the test.
func start(t *testing.T, name string, env []string, argv ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), exited: make(chan struct{})}
	p.cmd.Dir = "../.."
	p.cmd.Env = append(os.Environ(), append(env, "NODE_ENV=production", "HOST=127.0.0.1", "PORT=0", "GONOGO_TOKEN="+name)...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = &p.stderr
	// An *os.File, so that Wait does not wait for a worker that holds the pipe.
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout = out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	go func() { p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); <-p.exited; in.Close() })

	in.SetReadDeadline(time.Now().Add(20 * time.Second))
	line, err := bufio.NewReader(in).ReadBytes('\n')
	var ready struct {
		Ready bool
		Port  int
		PIDs  []int
	}
	if err != nil || json.Unmarshal(line, &ready) != nil || !ready.Ready {
		t.Fatalf("start %s: %v, printed %q, stderr %q", name, err, line, p.stderr.String())
	}
	p.Server = Server{Name: name, Address: fmt.Sprintf("127.0.0.1:%d", ready.Port)}
	p.pids = ready.PIDs
	return p
}

// needNode skips a test loudly without Node, or fails it where Node is required.
func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err == nil {
		return
	}
	if os.Getenv("REQUIRE_NODE") == "1" {
		t.Fatal("node is not on the PATH, and REQUIRE_NODE=1")
	}
	t.Skip("NODE IS NOT ON THE PATH: server-node IS NOT TESTED")
}

// built holds the server-go of this test run.
var built struct {
	once   sync.Once
	folder string
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built.folder)
	os.Exit(code)
}

func startGo(t *testing.T) *process {
	t.Helper()
	built.once.Do(func() {
		if built.folder, built.err = os.MkdirTemp("", "server-go-"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", built.folder, "./server-go")
		build.Dir = "../.."
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build server-go: %w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return start(t, "go-1", []string{"GOMAXPROCS=1"}, built.folder+"/server-go")
}

func startNode(t *testing.T) *process {
	t.Helper()
	needNode(t)
	return start(t, "node-1", nil, "node", "server-node/server.mjs")
}

func startCluster(t *testing.T) *process {
	t.Helper()
	needNode(t)
	return start(t, "node-cluster-2", []string{"WORKERS=2"}, "node", "server-node/cluster.mjs")
}
