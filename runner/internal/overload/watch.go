package overload

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"gonogo/runner/memory"
)

const (
	healthEvery = 100 * time.Millisecond
	memoryEvery = 250 * time.Millisecond
)

// watching looks at a server during a fault, from outside.
type watching struct {
	cancel context.CancelFunc
	series *memory.Series
	health chan OverloadHealth
	files  chan *int
}

func (s *subject) watch(ctx context.Context) *watching {
	ctx, cancel := context.WithCancel(ctx)
	w := &watching{cancel: cancel, series: memory.Watch(ctx, s.p.PIDs(), memoryEvery), health: make(chan OverloadHealth, 1), files: make(chan *int, 1)}
	go func() { w.health <- askHealth(ctx, "http://"+s.p.Address()+"/healthz") }()
	go func() { w.files <- mostFiles(ctx, s.p.PIDs()) }()
	return w
}

// stop ends the watch and puts what it saw into the trial.
func (w *watching) stop(t *OverloadTrial) error {
	w.cancel()
	t.Health, t.FilesPeak = <-w.health, <-w.files
	readings, err := w.series.Wait()
	for _, r := range readings {
		if r.PSS != nil && (t.PSSPeak == nil || *r.PSS > *t.PSSPeak) {
			t.PSSPeak = r.PSS
		}
	}
	return err
}

// askHealth asks until ctx is done. Its connection is kept, as long as the server
// keeps it; a question that falls due while another is open is asked when that is
// over, and its latency counts from when it was due.
func askHealth(ctx context.Context, url string) (h OverloadHealth) {
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: healthPatience}
	defer client.CloseIdleConnections()
	var took []time.Duration
	for due := time.Now(); ; due = due.Add(healthEvery) {
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			slices.Sort(took)
			h.Answered = len(took)
			h.P50, h.P99, h.Max = rank(took, 0.50), rank(took, 0.99), rank(took, 1)
			return h
		}
		h.Asked++
		if answers(client, url) == nil {
			took = append(took, time.Since(due))
		}
	}
}

func answers(client *http.Client, url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// rank is the nearest-rank quantile q, 0..1, of sorted values; 0 of none.
func rank(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(q*float64(len(sorted))+0.999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

func mostFiles(ctx context.Context, pids []int) (most *int) {
	for {
		if n := openFiles(pids); n != nil && (most == nil || *n > *most) {
			most = n
		}
		select {
		case <-time.After(memoryEvery):
		case <-ctx.Done():
			return most
		}
	}
}

// openFiles counts the descriptors of processes; nil where the system does not tell.
func openFiles(pids []int) *int {
	sum := 0
	for _, pid := range pids {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			return nil
		}
		sum += len(entries)
	}
	return &sum
}
