package host

import (
	"errors"
	"fmt"
)

// Need is what the largest process of a session needs: the server or its
// generator, for each of them holds one end of every connection.
type Need struct {
	Files int // open descriptors
	Ports int // local ports at the same time
}

// Preflight reports what this machine cannot give, before the first run rather
// than in the middle of one. A limit that is unknown is not held against it.
//
// A server or generator has the descriptors of the hard limit, not of the soft
// one: Go raises its own soft limit at start (to just below the hard limit) and
// gives the old one back to its children, and Go and Node children raise theirs
// in the same way. What is compared is this process's limit, raised.
func Preflight(n Need) error { return here().preflight(n) }

func (m machine) preflight(n Need) error {
	var errs []error
	if have, ok := m.fileLimit(); ok && uint64(max(n.Files, 0)) > have {
		errs = append(errs, fmt.Errorf("check open files: need %d descriptors, have %d", n.Files, have))
	}
	if r, ok := m.portRange(); ok {
		reserved := m.reservedPorts(r)
		if have := r[1] - r[0] + 1 - reserved; n.Ports > have {
			errs = append(errs, fmt.Errorf("check local ports: need %d, have %d (%d to %d, %d of them reserved)", n.Ports, have, r[0], r[1], reserved))
		}
	}
	return errors.Join(errs...)
}
