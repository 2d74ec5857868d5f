// Package filelock gives one process at a time a named file. The system takes
// the lock back when its holder ends, however it ends, so that a crash never
// leaves one behind.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// HeldError says that another holder, perhaps in this process, has the lock.
type HeldError struct {
	Path string
	PID  int // of the holder; 0 where it could not be read
}

// Error names the lock file and its holder.
func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("lock file %q is held by another process", e.Path)
	}
	return fmt.Sprintf("lock file %q is held by process %d", e.Path, e.PID)
}

// Try takes the lock of the file, which it creates, or returns a *[HeldError].
// release gives the lock back and removes the file; it may be called more than
// once. On systems without file locks Try returns an error that wraps
// [errors.ErrUnsupported].
func Try(path string) (release func() error, err error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // #nosec G304 -- the operator's own choice
		if err != nil {
			return nil, err
		}
		if err := lock(file); err != nil {
			pid := readPID(file)
			_ = file.Close()
			if errors.Is(err, errHeld) {
				return nil, &HeldError{Path: path, PID: pid}
			}
			return nil, fmt.Errorf("lock file %q: %w", path, err)
		}
		if !current(file, path) {
			_ = file.Close() // the holder before removed it between our open and our lock
			continue
		}
		if err := writePID(file); err != nil {
			_ = file.Close()
			return nil, err
		}
		return releaser(file, path), nil
	}
}

// pollInterval is how often Wait looks again: a lock cannot be waited for in a
// way that a context could end.
const pollInterval = 20 * time.Millisecond

// Wait takes the lock as Try does, but waits for its holder until ctx ends.
func Wait(ctx context.Context, path string) (release func() error, err error) {
	for {
		release, err := Try(path)
		if _, held := errors.AsType[*HeldError](err); !held {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(pollInterval):
		}
	}
}

// releaser removes the file while the lock is still held, so that nobody can
// hold a lock on a file that is about to vanish.
func releaser(file *os.File, path string) func() error {
	released := false
	return func() error {
		if released {
			return nil
		}
		released = true
		return errors.Join(os.Remove(path), file.Close())
	}
}

// current tells whether the path still leads to the open file.
func current(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

func readPID(file *os.File) int {
	text, err := io.ReadAll(io.LimitReader(file, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}
