package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"gonogo/runner/host"
	"gonogo/runner/record"
)

func TestDiagnosisPrints(t *testing.T) {
	d := diagnosis{
		Host: record.Host{OS: "linux", Arch: "amd64", Kernel: "6.12.0", CPUModel: "Example CPU", CPUs: []int{0, 1}, PhysicalCores: 2,
			MemoryBytes: 8 << 30, Hypervisor: "QEMU", GoVersion: "go1.26.0", Grade: "D", Facts: map[string]string{"container": "docker"},
			Checks: []record.Check{
				{Name: "clock source", OK: true, Observed: "tsc", Limit: "tsc"},
				{Name: "CPU governor", Unknown: true, Observed: "unknown", Limit: "performance"},
				{Name: "physical cores", Observed: "2", Limit: "3 or more"},
				{Name: "steal", Void: true, Observed: "0.60 %", Limit: "0.1 %, fails above 0.5 %"},
			}},
		Targets: []record.Target{
			{Name: "go-1", CPUs: []int{0}, GeneratorCPUs: []int{1}},
			{Name: "go-2", CPUs: []int{0, 1}, GeneratorCPUs: []int{0, 1}},
		},
		Canary: 50123456, Advice: []string{"steal: take another host"},
	}
	want := `machine         Example CPU, 2 CPUs on 2 cores, 8.0 GiB, guest of QEMU in docker
system          linux/amd64, 6.12.0, go1.26.0, node unknown
go-1            server on CPUs [0], generator on [1]
go-2            server on CPUs [0 1], generator on [0 1], shared
canary          50.12ms

gate            verdict  observed  limit
clock source    ok       tsc       tsc
CPU governor    unknown  unknown   performance
physical cores  warn     2         3 or more
steal           FAIL     0.60 %    0.1 %, fails above 0.5 %

grade D: a gate has failed: numbers can be measured, verdicts cannot be given
  steal: take another host
`
	var b strings.Builder
	if err := d.print(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// What the real machine is like is not known here; that exit code and checks say
// the same is.
func TestDoctorExitsAsItsChecksSay(t *testing.T) {
	var out, diag bytes.Buffer
	err := (&doctorCmd{For: 50 * time.Millisecond, JSON: true}).Run(t.Context(), streams{out: &out, err: &diag})
	var d diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	failed := failedChecks(d.Host.Checks)
	if f := (*failure)(nil); errors.As(err, &f) != (len(failed) > 0) || f != nil && f.code != exitPreflight {
		t.Errorf("error %v, failed checks %v", err, failed)
	}
	if (d.Host.Grade == "D") != (len(failed) > 0) || len(d.Host.Checks) < 15 || d.Environment.Took < 50*time.Millisecond || d.Canary <= 0 {
		t.Errorf("grade %s, %d checks, environment %+v", d.Host.Grade, len(d.Host.Checks), d.Environment)
	}
	if diag.Len() != 0 {
		t.Errorf("with --json it says on stderr: %s", diag.String())
	}
	err = (&doctorCmd{}).Run(t.Context(), streams{out: &out, err: &diag})
	if f := (*failure)(nil); !errors.As(err, &f) || f.code != exitUsage {
		t.Errorf("for 0s: %v", err)
	}
}

func TestMeterSpeaksItsLines(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no meter on this system")
	}
	cpus := host.Describe(t.Context(), "").CPUs
	in, tell := io.Pipe()
	said, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- (&meterCmd{CPUs: cpus}).Run(t.Context(), streams{in: in, out: out})
		out.Close()
	}()
	events := json.NewDecoder(bufio.NewReader(said))
	var ready, result record.MeterEvent
	if err := events.Decode(&ready); err != nil || ready.Event != "ready" || ready.Result != nil {
		t.Fatalf("%+v, %v", ready, err)
	}
	if _, err := io.WriteString(tell, "enough\n"); err != nil {
		t.Fatal(err)
	}
	if err := events.Decode(&result); err != nil || result.Event != "result" || result.Result == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	if h := result.Result; len(h.CPUs) != len(cpus) || h.End <= h.Start {
		t.Errorf("%+v", h)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
