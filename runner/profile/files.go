package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gonogo/runner/record"
)

// MaxFile bounds a raw profile, of a server or of a stranger's archive.
const MaxFile = 256 << 20

// The names of raw profiles in the folder of a run. Node names its own.
const (
	goCPU      = "cpu.pb.gz"
	goTrace    = "trace.out"
	nodeWindow = "window-%d.json"
)

// goEdges are the profiles that count from the start of a Go process on.
var goEdges = map[string][]string{record.ProfileMemory: {"heap"}, record.ProfileWaits: {"block", "mutex"}}

func edgeFile(kind, edge string) string { return kind + "-" + edge + ".pb.gz" }

// file is a raw profile in memory.
type file struct {
	name string // in its folder
	data []byte
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// read takes all files of a folder, in order of their names.
func read(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() || info.Size() > MaxFile {
			return nil, fmt.Errorf("%s is no regular file of at most %d MiB", e.Name(), MaxFile>>20)
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{e.Name(), data})
	}
	return files, nil
}

// Again works a profile out once more from its files, which open reads by their names
// in the archive, and says what does not follow.
func Again(r *record.ProfileRun, open func(name string) ([]byte, error)) []string {
	var files []file
	var wrong []string
	for _, f := range r.Files {
		data, err := open(f.Name)
		switch {
		case err != nil:
			wrong = append(wrong, err.Error())
		case int64(len(data)) != f.Bytes || sum(data) != f.SHA256:
			wrong = append(wrong, fmt.Sprintf("%s: altered: its SHA-256 is not the one that the run names", f.Name))
		default:
			files = append(files, file{path.Base(f.Name), data})
		}
	}
	if wrong != nil {
		return wrong
	}
	again := record.ProfileRun{Of: r.Of, Runtime: r.Runtime, Argv: r.Argv, Env: r.Env, Files: r.Files}
	if err := digest(&again, files); err != nil {
		return []string{err.Error()}
	}
	a, errA := json.Marshal(again)
	b, errB := json.Marshal(r)
	if err := errors.Join(errA, errB); err != nil {
		return []string{err.Error()}
	}
	if string(a) != string(b) {
		return []string{"its functions do not follow from its files"}
	}
	return nil
}

// address reads the line in which a server says where it can be asked.
func address(line string) (string, bool) {
	var l struct {
		Profile string `json:"profile"`
	}
	if !strings.HasPrefix(line, `{"profile":`) || json.Unmarshal([]byte(line), &l) != nil {
		return "", false
	}
	return l.Profile, strings.HasPrefix(l.Profile, "127.0.0.1:") || strings.HasPrefix(l.Profile, "[::1]:")
}
