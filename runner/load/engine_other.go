//go:build !linux

package load

import (
	"fmt"

	"gonogo/runner/record"
)

// Engines are those of this system, the default first.
func Engines() []string { return []string{engineNet} }

func newEngine(spec *record.LoadSpec, s *stream, c clock) (engine, error) {
	switch spec.Engine {
	case "", engineNet:
		spec.Engine = engineNet
		return newNetEngine(spec, s, c), nil
	case engineEpoll:
		return nil, fmt.Errorf("%w: engine %s is not available on this system", ErrSpec, engineEpoll)
	}
	return nil, fmt.Errorf("%w: engine %q, want %s", ErrSpec, spec.Engine, engineNet)
}
