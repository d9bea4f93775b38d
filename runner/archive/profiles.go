package archive

import (
	"path"

	"gonogo/runner/record"
)

// profilesDir holds raw profiles, a folder for each run that carried a profiler. The
// runs name their sums, so the seal covers them too.
const profilesDir = "profiles"

// ProfileName is the folder of the profiles of a step's attempt, relative to Dir.
func (w *Writer) ProfileName(st record.Step, attempt int) string {
	return path.Join(profilesDir, stepName(st, attempt))
}
