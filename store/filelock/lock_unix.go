//go:build unix && !solaris && !illumos && !aix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

var errHeld = syscall.EWOULDBLOCK

func lock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) // #nosec G115 -- a file descriptor is small
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
