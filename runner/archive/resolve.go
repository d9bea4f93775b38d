package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Unknown says that a reference names no archive, or several.
type Unknown struct {
	Ref     string
	Out     string   // where was looked
	Matches []string // ids, when Ref is a prefix of several
	Have    []string // ids of all archives in Out, oldest first
}

func (e *Unknown) Error() string {
	switch {
	case len(e.Matches) > 0:
		return fmt.Sprintf("find archive %q: it fits %d of them: %s", e.Ref, len(e.Matches), strings.Join(e.Matches, ", "))
	case len(e.Have) == 0:
		return fmt.Sprintf("find archive %q: there is none in %s", e.Ref, e.Out)
	}
	return fmt.Sprintf("find archive %q: no id in %s begins so, and it is no path", e.Ref, e.Out)
}

// Latest is the reference to the newest archive.
const Latest = "latest"

// Resolve finds what ref names: Latest, an id in out, the beginning of exactly
// one id, or else a path, of a session's folder or of a benchmark.json. The
// error for a reference that names nothing is an *Unknown.
func Resolve(out, ref string) (string, error) {
	ids, err := list(out)
	if err != nil {
		return "", fmt.Errorf("find archive %q: %w", ref, err)
	}
	if ref == Latest && len(ids) > 0 {
		return filepath.Join(out, ids[len(ids)-1]), nil
	}
	if slices.Contains(ids, ref) {
		return filepath.Join(out, ref), nil
	}
	var matches []string
	for _, id := range ids {
		if ref != "" && strings.HasPrefix(id, ref) {
			matches = append(matches, id)
		}
	}
	if len(matches) == 1 {
		return filepath.Join(out, matches[0]), nil
	}
	if ref != "" && ref != Latest && len(matches) == 0 {
		if _, err := os.Stat(ref); err == nil {
			return filepath.Clean(ref), nil
		}
	}
	return "", &Unknown{Ref: ref, Out: out, Matches: matches, Have: ids}
}

var idForm = regexp.MustCompile(`^\d{8}T\d{6}Z-[0-9a-f]{6}$`)

func isID(name string) bool { return idForm.MatchString(name) }

// list gives the ids of all archives in out, oldest first. A folder is an
// archive if its name is an id; anything else is somebody else's.
func list(out string) ([]string, error) {
	entries, err := os.ReadDir(out) // sorted by name, and ids sort by time
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && isID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}
