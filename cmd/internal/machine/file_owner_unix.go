//go:build unix

package machine

import (
	"io/fs"
	"os"
	"syscall"
)

// SetOwner gives f the owner and group of the other file, as far as that is permitted.
func SetOwner(f *os.File, of fs.FileInfo) {
	if owner, ok := of.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(-1, int(owner.Gid))
		_ = f.Chown(int(owner.Uid), -1)
	}
}
