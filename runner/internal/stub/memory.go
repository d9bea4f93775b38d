package stub

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Memory is how much of it is held.
type Memory struct {
	AllocateMiB int
	NeedMiB     int
	LeakBytes   int
	KeepStore   string

	ConnectionKiB int
}

// held is what open connections hold.
type held struct {
	mu sync.Mutex
	of map[any][]byte
}

// open holds n KiB for a connection, in pages that were written to. They are not the
// runtime's: under the race detector each of those has another in its shadow.
func (h *held) open(connection any, n int) {
	if n == 0 {
		return
	}
	b, err := syscall.Mmap(-1, 0, n<<10, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		fmt.Fprintf(os.Stderr, "stub: hold %d KiB: %v\n", n, err)
		os.Exit(1)
	}
	write(b)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[any][]byte{}
	}
	h.of[connection] = b
}

func (h *held) close(connection any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b, ok := h.of[connection]; ok {
		syscall.Munmap(b)
		delete(h.of, connection)
	}
}

// write makes pages resident.
//
//go:norace
func write(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}

// kernelMiB is what the kernel keeps for a stub under a small load: stacks, page tables,
// sockets. It is charged as the rest is.
const kernelMiB = 2

// need holds as much as brings the memory of the process that no file stands for, as the
// kernel counts it (RssAnon, Linux), to so many MiB less the kernel's own, and from then on
// gives back what the runtime takes more. It is not the runtime's memory, which would
// give it back itself, or count it twice.
func need(mib int) {
	if mib == 0 {
		return
	}
	const piece = 256 << 10
	least := (mib - kernelMiB) << 20
	var held [][]byte
	for ownMemory() < least {
		b, err := syscall.Mmap(-1, 0, piece, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return
		}
		for i := 0; i < piece; i += 4096 {
			b[i] = 1
		}
		held = append(held, b)
	}
	go func() {
		for ; len(held) > 0; time.Sleep(time.Millisecond) {
			if ownMemory() > least+piece {
				syscall.Munmap(held[len(held)-1])
				held = held[:len(held)-1]
			}
		}
	}()
}

// ownMemory is without bound where the kernel does not tell it: then nothing is held.
func ownMemory() int {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(status, []byte("RssAnon:"))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		return math.MaxInt
	}
	kib, _ := strconv.Atoi(string(fields[0]))
	return kib << 10
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
