package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// strictly reads one JSON value into a struct, and nothing else: a member that does
// not exist, one that is there twice, a value of another kind and anything behind the
// end are errors that name the member and the line.
func strictly(data []byte, to any) error {
	w := &walk{data: data, d: json.NewDecoder(bytes.NewReader(data))}
	w.d.UseNumber()
	if err := w.value(reflect.TypeOf(to).Elem(), ""); err != nil {
		return w.at(err)
	}
	if _, err := w.d.Token(); !errors.Is(err, io.EOF) {
		return w.at(errors.New("something follows the end of the plan: take it out"))
	}
	return json.Unmarshal(data, to)
}

// walk holds a text against a type, token by token.
type walk struct {
	data []byte
	d    *json.Decoder
}

// at puts the line in front of an error.
func (w *walk) at(err error) error {
	offset := min(int(w.d.InputOffset()), len(w.data))
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		offset = min(int(syntax.Offset), len(w.data))
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(w.data[:offset], []byte("\n")), err)
}

// named is an error about a member.
func named(path, format string, a ...any) error {
	if path == "" {
		path = "the plan"
	}
	return fmt.Errorf("%s: "+format, append([]any{path}, a...)...)
}

func (w *walk) token(path string) (json.Token, error) {
	t, err := w.d.Token()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, named(path, "the file ends in the middle: it is empty or cut short")
	}
	if err != nil {
		return nil, named(path, "this is no JSON: %w", err)
	}
	return t, nil
}

// value reads the next value, which has to be of the kind that t is.
func (w *walk) value(t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := w.token(path)
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		switch {
		case v == '{' && t.Kind() == reflect.Struct:
			return w.object(t, path)
		case v == '{' && t.Kind() == reflect.Map:
			return w.texts(t, path)
		case v == '[' && t.Kind() == reflect.Slice:
			return w.list(t, path)
		}
	case string:
		if t.Kind() == reflect.String {
			return nil
		}
	case bool:
		if t.Kind() == reflect.Bool {
			return nil
		}
	case json.Number:
		return number(v, t, path)
	}
	return named(path, "it is %s; write %s", kindOf(token), wanted(t))
}

func number(v json.Number, t reflect.Type, path string) error {
	switch t.Kind() {
	case reflect.Int:
		if _, err := strconv.Atoi(v.String()); err == nil {
			return nil
		}
	case reflect.Float64:
		if _, err := v.Float64(); err == nil {
			return nil
		}
	}
	return named(path, "it is the number %.40s; write %s", v.String(), wanted(t))
}

func (w *walk) object(t reflect.Type, path string) error {
	fields := map[string]reflect.Type{}
	var valid []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name], valid = t.Field(i).Type, append(valid, name)
	}
	return w.members(path, func(name, at string) error {
		field, ok := fields[name]
		if !ok {
			return named(at, "there is no such member; %s", meant(name, valid))
		}
		return w.value(field, at)
	})
}

// texts reads an object with names of the user's own.
func (w *walk) texts(t reflect.Type, path string) error {
	return w.members(path, func(_, at string) error { return w.value(t.Elem(), at) })
}

func (w *walk) members(path string, each func(name, at string) error) error {
	seen := map[string]bool{}
	for w.d.More() {
		token, err := w.token(path)
		if err != nil {
			return err
		}
		name, _ := token.(string)
		at := strings.TrimPrefix(path+"."+printable(name), ".")
		if seen[name] {
			return named(at, "it is there twice; take one out")
		}
		seen[name] = true
		if err := each(name, at); err != nil {
			return err
		}
	}
	_, err := w.token(path)
	return err
}

func (w *walk) list(t reflect.Type, path string) error {
	for i := 0; w.d.More(); i++ {
		if err := w.value(t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	_, err := w.token(path)
	return err
}

// printable is a name as it can stand in an error.
func printable(name string) string {
	q := strconv.QuoteToASCII(name)
	if len(q) > 60 {
		q = q[:60] + `..."`
	}
	if q == `"`+name+`"` && name != "" && !strings.ContainsAny(name, " .") {
		return name
	}
	return q
}

func kindOf(t json.Token) string {
	switch v := t.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return fmt.Sprint(v)
	case json.Delim:
		if v == '[' {
			return "a list"
		}
		return "an object"
	}
	return "a number"
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return `a text, such as "x"`
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Map:
		return `an object of texts, such as {"LOG_LEVEL": "error"}`
	case reflect.Struct:
		return "an object"
	}
	if t.Elem().Kind() == reflect.Slice {
		return `a list of argument lists, such as [["make", "reset"]]`
	}
	return "a list"
}

// meant suggests the member that a name comes nearest to, or lists all.
func meant(name string, valid []string) string {
	best := slices.MinFunc(valid, func(a, b string) int { return distance(name, a) - distance(name, b) })
	if d := distance(name, best); d <= 1+len(best)/3 && d < len(best) {
		return fmt.Sprintf("did you mean %s?", best)
	}
	return "there are " + strings.Join(valid, ", ")
}

// distance is how many letters have to be changed, put in or left out (Levenshtein).
func distance(a, b string) int {
	if len(a) > 100 { // nobody's slip, and the work grows with it
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
