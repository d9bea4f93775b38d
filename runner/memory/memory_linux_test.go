package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// TestMain lets the test binary play the processes that the tests look at.
func TestMain(m *testing.M) {
	switch os.Getenv("MEMORY_TEST_ROLE") {
	case "primary":
		playPrimary()
	case "worker":
		playWorker()
	default:
		os.Exit(m.Run())
	}
}

// playPrimary starts four workers on one block of shared memory, and tells them
// to touch it when it gets a line. It ends, and they with it, at the end of its input.
func playPrimary() {
	fd, err := unix.MemfdCreate("shared", 0)
	must(err)
	must(unix.Ftruncate(fd, 100*mib))
	shared := os.NewFile(uintptr(fd), "shared")
	var in []io.WriteCloser
	var out []*bufio.Reader
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MEMORY_TEST_ROLE=worker")
		cmd.ExtraFiles = []*os.File{shared}
		w, err := cmd.StdinPipe()
		must(err)
		r, err := cmd.StdoutPipe()
		must(err)
		must(cmd.Start())
		in, out = append(in, w), append(out, bufio.NewReader(r))
	}
	everyone := func(word string) {
		for _, r := range out {
			line, err := r.ReadString('\n')
			must(err)
			if line != word+"\n" {
				must(fmt.Errorf("worker said %q", line))
			}
		}
		fmt.Println(word)
	}
	everyone("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		for _, w := range in {
			_, err := fmt.Fprintln(w)
			must(err)
		}
		everyone("touched")
	}
}

func playWorker() {
	shared, err := unix.Mmap(3, 0, 100*mib, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(err)
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		touch(shared)
		fmt.Println("touched")
	}
}

