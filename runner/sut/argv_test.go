package sut

import (
	"os"
	"testing"
	"time"
)

// TestArgumentsAreNoShell: whatever an argument holds reaches the command byte for
// byte, and nothing else happens.
func TestArgumentsAreNoShell(t *testing.T) {
	f := newFixture(t)
	evil := []string{"; touch x", "$(touch x)", "`touch x`", "a'b\"c", "two\nlines", "", "*", "~", "$HOME", "&& touch x", "| touch x", "> x", "\\", "%s\t\x01"}
	want := ""
	for _, a := range evil {
		want += "[" + a + "]"
	}
	dir := t.TempDir()
	got, err := Run(t.Context(), f.guard, dir, []string{markName + "=" + f.mark}, append([]string{"printf", "[%s]"}, evil...), time.Minute)
	if err != nil || got != want {
		t.Errorf("%v\n got %q\nwant %q", err, got, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
}
