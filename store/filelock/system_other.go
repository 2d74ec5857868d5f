//go:build unix && !linux && !darwin && !solaris && !illumos && !aix

package filelock

import (
	"io/fs"
	"os"
)

// onNetwork reports whether the file is known to be on a network file system.
func onNetwork(*os.File) bool { return false }

// holderOf returns the zero Holder: the system does not report the holder of a lock.
func holderOf(fs.FileInfo) Holder { return Holder{} }
