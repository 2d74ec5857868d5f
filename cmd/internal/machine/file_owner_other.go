//go:build !unix

package machine

import (
	"io/fs"
	"os"
)

// SetOwner does nothing: this system has no such owners.
func SetOwner(*os.File, fs.FileInfo) {}
