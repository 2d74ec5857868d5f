package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/store/filelock"
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

// How long lockFile waits for another process, and how often it polls.
const (
	lockWait = 10 * time.Second
	lockPoll = 20 * time.Millisecond
)

// FileTarget returns the path of the file itself if the path is a symbolic link.
func FileTarget(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// NewFile returns the path of the file that a command is to write: a new one or, with force, the
// one that it replaces. It must not replace a device or a directory.
func NewFile(path string, force bool) (string, error) {
	target := FileTarget(path)
	switch info, err := os.Lstat(target); {
	case err != nil: // whoever writes it says why it cannot be
	case !force:
		return "", fmt.Errorf("%s already exists; overwrite it with --force", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", path)
	}
	return target, nil
}

// updateFile replaces the file with the path, which need not exist and only the user can read, by
// what change returns. Of several processes, one at a time does.
func updateFile(ctx context.Context, path string, change func() ([]byte, error)) (err error) {
	lock, err := lockFile(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	content, err := change()
	if err != nil {
		return err
	}
	err = ReplaceFile(FileTarget(path), 0o600, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// lockFile waits up to 10 seconds until no other process changes the file with the path, and
// keeps others from it until the lock is released. The lock is a file beside it, because the
// file itself is replaced. It creates the directory of both, for the user alone.
func lockFile(ctx context.Context, path string) (lock *filelock.Lock, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot lock %s: %w", path, err)
		}
	}()
	target := FileTarget(path)
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		lock, err := filelock.Acquire(target + filelock.Suffix)
		if _, held := errors.AsType[*filelock.HeldError](err); !held {
			return lock, err
		}
		if clock.Sleep(ctx, clock.Jitter(lockPoll)) != nil {
			return nil, err
		}
	}
}
