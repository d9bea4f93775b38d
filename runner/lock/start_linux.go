package lock

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// processStart is when a process began, in clock ticks since boot, and which boot:
// field 22 of proc_pid_stat(5).
func processStart(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold anything; field 3 follows the last one.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(fields[19]) + "@" + strings.TrimSpace(string(boot))
}
