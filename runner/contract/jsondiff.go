package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// decode reads one JSON value and nothing else. Numbers stay as they are written.
func decode(body []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, errors.Is(err, io.EOF)
}

// comparison gathers where two JSON values differ.
type comparison struct {
	other  string   // whose value the second is
	ignore []string // names of members
	paths  []string
}

func (c *comparison) say(path, format string, a ...any) {
	c.paths = append(c.paths, path+": "+fmt.Sprintf(format, a...))
}

// compare walks two values side by side.
func (c *comparison) compare(path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			c.objects(path, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			c.arrays(path, x, y)
			return
		}
	case json.Number:
		if y, ok := b.(json.Number); ok && sameNumber(x.String(), y.String()) {
			return
		}
	default: // string, bool, nil
		if a == b {
			return
		}
	}
	c.say(path, "%s, %s has %s", brief(a), c.other, brief(b))
}

func (c *comparison) objects(path string, a, b map[string]any) {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.Contains(c.ignore, name) {
			continue
		}
		x, inA := a[name]
		y, inB := b[name]
		switch at := path + step(name); {
		case !inA:
			c.say(at, "absent, %s has %s", c.other, brief(y))
		case !inB:
			c.say(at, "%s, absent at %s", brief(x), c.other)
		default:
			c.compare(at, x, y)
		}
	}
}

func (c *comparison) arrays(path string, a, b []any) {
	if len(a) != len(b) {
		c.say(path, "%d elements, %s has %d", len(a), c.other, len(b))
	}
	for i := range min(len(a), len(b)) {
		c.compare(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])
	}
}

// step is a member's part of a path.
func step(name string) string {
	plain := name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
	if plain {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}

// brief is a value on one short line.
func brief(v any) string {
	switch x := v.(type) {
	case map[string]any:
		return fmt.Sprintf("an object of %d members", len(x))
	case []any:
		return fmt.Sprintf("an array of %d elements", len(x))
	case string:
		return capped(x)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// held notes which of the names occur in a body.
func held(body []byte, names []string, seen map[string]bool) {
	if len(names) == 0 {
		return
	}
	v, ok := decode(body)
	if !ok {
		return
	}
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			for name, y := range x {
				seen[name] = seen[name] || slices.Contains(names, name)
				walk(y)
			}
		case []any:
			for _, y := range x {
				walk(y)
			}
		}
	}
	walk(v)
}

// sameNumber compares two JSON numbers by value and not by float64: 1.0 is 1e0, and
// 2^53 is not 2^53 + 1. Exponents are never written out, so a hostile one costs
// nothing.
func sameNumber(a, b string) bool {
	x, okA := asDecimal(a)
	y, okB := asDecimal(b)
	return a == b || okA && okB && x == y
}

// decimal is a number as digits x 10^exponent, without zeros at either end.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

func asDecimal(text string) (d decimal, ok bool) {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, e := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, e = rest[:i], rest[i+1:]
		n, err := strconv.ParseInt(strings.TrimPrefix(e, "+"), 10, 32)
		if err != nil {
			return d, false
		}
		d.exponent = n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exponent -= int64(len(fraction))
	all := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(all, "0")
	d.exponent += int64(len(all) - len(d.digits))
	if d.digits == "" {
		return decimal{}, true // 0 and -0 alike
	}
	d.negative = negative
	return d, true
}
