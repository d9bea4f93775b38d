package plan

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"gonogo/runner/record"
)

func TestMatrix(t *testing.T) {
	p, err := NewMatrix(MatrixOptions{CPUs: twoCPUs, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p.Kind != record.Variants || p.Blocks < MinRounds || p.Expected > 15*time.Minute || len(p.Primary) > 0 || p.Decision != nil {
		t.Errorf("kind %q, %d blocks, %v, %d questions", p.Kind, p.Blocks, p.Expected, len(p.Primary))
	}
	if got, want := len(p.Targets), len(Variants)+4; got != want { // two plain servers, two twins
		t.Errorf("%d targets, want %d", got, want)
	}
	for _, x := range p.Targets {
		base := p.Rounds(x.Base, "post-c50")
		if (x.Base == "") != (x.Name == "go-1" || x.Name == "node-1") || x.Base != "" && base != p.Blocks || p.Rounds(x.Name, "get-open") != p.Blocks {
			t.Errorf("%s is held against %q", x.Name, x.Base)
		}
	}
	some, err := NewMatrix(MatrixOptions{CPUs: twoCPUs, Names: []string{"typed", "go-2+mutex"}, Budget: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range some.Targets {
		names = append(names, x.Name)
	}
	if want := []string{"go-1", "go-1-twin", "go-2", "go-2-twin", "go-1+typed", "go-2+mutex"}; !reflect.DeepEqual(names, want) || some.Blocks != MinRounds {
		t.Errorf("%v in %d blocks, want %v in %d", names, some.Blocks, want, MinRounds)
	}
	less, err := NewMatrix(MatrixOptions{CPUs: twoCPUs, Skip: []string{"node-1+express"}})
	if err != nil || len(less.Targets) != len(p.Targets)-1 || slices.ContainsFunc(less.Targets, func(x record.Target) bool { return x.Variant == "express" }) {
		t.Errorf("express is not left out: %v", err)
	}
	for _, name := range []string{"typd", "go-1", "node-1+typed"} {
		if _, err := NewMatrix(MatrixOptions{CPUs: twoCPUs, Names: []string{name}}); !errors.As(err, new(*UnknownTarget)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
