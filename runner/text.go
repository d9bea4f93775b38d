package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonogo/runner/record"
)

// plain is a text of a stranger's archive without control characters for a
// terminal to obey.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// legible is a text of several lines without what a terminal obeys: it may quote
// what a server printed, or a name from a command line. Lines after the first are
// set in, for none of them is a line of ours.
func legible(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines[1:] {
		if l := lines[1+i]; !strings.HasPrefix(l, "  ") {
			lines[1+i] = "  " + l
		}
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || strconv.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, strings.Join(lines, "\n"))
}

// plural prints "1 run", "6 runs".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func orAbsent(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

func writeJSON(w io.Writer, v any) error { return record.WriteJSON(w, v) }

// section prints the members of a record by their names in the archive.
func section[T any](w io.Writer, title string, v *T) {
	if v == nil {
		return
	}
	fmt.Fprintln(w, title)
	data, err := json.Marshal(v)
	if err != nil {
		fmt.Fprintf(w, "  %v\n", err)
		return
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		fmt.Fprintf(w, "  %v\n", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		fmt.Fprintf(w, "  %-28s %s\n", name, plain(string(members[name])))
	}
}
