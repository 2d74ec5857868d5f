// Package filelock gives a file to one process at a time.
//
// On Unix the lock is an flock on the file itself, so every path to the file, by
// whatever links, leads to the same lock, and there is nothing to delete. It does
// not interact with locks of fcntl, which SQLite uses. Where that does not hold,
// on Windows and on network file systems, the lock is a second file, next to the
// first and with the suffix [Suffix].
//
// The system releases the lock when the process ends, however it ends.
package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Suffix is what the path of a separate lock file adds to that of the file.
const Suffix = ".lock"

// HeldError is the error of [Acquire] for a file that is locked already, perhaps
// by this process.
type HeldError struct {
	Path   string
	Holder Holder
}

// Error names the file and its holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("file %q is in use by %s", e.Path, e.Holder)
}

// Holder is the process that holds a lock.
type Holder struct {
	PID  int    // 0 if it is unknown
	Host string // empty: this one
}

// String names the process as far as it is known.
func (h Holder) String() string {
	switch {
	case h.PID == 0:
		return "another process, whose id is not visible from here"
	case h.Host != "":
		return fmt.Sprintf("process %d on host %q", h.PID, h.Host)
	}
	return fmt.Sprintf("process %d", h.PID)
}

// ErrReplaced is the error of [Lock.Verify] if the path no longer leads to the
// locked file.
var ErrReplaced = errors.New("the file was replaced, moved or removed while it was in use")

// ErrUnsupported is the error of [Acquire] where files cannot be locked.
var ErrUnsupported = errors.New("files cannot be locked here")

// Lock is a locked file. Its methods are safe for concurrent use.
type Lock struct {
	path     string
	info     fs.FileInfo
	files    []*os.File // open as long as the lock is held
	lockPath string     // the separate lock file, if there is one
}

// held are the locks of this process. On Unix, closing any descriptor of a file
// drops the fcntl locks that the process has on it. So a file that this process
// uses must not even be opened to find out that it is locked.
var held struct {
	mu    sync.Mutex
	locks []*Lock
}

// Acquire locks the file, which it creates, for the owner only, if it does not
// exist. It returns a *[HeldError] if the file is locked already. The caller must
// resolve symbolic links first, and must not use the file before Acquire returns
// or after Release.
func Acquire(path string) (*Lock, error) {
	held.mu.Lock()
	defer held.mu.Unlock()
	if info, err := os.Stat(path); err == nil && holderHere(info) != nil {
		return nil, &HeldError{Path: path, Holder: Holder{PID: os.Getpid()}}
	}
	lock, err := acquire(path)
	if err != nil {
		return nil, err
	}
	held.locks = append(held.locks, lock)
	return lock, nil
}

// holderHere returns the lock that this process has on the file, or nil. held.mu
// must be held.
func holderHere(info fs.FileInfo) *Lock {
	i := slices.IndexFunc(held.locks, func(l *Lock) bool { return os.SameFile(l.info, info) })
	if i < 0 {
		return nil
	}
	return held.locks[i]
}

// Verify returns [ErrReplaced] if the path of the file now leads to another file
// or to none. The lock then protects a file that nobody else can find.
func (l *Lock) Verify() error {
	info, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, l.info) {
		return ErrReplaced
	}
	return err
}

// Separate reports whether the lock is a second file, which stays locked if the
// first one is replaced.
func (l *Lock) Separate() bool { return l.lockPath != "" }

// Release unlocks the file. It may be called more than once.
func (l *Lock) Release() error {
	held.mu.Lock()
	defer held.mu.Unlock()
	i := slices.Index(held.locks, l)
	if i < 0 {
		return nil
	}
	held.locks = slices.Delete(held.locks, i, i+1)
	return l.unlock()
}

// closeAll closes the files.
func closeAll(files []*os.File) error {
	var errs []error
	for _, file := range files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
