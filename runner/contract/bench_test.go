package contract

import "testing"

func BenchmarkSample(b *testing.B) {
	b.ReportAllocs()
	for i := range uint64(b.N) {
		sampleAt(1, i)
	}
}
