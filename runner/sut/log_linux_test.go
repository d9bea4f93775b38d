package sut

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// onDisk is how many bytes of a file the disk holds.
func onDisk(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

// TestALogThatGrows (C40): the disk holds a bounded part of what a target writes
// while it runs, the target notices nothing, and in the end there is the beginning,
// the end, and how much is missing between them.
func TestALogThatGrows(t *testing.T) {
	f := newFixture(t)
	s := f.spec("-stderr-before", "20000000", "-stderr-each", "1000")
	p := f.start(s)
	eventually(t, fmt.Sprintf("at most %d bytes are on disk", logRunning), func() bool { return onDisk(t, s.LogPath) <= logRunning })
	for range 20 {
		get(t, "http://"+p.Address()+"/users/500")
	}
	before, err := os.ReadFile(s.LogPath) // as long as ever
	if err != nil {
		t.Fatal(err)
	}
	if size := int64(len(before)); size < 20_020_000 || p.LogSize() != size || onDisk(t, s.LogPath) > logRunning+(1<<20) {
		t.Fatalf("%d bytes, told %d, %d on disk", size, p.LogSize(), onDisk(t, s.LogPath))
	}
	stop(t, p, false)
	after, err := os.ReadFile(s.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	cut := int64(len(before)) - logMax
	want := string(before[:logMax/2]) + fmt.Sprintf("\n[gonogo: %d bytes cut out here]\n", cut) + string(before[len(before)-logMax/2:])
	if string(after) != want || strings.Contains(want, "\x00") {
		t.Errorf("the cut log has %d bytes, want %d", len(after), len(want))
	}
	if p.LogCut() != cut || p.LogSize() != int64(len(before)) {
		t.Errorf("cut %d, want %d; size %d", p.LogCut(), cut, p.LogSize())
	}
}

// TestALogThatCannotBeFreed: where the file system cannot give space back, a target
// that writes without end is ended, and the reason is told.
func TestALogThatCannotBeFreed(t *testing.T) {
	real := punch
	punch = func(*os.File, int64, int64) error { return errors.ErrUnsupported }
	f := newFixture(t)
	s := f.spec()
	p := f.start(s)
	// It is as long as that without a byte on disk.
	if err := os.Truncate(s.LogPath, logLast+1); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	_, err := p.Stop()
	punch = real
	if err == nil || !strings.Contains(err.Error(), "more than 256 MiB into its log") || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if info, err := os.Stat(s.LogPath); err != nil || info.Size() > logMax+100 {
		t.Errorf("its log was not cut: %v, %v", info, err)
	}
}
