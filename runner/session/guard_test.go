package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

// Without its guard a session could leave servers behind, so it ends: the step is
// kept with the reason, and the other steps do not each fail in turn.
func TestALostGuardEndsTheSession(t *testing.T) {
	dir, kept := t.TempDir(), []*record.Run{}
	err := Execute(t.Context(), Config{
		Plan: planOf([]record.Scenario{closedLoop(50 * time.Millisecond)}, target("a"), target("b")), Root: dir,
		Guard: []string{"sh", "-c", "echo guarding"}, Generator: []string{os.Args[0], "generator"},
		LogPath: func(record.Step, int) string { return filepath.Join(dir, "log") }, LogName: func(record.Step, int) string { return "log" },
		Append: func(r *record.Run) error { kept = append(kept, r); return nil }, Observe: func(Event) {},
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "guard") {
		t.Errorf("got %v", err)
	}
	if len(kept) != 1 || kept[0].Outcome != record.Failed {
		t.Errorf("kept %d runs", len(kept))
	}
}
