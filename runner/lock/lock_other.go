//go:build !linux && !darwin

package lock

import (
	"errors"
	"os"
)

const noFollow = 0

func claim(*os.File, bool) (bool, error) { return false, errors.ErrUnsupported }

func exists(int) bool { return true }
