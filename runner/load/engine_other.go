//go:build !linux

package load

import (
	"fmt"

	"gonogo/runner/record"
)

func newEngine(spec *record.LoadSpec, s *stream, c clock) (engine, error) {
	switch spec.Engine {
	case "", engineNet:
		spec.Engine = engineNet
		return newNetEngine(spec, s, c), nil
	case engineEpoll:
		return nil, fmt.Errorf("load specification: engine %s is not available on this system", engineEpoll)
	}
	return nil, fmt.Errorf("load specification: engine %q, want %s", spec.Engine, engineNet)
}
