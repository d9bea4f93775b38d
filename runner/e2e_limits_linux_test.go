package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestTooFewDescriptors: 300 connections do not fit into 128 descriptors, for
// the server nor for its generator (C31).
func TestTooFewDescriptors(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	u.wrap = []string{"/bin/sh", "-c", `ulimit -n 128 && exec "$0" "$@"`}
	r := u.run("compare", "--quick", "--targets", "go-1")
	r.refused(t, exitPreflight, "need 364 descriptors, have 128", "ulimit -n")
	if dirs := u.sessions(); len(dirs) > 0 || strings.Contains(r.err, "proving") {
		t.Errorf("it began all the same: %q\n%s", dirs, r.err)
	}
}

// TestTooFewPorts: in a network of its own, with a range of 11 local ports.
func TestTooFewPorts(t *testing.T) {
	t.Parallel()
	unshare, err := exec.LookPath("unshare")
	if err != nil || exec.Command(unshare, "-n", "/bin/sh", "-c", "echo 40000 40010 > /proc/sys/net/ipv4/ip_local_port_range").Run() != nil {
		t.Skip("a network of its own needs root")
	}
	u := newUser(t, theKit(t))
	u.wrap = []string{unshare, "-n", "/bin/sh", "-c", `echo 40000 40010 > /proc/sys/net/ipv4/ip_local_port_range && exec "$0" "$@"`}
	r := u.run("compare", "--quick", "--targets", "go-1")
	r.refused(t, exitPreflight, "need 300, have 11 (40000 to 40010", "ip_local_port_range")
}

// TestAFolderOfAnotherUser: nobody may not write into it.
func TestAFolderOfAnotherUser(t *testing.T) {
	t.Parallel()
	u := newUser(t, theKit(t))
	cmd := u.command("compare", "--quick", "--targets", "go-1")
	if os.Geteuid() == 0 {
		// The parent of a test's folder is for its owner alone.
		cmd.Dir = root
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	} else if err := os.Chmod(u.dir, 0o555); err != nil {
		t.Fatal(err)
	}
	r := u.startCommand(cmd).wait()
	r.refused(t, exitPreflight, "mkdir results: permission denied", "--out")
}
