// Package host says what machine this is, whether it is fit to measure on, and
// whether it is quiet. It only reads, and it needs no root.
package host

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/common"
	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/load"
	"github.com/shirou/gopsutil/v3/mem"

	"gonogo/runner/record"
)

// nodePatience bounds how long `node --version` may take.
const nodePatience = 5 * time.Second

// Describe tells what the machine is. CPUs and physical cores are those that this
// process may use. nodePath is the node command to ask for its version, "" for
// none. What cannot be found out stays empty.
func Describe(ctx context.Context, nodePath string) record.Host {
	h := here().describe(ctx)
	h.NodeVersion = nodeVersion(ctx, nodePath)
	return h
}

func nodeVersion(ctx context.Context, path string) string {
	if path == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, nodePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second // a wrapper's child may hold the output open
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (m machine) describe(ctx context.Context) record.Host {
	h := record.Host{
		OS: runtime.GOOS, Arch: runtime.GOARCH, GoVersion: runtime.Version(),
		CPUs: m.cpus, PhysicalCores: m.physicalCores(), Facts: m.facts(),
		Kernel: m.kernel(), Hypervisor: m.hypervisor(), Governor: m.governor(), ClockSource: m.clockSource(),
	}
	if n, ok := m.fileLimit(); ok {
		h.FileLimit = n
	}
	if r, ok := m.portRange(); ok {
		h.PortRange = r
	}
	// gopsutil takes another root for its files from the context.
	ctx = context.WithValue(ctx, common.EnvKey, common.EnvMap{
		common.HostProcEnvKey: m.path("proc"), common.HostSysEnvKey: m.path("sys"),
	})
	// It may report an odd line as an error and still have named the model.
	if infos, _ := cpu.InfoWithContext(ctx); len(infos) > 0 && infos[0].ModelName != "Undefined" {
		h.CPUModel = infos[0].ModelName
	}
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		h.MemoryBytes = v.Total
	}
	if avg, err := load.AvgWithContext(ctx); err == nil {
		h.LoadAverage1 = &avg.Load1
	}
	return h
}
