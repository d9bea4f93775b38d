//go:build !linux

package stub

import (
	"errors"
	"fmt"
)

func leaveCPUs() error { return fmt.Errorf("leave CPUs: %w", errors.ErrUnsupported) }
