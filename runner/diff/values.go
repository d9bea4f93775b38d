// Package diff compares two archives: what was planned, proved and run on which
// machine, and how far their numbers lie apart. It is pure: two sessions in,
// structs out.
package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Difference is one member that two records do not have alike.
type Difference struct {
	Path string `json:"path"` // as in runs[3].load.counts.ok
	A    string `json:"a"`    // as JSON; "" where it is absent
	B    string `json:"b"`
}

func (d Difference) String() string { return d.Path + ": " + orAbsent(d.A) + ", " + orAbsent(d.B) }

func orAbsent(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

// Values compares two values by their JSON, member by member, to the last digit.
func Values(a, b any) ([]Difference, error) {
	x, err := tree(a)
	if err != nil {
		return nil, err
	}
	y, err := tree(b)
	if err != nil {
		return nil, err
	}
	var w walk
	w.compare("", x, y)
	return w.found, nil
}

// tree is a value as maps, lists and texts. Numbers stay as they are written: a
// float64 would make one of 2^53 and 2^53+1.
func tree(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("compare records: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var t any
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("compare records: %w", err)
	}
	return t, nil
}

type walk struct{ found []Difference }

// missing marks what one side does not have; null is a value.
type missing struct{}

func (w *walk) compare(path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			names := slices.Concat(slices.Collect(maps.Keys(x)), slices.Collect(maps.Keys(y)))
			slices.Sort(names)
			for _, name := range slices.Compact(names) {
				w.compare(join(path, name), member(x, name), member(y, name))
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			for i := range max(len(x), len(y)) {
				w.compare(path+"["+strconv.Itoa(i)+"]", element(x, i), element(y, i))
			}
			return
		}
	}
	if s, t := text(a), text(b); s != t {
		w.found = append(w.found, Difference{path, s, t})
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func member(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	return missing{}
}

func element(l []any, i int) any {
	if i < len(l) {
		return l[i]
	}
	return missing{}
}

func text(v any) string {
	if _, ok := v.(missing); ok {
		return ""
	}
	data, _ := json.Marshal(v) // it came from JSON
	return string(data)
}
