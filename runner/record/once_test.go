package record

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestStrictly(t *testing.T) {
	type part struct {
		A int   `json:"a"`
		K []int `json:"k"`
	}
	type whole struct {
		Replicas int               `json:"replicas"`
		Parts    []part            `json:"parts"`
		Headers  map[string]string `json:"headers"`
	}
	for text, want := range map[string]string{
		`{"replicas":1,"parts":[{"a":1},{"a":2}],"headers":{"a":"1","b":"a"}}`: "",
		`{"replicas":1}` + " \n":                           "",
		`{"replicas":1,"replicas":1}`:                      `member "replicas" is there twice`,
		`{"replicas":3,"Replicas":30}`:                     `member "Replicas" is there twice`, // package json takes both for one
		`{"replicas":3,"\u0072eplicas":30}`:                `member "replicas" is there twice`,
		"{\"parts\":[{\"k\":[],\"\u212a\":[]}]}":           "is there twice", // the Kelvin sign
		`{"parts":[{"a":1,"k":[1]},{"a":1,"a":2}]}`:        `member "a" is there twice`,
		`{"headers":{"x":"1","x":"2"}}`:                    `member "x" is there twice`,
		`{"headers":{"replicas":"replicas"},"replicas":1}`: "",
		`{"replicas":1} {}`:                                "more than one JSON value",
		`{"replicsa":1}`:                                   "unknown field",
		``:                                                 "EOF",
		strings.Repeat(`[`, 20_000):                        "",
	} {
		err := Strictly([]byte(text), new(whole))
		if strings.HasPrefix(text, "[[") {
			if err == nil {
				t.Error("a list of lists is read as an object")
			}
			continue
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}

// FuzzOnce: what Once passes means the same however its members are ordered: to
// decode it and encode it again loses no member.
func FuzzOnce(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[{"a":2}]}`, `{"a":1,"a":2}`, `[1,2`, `{"a":{"a":{}}}`, `"x"`, `{"":0,"":1}`, "{\"k\":1,\"\u212a\":2}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := Once(text)
		var v any
		if json.Unmarshal(text, &v) != nil {
			return
		}
		got, want := members(v), strings.Count(string(mustCompact(t, text)), `":`)
		// Texts may hold `":` too, so the count is an upper bound.
		if err == nil && got > want {
			t.Fatalf("%q: %d members of %d", text, got, want)
		}
		again, encodeErr := json.Marshal(v)
		if encodeErr != nil {
			t.Fatal(encodeErr)
		}
		if err == nil && Once(again) != nil {
			t.Fatalf("%q passes and %q does not", text, again)
		}
	})
}

func members(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			n += 1 + members(x)
		}
	case []any:
		for _, x := range v {
			n += members(x)
		}
	}
	return n
}

func mustCompact(t *testing.T, text []byte) []byte {
	t.Helper()
	var v json.RawMessage
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
