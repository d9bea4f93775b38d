package load

import (
	"fmt"

	"gonogo/runner/record"
)

func newEngine(spec *record.LoadSpec, s *stream, c clock) (engine, error) {
	switch spec.Engine {
	case "", engineEpoll:
		spec.Engine = engineEpoll
		return newEpollEngine(spec, s, c), nil
	case engineNet:
		return newNetEngine(spec, s, c), nil
	}
	return nil, fmt.Errorf("load specification: engine %q, want %s or %s", spec.Engine, engineEpoll, engineNet)
}
