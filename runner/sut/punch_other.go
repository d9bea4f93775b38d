//go:build !linux

package sut

import (
	"errors"
	"os"
)

var punch = func(*os.File, int64, int64) error { return errors.ErrUnsupported }
