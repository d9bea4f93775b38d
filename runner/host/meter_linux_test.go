package host

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gonogo/runner/record"
)

func TestCanaryHere(t *testing.T) {
	cpus := here().cpus
	took, err := canary(cpus, 3, 1000)
	if err != nil || took <= 0 {
		t.Errorf("%v, %v", took, err)
	}
	if got := here().cpus; len(got) != len(cpus) {
		t.Errorf("afterwards this program may use CPUs %v, before %v", got, cpus)
	}
	if _, err := canary([]int{maxCPU}, 1, 1); err == nil {
		t.Error("a CPU that does not exist has a time")
	}
}

func TestNote(t *testing.T) {
	const ms = time.Millisecond
	seen, log := record.CPUHiccups{}, make([]record.Hiccup, 0, 2)
	for _, wake := range []struct{ due, now time.Duration }{
		{10 * ms, 10*ms + 50_000}, // 50 us late: usual
		{11 * ms, 12 * ms},        // exactly 1 ms: not more than the threshold
		{13 * ms, 14*ms + 1},      // an event
		{20 * ms, 50 * ms},        // an event of 30 ms
		{60 * ms, 100 * ms},       // no room left: 40 ms
	} {
		log = note(&seen, log, wake.due, wake.now)
	}
	if seen.Wakes != 5 || seen.Max != 40*ms || seen.Lost != 1 || len(log) != 2 ||
		log[0] != (record.Hiccup{Start: 13 * ms, Length: ms + 1}) || log[1] != (record.Hiccup{Start: 20 * ms, Length: 30 * ms}) {
		t.Errorf("%+v, %v", seen, log)
	}
	log = make([]record.Hiccup, 0, 1000)
	if n := testing.AllocsPerRun(100, func() { log = note(&seen, log, 0, 2*ms) }); n != 0 {
		t.Errorf("%v allocations for a wake", n)
	}
}

func TestMeterRefuses(t *testing.T) {
	if _, err := Meter(t.Context(), nil, nil); err == nil {
		t.Error("no CPUs are metered")
	}
	if _, err := Meter(t.Context(), []int{here().cpus[0], maxCPU}, nil); err == nil {
		t.Error("a CPU that does not exist is metered")
	}
}

// A process whose every thread stands still sees a hiccup on all its CPUs, as long
// as the stop and at the time that another process's clock gives for it.
func TestMeterSeesAStop(t *testing.T) {
	cpus := here().cpus
	if os.Getenv("HOST_TEST_METER") != "" {
		playMeter(cpus)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMeterSeesAStop$")
	cmd.Env = append(os.Environ(), "HOST_TEST_METER=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "metering\n" {
		t.Fatalf("%q, %v", line, err)
	}
	from, to := stopFor(t, cmd.Process.Pid, 60*time.Millisecond)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	var h record.Hiccups
	if err := json.NewDecoder(lines).Decode(&h); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(h.CPUs) != len(cpus) || h.Start >= from || h.End <= to {
		t.Fatalf("metered %d CPUs from %v to %v, the stop was from %v to %v", len(h.CPUs), h.Start, h.End, from, to)
	}
	for _, c := range h.CPUs {
		covered := false
		for _, e := range c.Events {
			// It was due within the 1 ms after the stop, or before it if it was late anyway.
			covered = covered || e.Start <= from+meterSleep && e.Start+e.Length >= to
		}
		if !covered {
			t.Errorf("CPU %d saw no hiccup over the stop from %v to %v: %+v", c.CPU, from, to, c.Events)
		}
	}
}

// playMeter meters until the end of its input.
func playMeter(cpus []int) {
	ctx, stop := context.WithCancel(context.Background())
	h, err := Meter(ctx, cpus, func() {
		os.Stdout.WriteString("metering\n")
		go func() {
			io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	})
	if err != nil {
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(h); err != nil {
		os.Exit(2)
	}
	os.Exit(0)
}

// stopFor holds all threads of a process for at least d and returns when they were
// surely all stopped, and until when.
func stopFor(t *testing.T, pid int, d time.Duration) (from, to time.Duration) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	from = monotonic()
	if err := sleepUntil(from + d); err != nil {
		t.Fatal(err)
	}
	to = monotonic()
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	return from, to
}
