package filelock

import (
	"io/fs"
	"os"
	"syscall"
)

// mntLocal is MNT_LOCAL of <sys/mount.h>.
const mntLocal = 0x1000

// onNetwork reports whether the file is on a network file system.
func onNetwork(file *os.File) bool {
	var stat syscall.Statfs_t
	err := syscall.Fstatfs(int(file.Fd()), &stat) // #nosec G115 -- a file descriptor is small
	return err == nil && stat.Flags&mntLocal == 0
}

// holderOf returns the zero Holder: the system does not report the holder of a lock.
func holderOf(fs.FileInfo) Holder { return Holder{} }
