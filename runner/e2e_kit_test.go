package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// root is the folder of all that these tests build and run, once there is one.
var root string

// builtKit builds bin/gonogo and bin/server-go, once, and puts server-node beside.
var builtKit = sync.OnceValues(func() (dir string, err error) {
	if root, err = os.MkdirTemp("", "gonogo-e2e-"); err != nil {
		return "", err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	if err := watchSources(); err != nil {
		return "", err
	}
	dir = filepath.Join(root, "kit")
	for to, pkg := range map[string]string{"gonogo": ".", "server-go": "../server-go"} {
		// The state of the repository is not what is tested here.
		if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "bin", to), pkg).CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", to, err, out)
		}
	}
	servers, err := filepath.Abs("../server-node")
	if err != nil {
		return "", err
	}
	// One test runs it as another user.
	return dir, errors.Join(os.Symlink(servers, filepath.Join(dir, "server-node")), os.Chmod(root, 0o755))
})

// watchSources looks at every file that a kit is made of. The cache of go test
// notices a change in what this process looked at, not in what a go build that it
// started has read, nor in a main that a test binary does not link.
func watchSources() error {
	return filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "results" || name == "bin" || name == ".git" || name == "node_modules" || name == "runtimes") {
			return fs.SkipDir
		}
		if ext := filepath.Ext(path); ext == ".go" || ext == ".mjs" || ext == ".mod" {
			_, err = os.Stat(path)
		}
		return err
	})
}

func theKit(t *testing.T) string {
	t.Helper()
	dir, err := builtKit()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// alteredKit is a kit of which one file of server-node is changed by replacing
// old, which must be in it.
func alteredKit(t *testing.T, file, old, text string) string {
	t.Helper()
	kit, dir := theKit(t), filepath.Join(t.TempDir(), "kit")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gonogo", "server-go"} { // real files: a kit is where its executable is
		if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(kit, "bin", name), filepath.Join(dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyServer(filepath.Join(dir, "server-node")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "server-node", file)
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(was, []byte(old)) {
		t.Fatalf("%s holds no %q to replace", file, old)
	}
	if err := os.WriteFile(path, bytes.Replace(was, []byte(old), []byte(text), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// copyServer copies server-node without what npm has put there.
func copyServer(to string) error {
	servers := os.DirFS("../server-node")
	return fs.WalkDir(servers, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == "node_modules":
			return fs.SkipDir
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, path), 0o755)
		}
		data, err := fs.ReadFile(servers, path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), data, 0o644)
	})
}
