//go:build !unix || solaris || illumos || aix

package filelock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

var errHeld = errors.New("held")

func lock(*os.File) error {
	return fmt.Errorf("file locks on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
