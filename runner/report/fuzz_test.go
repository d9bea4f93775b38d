package report

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// FuzzReport: any session that validates can be evaluated and printed in every
// format.
func FuzzReport(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "sessions", "*", "benchmark.json"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s record.Session
		if json.Unmarshal(data, &s) != nil || s.Validate() != nil || len(s.Plan.Targets)*len(s.Plan.Scenarios) > 100 {
			return
		}
		e := findings.Evaluate(&s)
		for name, w := range Formats {
			if err := w(io.Discard, &s, e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}
