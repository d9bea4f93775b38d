package archive

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestResolve(t *testing.T) {
	out := t.TempDir()
	ids := []string{"20261129T000000Z-0000aa", "20261130T101010Z-aaaaaa", "20261130T101011Z-bbbbbb"}
	for _, id := range ids {
		if err := os.Mkdir(filepath.Join(out, id), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// What is not a session: a later file, a later folder of another form.
	write(t, out, "20291130T101011Z-cccccc", nil)
	write(t, out, "README.md", nil)
	for _, d := range []string{"zzz", "20991130T101011Z", "99991130T101011Z-XYZ123"} {
		if err := os.Mkdir(filepath.Join(out, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "benchmark.json")
	write(t, filepath.Dir(file), "benchmark.json", nil)

	for _, c := range []struct{ ref, want string }{
		{"latest", filepath.Join(out, ids[2])},
		{ids[1], filepath.Join(out, ids[1])},
		{"20261129", filepath.Join(out, ids[0])},
		{"20261130T101011", filepath.Join(out, ids[2])},
		{filepath.Join(out, ids[0]), filepath.Join(out, ids[0])},
		{filepath.Join(out, ids[0]) + "/", filepath.Join(out, ids[0])},
		{file, file},
	} {
		got, err := Resolve(out, c.ref)
		if err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.ref, got, err, c.want)
		}
	}

	for _, c := range []struct {
		ref     string
		matches []string
	}{{"20261130", ids[1:]}, {"2027", nil}, {"", nil}, {"/no/such/path", nil}} {
		_, err := Resolve(out, c.ref)
		u := (*Unknown)(nil)
		if !errors.As(err, &u) || !slices.Equal(u.Matches, c.matches) || !slices.Equal(u.Have, ids) {
			t.Errorf("%q: %v", c.ref, err)
		}
	}
	for _, none := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if _, err := Resolve(none, "latest"); err == nil {
			t.Errorf("latest of nothing was found in %s", none)
		}
	}
}
