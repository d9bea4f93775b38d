package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gonogo/runner/record"
)

// measured gives the SHA-256 of what a plan measures and of what measures it, by
// name: this program, each target's command, and, as one, the files of each folder
// that a target's script is in. The sources of server-go are among them where they
// are there, for a binary may be older than they are.
func measured(k kit, p *record.Plan) (map[string]string, error) {
	files := map[string][]string{"gonogo": {k.exe}}
	folders := map[string]bool{"server-go": true}
	var all []record.Companion
	for _, t := range p.Targets {
		all = append(all, programs(t)...)
	}
	for _, t := range all {
		name, root := t.Argv[0], filepath.Join(k.root, t.Dir)
		path := filepath.Join(root, name)
		if filepath.IsAbs(name) {
			path = name
		} else if !strings.ContainsRune(name, filepath.Separator) {
			found, err := exec.LookPath(name)
			if err != nil {
				return nil, fmt.Errorf("sum %s: %w", name, err)
			}
			path = found
		}
		if path != name && strings.ContainsRune(name, filepath.Separator) {
			name = filepath.Join(t.Dir, name)
		}
		files[name] = []string{path}
		for _, arg := range t.Argv[1:] {
			if info, err := os.Stat(filepath.Join(root, arg)); err == nil && info.Mode().IsRegular() {
				folders[filepath.Join(t.Dir, filepath.Dir(arg))] = true
				if filepath.Base(filepath.Dir(arg)) == "variants" { // what they vary
					folders[filepath.Dir(filepath.Dir(arg))] = true
				}
			}
		}
	}
	for folder := range folders {
		if all := regular(filepath.Join(k.root, folder)); len(all) > 0 {
			files[filepath.ToSlash(folder)+"/*"] = all
		}
	}
	sums := map[string]string{}
	for name, paths := range files {
		var err error
		if sums[name], err = sumOf(paths); err != nil {
			return nil, fmt.Errorf("sum %s: %w", name, err)
		}
	}
	return sums, nil
}

// regular are the regular files of a folder, in order.
func regular(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

// sumOf is the sum of a file, or that of the names and sums of several.
func sumOf(paths []string) (string, error) {
	all := sha256.New()
	var one string
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", err
		}
		one = hex.EncodeToString(h.Sum(nil))
		fmt.Fprintf(all, "%s  %s\n", one, filepath.Base(path))
	}
	if len(paths) == 1 {
		return one, nil
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

// rebuilt are the files whose sums are others than before.
func rebuilt(before, now map[string]string) []record.Check {
	all := maps.Clone(now)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, before)
	var checks []record.Check
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before[name] != now[name] {
			checks = append(checks, record.Check{Name: name + " changed", Void: true, Observed: brief(now[name]), Limit: brief(before[name])})
		}
	}
	return checks
}

// brief is enough of a sum to tell two apart.
func brief(sum string) string {
	if sum == "" {
		return "none"
	}
	return "SHA-256 " + sum[:min(12, len(sum))]
}
