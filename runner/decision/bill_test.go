package decision

import (
	"testing"

	"gonogo/runner/record"
)

// TestBill: replicas and money by hand, at u = 0.6.
func TestBill(t *testing.T) {
	m := &matter{rules: &record.DecisionRules{CPUTarget: 0.6}}
	one := shape{name: today, target: "node-1", cores: 1, vcpus: 1, processes: 1}
	for _, c := range []struct {
		name                     string
		in                       record.DecisionInputs
		s                        shape
		cpu, memory              float64 // ns, bytes
		byCPU, byMemory, byOther float64
		replicas, mebis, money   float64
	}{
		// 500 000 x 80 µs = 40 cores, / 0.6 = 66.67; 67 x 134 MiB; 67 x 30 + 8.7676 GiB x 4
		{"cpu", inputs(), one, 60_000, 84 << 20, 67, 0, 3, 67, 67 * 134, 67*30 + 67*134/1024.*4},
		// the same on two cores: 33.33
		{"two cores", inputs(), shape{cores: 2, vcpus: 2, processes: 1}, 60_000, 84 << 20, 34, 0, 3, 34, 34 * 134, 34*60 + 34*134/1024.*4},
		// two workers hold 50 MiB of data each
		{"a cluster of two", inputs(), shape{cores: 2, vcpus: 2, processes: 2}, 60_000, 190 << 20, 34, 0, 3, 34, 34 * 290, 34*60 + 34*290/1024.*4},
		// 0.6 cores of 0.6: exactly one replica, not two; availability asks for three
		{"exactly one", with(func(in *record.DecisionInputs) { in.PeakRate = of(7500.0) }), one, 60_000, 84 << 20, 1, 0, 3, 3, 3 * 134, 90 + 3*134/1024.*4},
		{"the user's own share", with(func(in *record.DecisionInputs) { in.CPUTarget = of(0.8) }), one, 60_000, 84 << 20, 50, 0, 3, 50, 50 * 134, 1500 + 50*134/1024.*4},
		{"availability", with(func(in *record.DecisionInputs) { in.Binds = byAvailability; in.PeakRate = of(10.0) }), one, 60_000, 84 << 20, 1, 0, 67, 67, 67 * 134, 67*30 + 67*134/1024.*4},
		// 67 x 50 = 3350 MiB of data over 134 - 84 = 50 MiB a replica
		{"memory", with(func(in *record.DecisionInputs) {
			in.Binds, in.ReplicaMemory, in.PeakRate = byMemory, of(134.0), of(10.0)
		}), one, 60_000, 84 << 20, 1, 67, 3, 67, 3350 + 67*84, 67*30 + (3350+67*84)/1024.*4},
		// with 32 MiB of its own, 102 MiB are left: 32.8
		{"memory with Go", with(func(in *record.DecisionInputs) {
			in.Binds, in.ReplicaMemory, in.PeakRate = byMemory, of(134.0), of(10.0)
		}), one, 20_000, 32 << 20, 1, 33, 3, 33, 3350 + 33*32, 33*30 + (3350+33*32)/1024.*4},
		{"memory without a limit", with(func(in *record.DecisionInputs) { in.Binds, in.PeakRate = byMemory, of(10.0) }), one, 20_000, 32 << 20, 1, 67, 3, 67, 67 * 82, 67*30 + 67*82/1024.*4},
	} {
		b, err := m.bill(c.in, c.s, c.cpu, c.memory, 0)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if b.byCPU != c.byCPU || b.byMemory != c.byMemory || b.byOther != c.byOther || b.replicas != c.replicas || !near(b.memory/mebi, c.mebis) || !near(b.money, c.money) {
			t.Errorf("%s: %+v", c.name, b)
		}
	}
	for name, limit := range map[string]float64{"a server that is larger than its limit": 84, "data that is": 133} {
		in := with(func(in *record.DecisionInputs) { in.ReplicaMemory = of(limit) })
		if b, err := m.bill(in, one, 60_000, 84<<20, 0); err == nil {
			t.Errorf("%s: %+v", name, b)
		}
	}
}