func touch(b []byte) {
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Four workers that share 100 MB: 100 MB are in use, and the sum of the resident
// sizes says 400 MB.
func TestSharedMemoryIsCountedOnce(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MEMORY_TEST_ROLE=primary")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	out := bufio.NewReader(stdout)
	said(t, out, "ready")
	pids, err := Tree(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if len(pids) != 5 {
		t.Fatalf("tree of a primary and four workers: %v", pids)
	}
	before, err := Read(pids)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in)
	said(t, out, "touched")
	after, err := Read(pids)
	if err != nil {
		t.Fatal(err)
	}
	if after.Processes != 5 {
		t.Errorf("processes: %d, want 5", after.Processes)
	}
	// 10 MB of room: the five Go runtimes go on living between the readings.
	near(t, "PSS", float64(*after.PSS)-float64(*before.PSS), 100*mib, 10*mib)
	near(t, "RSS", float64(after.RSS)-float64(before.RSS), 400*mib, 10*mib)
	near(t, "USS", float64(*after.USS)-float64(*before.USS), 0, 10*mib)
	peak, err := Peak(pids)
	if err != nil {
		t.Fatal(err)
	}
	if *peak+mib < after.RSS {
		t.Errorf("peak %d is below the resident size %d", *peak, after.RSS)
	}
}

func said(t *testing.T, out *bufio.Reader, want string) {
	t.Helper()
	line, err := out.ReadString('\n')
	if err != nil || line != want+"\n" {
		t.Fatalf("helper said %q (%v), want %q", line, err, want)
	}
}

func near(t *testing.T, what string, got, want, room float64) {
	t.Helper()
	if got < want-room || got > want+room {
		t.Errorf("%s grew by %.1f MiB, want %.1f within %.1f", what, got/mib, want/mib, room/mib)
	}
}

// A runner that holds 400 MB of samples starts a small program. Its peak is its
// own, whereas ru_maxrss shows the runner's.
func TestPeakIsNotInheritedFromTheRunner(t *testing.T) {
	held, err := unix.Mmap(-1, 0, 400*mib, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(held)
	touch(held)
	cmd := startCat(t)
	peak, err := Peak([]int{cmd.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	if *peak == 0 || *peak >= 20*mib {
		t.Errorf("peak of cat: %d bytes, want above 0 and below 20 MiB", *peak)
	}
	stopCat(t, cmd)
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if maxrss := usage.Maxrss * 1024; maxrss < 400*mib {
		t.Errorf("ru_maxrss of cat: %d bytes; this test is to show that it inherits at least 400 MiB", maxrss)
	}
}

func startCat(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("cat")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = r
	t.Cleanup(func() { r.Close(); w.Close() })
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

func stopCat(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatal(err)
	}
}

func TestProcessThatHasGoneIsNamed(t *testing.T) {
	living, dead := startCat(t), startCat(t)
	defer stopCat(t, living)
	pids := []int{living.Process.Pid, dead.Process.Pid}
	if _, err := Read(pids); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("process %d: process has gone", dead.Process.Pid)
	check := func(state string) {
		_, err := Read(pids)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Read says %v, want %q", state, err, want)
		}
		_, err = Peak(pids)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Peak says %v, want %q", state, err, want)
		}
		series, err := Watch(t.Context(), pids, time.Hour).Wait()
		if err == nil || !strings.Contains(err.Error(), want) || len(series) != 0 {
			t.Errorf("%s: Watch says %v after %d readings, want %q", state, err, len(series), want)
		}
		_, err = Tree(dead.Process.Pid)
		if err == nil {
			t.Errorf("%s: Tree finds it", state)
		}
	}
	if err := dead.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// It stays a zombie until Wait.
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, dead.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	check("dead")
	dead.Wait()
	check("reaped")
}

func TestWatch(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	cmd := startCat(t)
	defer stopCat(t, cmd)
	time.AfterFunc(60*time.Millisecond, stop)
	series, err := Watch(ctx, []int{cmd.Process.Pid}, 5*time.Millisecond).Wait()
	if err != nil {
		t.Fatal(err)
	}
	if len(series) < 2 {
		t.Fatalf("%d readings, want at least 2", len(series))
	}
	for i, at := range series {
		if at.RSS == 0 || *at.PSS == 0 || at.Processes != 1 {
			t.Errorf("reading %d is empty: %+v", i, at)
		}
		// Two readings never share a multiple of the interval: what fell due meanwhile is skipped.
		if i > 0 && at.At/(5*time.Millisecond) == series[i-1].At/(5*time.Millisecond) {
			t.Errorf("readings at %v and %v", series[i-1].At, at.At)
		}
	}
	if _, err := Watch(t.Context(), []int{cmd.Process.Pid}, 0).Wait(); err == nil {
		t.Error("an interval of 0 is accepted")
	}
}

const rollup = `560aaabd7000-7ffd52b67000 ---p 00000000 00:00 0                          [rollup]
Rss:               %d kB
Pss:               %d kB
Pss_Dirty:             9 kB
Shared_Clean:       1472 kB
Shared_Dirty:          0 kB
Private_Clean:        %d kB
Private_Dirty:       %d kB
Referenced:         1636 kB
Anonymous:           108 kB
Swap:                %d kB
SwapPss:               0 kB
Locked:                0 kB
`

// fixture lays files out as a proc of their own.
func fixture(t *testing.T, files map[string]string) proc {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return proc(root)
}

func TestReadSums(t *testing.T) {
	m := fixture(t, map[string]string{
		"7/smaps_rollup": fmt.Sprintf(rollup, 4000, 1000, 60, 300, 5),
		"8/smaps_rollup": fmt.Sprintf(rollup, 8000, 3000, 40, 700, 2),
		"9/smaps_rollup": fmt.Sprintf(rollup, 0, 0, 0, 0, 0),
	})
	got, err := m.read([]int{7, 8})
	if err != nil {
		t.Fatal(err)
	}
	// Sums in kB: RSS 4000+8000, PSS 1000+3000, USS 60+300+40+700, swap 5+2.
	if got.Processes != 2 || got.RSS != 12000*1024 || *got.PSS != 4000*1024 || *got.USS != 1100*1024 || *got.Swap != 7*1024 {
		t.Errorf("got %d processes, RSS %d, PSS %d, USS %d, swap %d", got.Processes, got.RSS, *got.PSS, *got.USS, *got.Swap)
	}
	for pid, want := range map[int]string{9: "process 9: smaps_rollup shows no memory", 10: "process 10: process has gone"} {
		if _, err := m.read([]int{7, pid}); err == nil || err.Error() != want {
			t.Errorf("process %d: %v, want %q", pid, err, want)
		}
	}
	if _, err := Read(nil); err == nil {
		t.Error("no processes have a sum")
	}
	if _, err := Peak(nil); err == nil {
		t.Error("no processes have a peak")
	}
}

func TestPeakSums(t *testing.T) {
	m := fixture(t, map[string]string{
		"7/status": "Name:\tnode\nVmPeak:\t 1200000 kB\nVmHWM:\t   52000 kB\nVmRSS:\t   41000 kB\n",
		"8/status": "Name:\tnode\nVmPeak:\t 1100000 kB\nVmHWM:\t   48000 kB\nVmRSS:\t   48000 kB\n",
		"9/status": "Name:\tnode\nState:\tZ (zombie)\n",
	})
	got, err := m.peak([]int{7, 8})
	if err != nil {
		t.Fatal(err)
	}
	if *got != 100000*1024 { // 52000 + 48000 kB
		t.Errorf("peak %d, want 100000 kB", *got)
	}
	if _, err := m.peak([]int{7, 9}); err == nil || err.Error() != "process 9: process has gone" {
		t.Errorf("peak of a zombie: %v", err)
	}
}

// The primary 20 leads the group 20; its worker 22 has lost its parent, and 30
// has a name made to mislead.
func TestTree(t *testing.T) {
	stat := func(pid int, name, state string, parent, group int) string {
		return fmt.Sprintf("%d (%s) %s %d %d 20 0 -1 4194560 0 0 0 0 1 2 0 0 20 0 1 0 999 1000 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
			pid, name, state, parent, group)
	}
	m := fixture(t, map[string]string{
		"1/stat":  stat(1, "init", "S", 0, 1),
		"20/stat": stat(20, "node", "S", 5, 20),
		"21/stat": stat(21, "node", "S", 20, 20),
		"22/stat": stat(22, "node", "R", 1, 20),
		"23/stat": stat(23, "helper", "S", 21, 23), // a grandchild in a group of its own
		"24/stat": stat(24, "node", "Z", 20, 20),   // dead
		"30/stat": stat(30, "a) S 20 20 (b", "S", 1, 30),
		"uptime":  "1 1\n",
	})
	got, err := m.tree(20)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{20, 21, 22, 23}; !slices.Equal(got, want) {
		t.Errorf("tree %v, want %v", got, want)
	}
	for _, pid := range []int{24, 99} {
		if _, err := m.tree(pid); !errors.Is(err, errGone) {
			t.Errorf("tree of %d: %v, want %v", pid, err, errGone)
		}
	}
}
