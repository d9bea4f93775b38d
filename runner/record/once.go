package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Once reports the first member that an object within a JSON text has twice. Of two,
// package json takes the last and says nothing, also where their names differ in
// case alone: of two prices the reader of a file would see the first, and the
// decision would rest on the other. A text that is no JSON is left to its decoder.
func Once(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		names  map[string]bool // nil for a list
		isName bool            // the next token is a name
	}
	var open []level
	for {
		token, err := d.Token()
		if err != nil { // the end, or no JSON
			return nil
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open) - 1; n >= 0 && open[n].names != nil {
			if open[n].isName {
				name, _ := token.(string)
				// Folded as package json does: K and the Kelvin sign are one letter.
				folded := strings.ToLower(strings.ToUpper(name))
				if open[n].names[folded] {
					return fmt.Errorf("member %.60q is there twice", name)
				}
				open[n].names[folded], open[n].isName = true, false
				continue
			}
			open[n].isName = true
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{map[string]bool{}, true})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}

// Strictly reads one JSON value, written by a person: a member that does not exist, a
// member that is there twice and anything behind the value are errors.
func Strictly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return Once(text)
}
