//go:build linux || darwin

package lock

import (
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestNeverTwoAtATime: of many who try again and again never two hold the lock, and
// each who is refused is told why. A lock is of an open file, so that two of one
// process stand for two processes.
func TestNeverTwoAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside, taken, refused atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for taken.Load() < 200 && !t.Failed() {
				l, err := Take(path, "compare")
				if held := (*Held)(nil); errors.As(err, &held) {
					refused.Add(1)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				if _, is := Who(path); !is { // which also takes a while
					t.Error("the lock is held, and Who sees nobody")
				}
				taken.Add(1)
				inside.Add(-1)
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if refused.Load() == 0 {
		t.Error("nobody was refused: this tests nothing")
	}
}
