package archive

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// ManifestFile lists the SHA-256 of every other file of a session's folder, in the
// form that sha256sum writes and `sha256sum -c` reads. The seal covers what numbers
// are computed from; the manifest covers the logs and what was derived too, so it
// is written after all of them.
const ManifestFile = "MANIFEST.sha256"

// Problem is one thing about an archive that does not follow.
type Problem struct {
	File string `json:"file,omitempty"` // relative to the session's folder; "" if it is no single file's
	Text string `json:"text"`
}

func (p Problem) String() string {
	if p.File == "" {
		return p.Text
	}
	return p.File + ": " + p.Text
}

// WriteManifest sums every file of a session's folder. Nothing may be written into
// the folder after it.
func WriteManifest(dir string) error {
	sums, err := sumFolder(dir)
	if err != nil {
		return fmt.Errorf("write manifest of %s: %w", dir, err)
	}
	var b strings.Builder
	for _, name := range sortedNames(sums) {
		if strings.ContainsAny(name, "\n\r\\") { // sha256sum escapes these; no file of ours has them
			return fmt.Errorf("write manifest of %s: file name %q", dir, name)
		}
		fmt.Fprintf(&b, "%s  %s\n", sums[name], name)
	}
	return writeBytes(filepath.Join(dir, ManifestFile), []byte(b.String()))
}

// Sums are the files of a folder as they are now, held against its manifest.
type Sums struct {
	Files    int       // that the manifest lists
	Problems []Problem // in order of names
	Extra    []string  // files that it does not list, such as a decision taken later; in order
}

// CheckManifest sums every file of a session's folder again. An error means that
// the folder could not be read; what is wrong with its files are Problems.
func CheckManifest(dir string) (Sums, error) {
	now, err := sumFolder(dir)
	if err != nil {
		return Sums{}, fmt.Errorf("check manifest of %s: %w", dir, cause(err))
	}
	listed, err := readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Sums{Problems: []Problem{{ManifestFile, "missing: the session was cut short, or the file was taken away"}}}, nil
	}
	if err != nil {
		return Sums{Problems: []Problem{{ManifestFile, cause(err).Error()}}, Extra: sortedNames(now)}, nil
	}
	s := Sums{Files: len(listed)}
	for _, name := range sortedNames(listed) {
		switch got, there := now[name]; {
		case !there:
			s.Problems = append(s.Problems, Problem{name, "missing, but " + ManifestFile + " lists it"})
		case got != listed[name]:
			s.Problems = append(s.Problems, Problem{name, "altered: its SHA-256 is not the one in " + ManifestFile})
		}
	}
	for _, name := range sortedNames(now) {
		if _, ok := listed[name]; ok {
			continue
		}
		if ours(name) {
			s.Problems = append(s.Problems, Problem{name, "there, but " + ManifestFile + " does not list it: added, or cut from the list"})
			continue
		}
		s.Extra = append(s.Extra, name)
	}
	return s, nil
}

// ours tells a name that a session alone writes, so that it is listed or the
// manifest is not whole. What lies beside these may have been filed later.
func ours(name string) bool {
	return strings.Contains(name, "/") || slices.Contains([]string{planFile, hostFile, contractFile, probesFile, sealFile}, name)
}

// ReadFile reads one regular file of a session's folder, and never one outside it.
func ReadFile(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, cause(err))
	}
	defer root.Close()
	data, err := (&reader{root: root}).read(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, cause(err))
	}
	return data, nil
}

// readManifest takes the exact form that WriteManifest gives and no other, so that
// no change of the manifest itself goes unseen.
func readManifest(dir string) (map[string]string, error) {
	data, err := ReadFile(dir, ManifestFile)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || data[len(data)-1] != '\n' {
		return nil, errors.New("truncated: it does not end in a newline")
	}
	sums, last := map[string]string{}, ""
	lines := strings.Split(string(data[:len(data)-1]), "\n")
	for i, line := range lines {
		sum, name, ok := strings.Cut(line, "  ")
		if !ok || !isSum(sum) || !fs.ValidPath(name) || name <= last {
			return nil, fmt.Errorf("damaged in line %d: not a sum and the next name in order", i+1)
		}
		sums[name], last = sum, name
	}
	return sums, nil
}

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

// sumFolder gives the SHA-256 of every regular file under dir but the manifest, by
// name with slashes. Whatever else lies there, such as a link, has no content of
// its own and makes the folder none of ours.
func sumFolder(dir string) (map[string]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sums := map[string]string{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() || name == ManifestFile:
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%q is neither a folder nor a regular file", name)
		}
		sums[name], err = sumFile(root, name)
		return err
	})
	return sums, err
}

func sumFile(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, bufio.NewReader(f)); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// PlanSHA256 is the sum of the plan in a session's folder, which its runs name.
func PlanSHA256(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("sum plan: %w", err)
	}
	defer root.Close()
	return sumFile(root, planFile)
}

// RunFile is where a run is kept, relative to the session's folder.
func RunFile(r *record.Run) string { return path.Join(runsDir, stepName(r.Step, r.Attempt)+".json") }

// List gives the ids of all archives in out, oldest first.
func List(out string) ([]string, error) {
	ids, err := list(out)
	if err != nil {
		return nil, fmt.Errorf("list archives: %w", err)
	}
	return ids, nil
}
