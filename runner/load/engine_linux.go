package load

import (
	"fmt"

	"gonogo/runner/record"
)

// Engines are those of this system, the default first.
func Engines() []string { return []string{engineEpoll, engineNet} }

func newEngine(spec *record.LoadSpec, s *stream, c clock) (engine, error) {
	switch spec.Engine {
	case "", engineEpoll:
		spec.Engine = engineEpoll
		return newEpollEngine(spec, s, c), nil
	case engineNet:
		return newNetEngine(spec, s, c), nil
	}
	return nil, fmt.Errorf("%w: engine %q, want %s or %s", ErrSpec, spec.Engine, engineEpoll, engineNet)
}
