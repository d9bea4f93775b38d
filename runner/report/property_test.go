package report

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"gonogo/runner/findings"
	"gonogo/runner/record"
)

// TestAnythingValidCanBePrinted spoils a session at random places, as a damaged
// or a hostile archive might be, and prints what still validates.
func TestAnythingValidCanBePrinted(t *testing.T) {
	whole := everyDoubt()
	for i := range whole.Runs[4:] { // decoding takes nearly all of the time
		whole.Runs[4+i].Load.Service = nil
	}
	data, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	printed := 0
	rapid.Check(t, func(t *rapid.T) {
		var s record.Session
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		spoil(rng, reflect.ValueOf(&s.Plan).Elem(), rapid.IntRange(0, 1).Draw(t, "plan"))
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			spoil(rng, reflect.ValueOf(&s.Runs[rng.IntN(len(s.Runs))]).Elem(), 4)
		}
		if s.Validate() != nil {
			return
		}
		printed++
		e := findings.Evaluate(&s)
		for name, w := range Formats {
			var b bytes.Buffer
			if err := w(&b, &s, e); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
	if printed == 0 {
		t.Error("nothing was printed: the test shows nothing")
	}
}

// spoil changes about n members, chosen by walking down at random.
func spoil(rng *rand.Rand, v reflect.Value, n int) {
	for range n {
		at := v
		for range 5 {
			switch at.Kind() {
			case reflect.Struct:
				at = at.Field(rng.IntN(at.NumField()))
				continue
			case reflect.Slice:
				if at.Len() > 0 && rng.IntN(3) > 0 {
					at = at.Index(rng.IntN(at.Len()))
					continue
				}
			case reflect.Pointer:
				if !at.IsNil() && rng.IntN(3) > 0 {
					at = at.Elem()
					continue
				}
			}
			break
		}
		if !at.CanSet() {
			continue
		}
		switch at.Kind() {
		case reflect.Int, reflect.Int64:
			at.SetInt([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}[rng.IntN(5)])
		case reflect.Uint64:
			at.SetUint([]uint64{0, 1, math.MaxUint64}[rng.IntN(3)])
		case reflect.Float64:
			at.SetFloat([]float64{0, -1, 1e308, 5e-324}[rng.IntN(4)])
		case reflect.String:
			at.SetString([]string{"", "=1+1", "a\nb|c", "\x1b[2J\u202e\xff", "表"}[rng.IntN(5)])
		default:
			at.SetZero()
		}
	}
}
