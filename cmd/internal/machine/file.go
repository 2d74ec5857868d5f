package machine

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile creates or replaces the file with the output of write. It writes to a temporary
// file in the same directory, which only the owner can read, and renames it to path. The
// owner and group of a replaced file stay, as far as the process may set them. If Write
// returns an error, the file has not changed.
func ReplaceFile(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".guidon-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name())
		}
	}()
	err = write(temporary)
	if replaced, failed := os.Stat(path); err == nil && failed == nil {
		SetOwner(temporary, replaced)
	}
	if err == nil {
		err = temporary.Chmod(mode)
	}
	if err == nil {
		err = temporary.Sync()
	}
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
