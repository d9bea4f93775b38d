package session

import (
	"strings"
	"testing"

	"gonogo/runner/record"
)

// A meter that says nothing, nonsense, or ends at once is an error and never keeps
// the session waiting for good.
func TestMetersThatDoNotMeter(t *testing.T) {
	for name, script := range map[string]string{
		"ends at once":         "exit 3",
		"talks nonsense":       "echo '{'; cat",
		"ignores its input":    `echo '{"event":"ready"}'; exec sleep 60`,
		"answers with nothing": `echo '{"event":"ready"}'; read x; echo '{"event":"result"}'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &step{Config: Config{Meter: []string{"sh", "-c", script}}, target: record.Target{CPUs: []int{0}, GeneratorCPUs: []int{0}}}
			m, err := s.startMeter()
			if err == nil {
				_, err = m.stop()
				m.end()
			}
			if err == nil || !strings.Contains(err.Error(), "meter") {
				t.Errorf("got %v", err)
			}
		})
	}
}
