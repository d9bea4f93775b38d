package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"gonogo/runner/record"
)

// watcher tells once a second how a run goes, on a terminal only.
type watcher struct {
	w      io.Writer
	window time.Duration
	ended  chan struct{}
	wg     sync.WaitGroup

	mu   sync.Mutex
	last *record.Slice
	news bool
}

func newWatcher(w io.Writer, window time.Duration) *watcher {
	watch := &watcher{w: w, window: window, ended: make(chan struct{})}
	if onTerminal(w) {
		watch.wg.Go(watch.run)
	}
	return watch
}

func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// second is called on the way of the requests.
func (w *watcher) second(s record.Slice) {
	w.mu.Lock()
	w.last, w.news = &s, true
	w.mu.Unlock()
}

func (w *watcher) run() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for begin := time.Now(); ; {
		select {
		case <-w.ended:
			fmt.Fprint(w.w, "\r\x1b[K")
			return
		case <-tick.C:
			fmt.Fprintf(w.w, "\r\x1b[K%s", w.line(time.Since(begin)))
		}
	}
}

func (w *watcher) line(since time.Duration) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := since.Round(time.Second).String()
	if w.window > 0 {
		text += " of " + w.window.String() + " and warm-up"
	}
	if !w.news {
		return text + ": no answers in the last second"
	}
	w.news = false
	return fmt.Sprintf("%s: %d/s right, %d/s wrong", text, w.last.Right, w.last.Bad)
}

func (w *watcher) done() {
	close(w.ended)
	w.wg.Wait()
}
