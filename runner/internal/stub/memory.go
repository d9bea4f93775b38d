package stub

import "sync"

// Memory is how much of it is held.
type Memory struct {
	AllocateMiB int
	LeakBytes   int
	KeepStore   string
}

// hoard keeps what is never given back.
type hoard struct {
	mu   sync.Mutex
	kept [][]byte
}

// keep holds n bytes more, in pages that were written to and so are resident.
func (h *hoard) keep(n int) {
	if n == 0 {
		return
	}
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	h.mu.Lock()
	h.kept = append(h.kept, b)
	h.mu.Unlock()
}
