package soak_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonogo/runner/internal/soak"
)

// sessions is how many a test soaks: six are judged.
const sessions = 9

// soakOf runs sessions that each write an archive of 1000 bytes and do what is
// planted. Run sets the environment of the process: t.Setenv puts it back.
func soakOf(t *testing.T, plant func(n int, dir, results string)) (dir string, samples []soak.Sample) {
	t.Helper()
	t.Setenv("HOME", os.Getenv("HOME"))
	t.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	samples, err = soak.Run(ctx, soak.Config{Dir: dir, For: 1 << 62, Log: io.Discard, Refused: func(code int) bool { return code == 3 },
		Session: func(_ context.Context, results string) int {
			if n++; n > sessions {
				stop()
				return 130
			}
			archive := filepath.Join(results, fmt.Sprintf("2026-%02d", n))
			if err := os.Mkdir(archive, 0o755); err != nil {
				t.Error(err)
			}
			write(t, filepath.Join(archive, "run.json"), 1000)
			plant(n, dir, results)
			return 0
		}})
	if err != nil {
		t.Fatal(err)
	}
	return dir, samples
}

func write(t *testing.T, path string, n int) {
	if err := os.WriteFile(path, make([]byte, n), 0o644); err != nil {
		t.Error(err)
	}
}

// TestPlantedLeaks: each leak is found and no other quantity accused of it; the
// quiet twin does the same and puts it back.
func TestPlantedLeaks(t *testing.T) {
	null := func() *os.File {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Error(err)
		}
		return f
	}
	sleep := func() *exec.Cmd {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Error(err)
		}
		return cmd
	}
	release := make(chan struct{})
	var files []*os.File
	var lived []*exec.Cmd
	var held [][]byte
	t.Cleanup(func() {
		close(release)
		for _, f := range files {
			f.Close()
		}
		for _, cmd := range lived {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	for _, c := range []struct {
		name, quantity, verdict string // of the quantity; all others are flat
		also                    []string
		plant                   func(n int, dir, results string)
	}{
		{name: "nothing", plant: func(int, string, string) {}},
		{name: "descriptor", quantity: "descriptors", verdict: soak.Growing, plant: func(int, string, string) { files = append(files, null()) }},
		{name: "descriptor, closed", plant: func(int, string, string) { null().Close() }},
		{name: "goroutine", quantity: "goroutines", verdict: soak.Growing, plant: func(int, string, string) { go func() { <-release }() }},
		{name: "goroutine, ended", plant: func(int, string, string) {
			done := make(chan struct{})
			go func() { close(done) }()
			<-done
		}},
		{name: "heap, 1 MiB a session", quantity: "heap in use", verdict: soak.Growing, also: []string{"resident memory"}, plant: func(int, string, string) { held = append(held, touched(1<<20)) }},
		{name: "heap, let go", plant: func(int, string, string) { _ = touched(1 << 20) }},
		// An unreaped child keeps a descriptor of this process too.
		{name: "process", quantity: "processes", verdict: soak.Growing, also: []string{"descriptors"}, plant: func(int, string, string) { lived = append(lived, sleep()) }},
		{name: "process, one that stays", quantity: "processes", verdict: soak.Left, plant: func(n int, _, _ string) {
			if n == 1 {
				lived = append(lived, sleep())
			}
		}},
		{name: "process, ended", plant: func(int, string, string) {
			cmd := sleep()
			cmd.Process.Kill()
			cmd.Wait()
		}},
		{name: "temporary file", quantity: "left over", verdict: soak.Growing, plant: func(n int, _, _ string) {
			f, err := os.CreateTemp("", "") // finds the soak's folder
			if err != nil {
				t.Error(err)
				return
			}
			f.Close()
		}},
		{name: "file beside the archives", quantity: "left over", verdict: soak.Left, plant: func(_ int, _, results string) { write(t, filepath.Join(results, ".probe"), 1) }},
		{name: "archive", quantity: "disk a session", verdict: soak.Growing, plant: func(n int, _, results string) {
			write(t, filepath.Join(results, fmt.Sprintf("2026-%02d", n), "log"), 100*n)
		}},
		{name: "archive, other sizes", plant: func(n int, _, results string) {
			write(t, filepath.Join(results, fmt.Sprintf("2026-%02d", n), "log"), 300*(n%2))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, samples := soakOf(t, c.plant)
			if len(samples) != sessions {
				t.Fatalf("%d samples", len(samples))
			}
			for _, r := range soak.Judge(samples) {
				want := soak.Flat
				if r.Name == c.quantity {
					want = c.verdict
				} else if strings.Contains(strings.Join(c.also, ","), r.Name) {
					continue
				}
				if r.Verdict != want && r.Verdict != soak.Untold {
					t.Errorf("%s is %s, want %s: %+v", r.Name, r.Verdict, want, r)
				}
			}
			archives, err := filepath.Glob(filepath.Join(dir, "results", "2026-*"))
			if err != nil || len(archives) != 3 || filepath.Base(archives[2]) != "2026-09" {
				t.Errorf("kept on the disk: %q, %v; want the last three", archives, err)
			}
			if read, err := soak.Read(filepath.Join(dir, soak.SamplesFile)); err != nil || !reflect.DeepEqual(read, samples) {
				t.Errorf("read back: %v\n%+v\nwant\n%+v", err, read, samples)
			}
		})
	}
}

// touched is memory that is resident.
func touched(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 1
	}
	return b
}

// TestRefusedSessionsDoNotCount: the machine is another's for a while.
func TestRefusedSessionsDoNotCount(t *testing.T) {
	t.Setenv("HOME", os.Getenv("HOME"))
	t.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	codes := []int{3, 3, 0, 3, 6, 1, 130}
	ctx, stop := context.WithCancel(t.Context())
	i := 0
	var log strings.Builder
	samples, err := soak.Run(ctx, soak.Config{Dir: t.TempDir(), For: 1 << 62, Log: &log, Refused: func(code int) bool { return code == 3 },
		Session: func(context.Context, string) int {
			code := codes[i]
			if i++; code == 130 {
				stop()
			}
			return code
		}})
	var got []int
	for _, s := range samples {
		got = append(got, s.ExitCode)
	}
	if err != nil || !slices.Equal(got, []int{0, 6, 1}) || strings.Count(log.String(), "refused with exit code 3") != 3 {
		t.Errorf("codes %v, %v\n%s", got, err, &log)
	}
	if failed := soak.Failed(samples, 0, 6); len(failed) != 1 || failed[0].Session != 3 {
		t.Errorf("failed: %v", failed)
	}
}

// TestRefusedForGood: a machine that never becomes free ends the soak.
func TestRefusedForGood(t *testing.T) {
	t.Setenv("HOME", os.Getenv("HOME"))
	t.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	_, err := soak.Run(t.Context(), soak.Config{Dir: t.TempDir(), For: 1 << 62, Log: io.Discard, Refused: func(int) bool { return true },
		Session: func(context.Context, string) int { return 3 }})
	if err == nil || !strings.Contains(err.Error(), "refused 60 times in a row, the last with exit code 3") {
		t.Errorf("error %v", err)
	}
}

// TestACutFileCounts up to its last whole line; a line that is damaged does not.
func TestACutFileCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "soak.jsonl")
	for text, want := range map[string]int{
		"":                                   0,
		"{\"session\":1}\n{\"session\":2}\n": 2,
		"{\"session\":1}\n{\"session\":2}\n{\"ses": 2,
		"{\"session\":1}\n{\"ses\n":                -1,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		samples, err := soak.Read(path)
		if want < 0 && (err == nil || !strings.Contains(err.Error(), "line 2")) || want >= 0 && (err != nil || len(samples) != want) {
			t.Errorf("%q: %d samples, %v", text, len(samples), err)
		}
	}
}
