package machine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/store/filelock"
)

// How long LockFile waits for another process, and how often it polls.
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

// LockFile waits up to 10 seconds until no other process changes the file with the path, and
// keeps others from it until the lock is released. The lock is a file beside it, because the
// file itself is replaced. Lock creates the directory of both, for the user alone. The path
// must not be a symbolic link; see [Target].
func LockFile(ctx context.Context, path string) (*filelock.Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		lock, err := filelock.Acquire(path + filelock.Suffix)
		if _, held := errors.AsType[*filelock.HeldError](err); !held {
			return lock, err
		}
		if clock.Sleep(ctx, clock.Jitter(lockPoll)) != nil {
			return nil, err
		}
	}
}
