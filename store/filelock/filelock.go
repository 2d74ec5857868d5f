// Package filelock locks a file for one process at a time.
//
// On Unix the lock is an flock on the file itself. Every path to the file, through
// whatever links, has the same lock, and there is no lock file to delete. The lock
// does not interact with fcntl locks, which SQLite uses. On Windows and on network
// file systems, where this does not work, the lock is a second file next to the
// first, with the suffix [Suffix].
//
// The system releases the lock when the process ends, however it ends.
package filelock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/guidonhq/guidon/internal/lists"
)

// Suffix is appended to the path of a file to form that of its separate lock file.
const Suffix = ".lock"

// HeldError is the error of [Acquire] for a file that is locked already, perhaps by
// this process.
type HeldError struct {
	Path   string // as given to Acquire
	Holder Holder
}

// Error names the file and its holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("file %q is in use by %s", e.Path, e.Holder)
}

// Holder is the process that holds a lock.
type Holder struct {
	PID  int    // 0 if unknown
	Host string // empty if it is this host
}

// String names the process as far as it is known.
func (h Holder) String() string {
	switch {
	case h.PID == 0:
		return "another process, whose id is unknown"
	case h.Host != "":
		return fmt.Sprintf("process %d on host %q", h.PID, h.Host)
	}
	return fmt.Sprintf("process %d", h.PID)
}

// ErrReplaced is the error of [Lock.Verify] if the path no longer names the locked
// file, and of [Acquire] if the file is replaced again and again.
var ErrReplaced = errors.New("the file was replaced, moved or removed while it was in use")

// ErrUnsupported is the error of [Acquire] if the system or the file system does not
// support locks.
var ErrUnsupported = errors.New("file locks are not supported here")

// Lock is a locked file. Its methods are safe for concurrent use.
type Lock struct {
	path     string
	info     fs.FileInfo
	files    []*os.File // open as long as the lock is held
	lockPath string     // of the separate lock file, or ""
}

// held holds the locks of this process. On Unix, closing any descriptor of a file
// drops the fcntl locks that the process has on it. So a file that this process uses
// must not even be opened to find out that it is locked.
var held struct {
	mu    sync.Mutex
	locks []*Lock
}

// Acquire locks the file and creates it, for its owner only, if it does not exist. It
// does not wait: it returns a *[HeldError] if the file is locked already, and
// [ErrUnsupported] if it cannot be locked. The caller must resolve symbolic links
// first, and must not use the file before Acquire returns or after Release. Acquire
// is safe for concurrent use.
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

// Verify returns [ErrReplaced] if the path now names another file or none. The lock
// then protects a file that no other process can find by that path.
func (l *Lock) Verify() error {
	info, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, l.info) {
		return ErrReplaced
	}
	return err
}

// Separate reports whether the lock is a second file, which stays locked if the first
// one is replaced.
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

func closeAll(files []*os.File) error {
	return errors.Join(lists.Map(files, (*os.File).Close)...)
}

// writeHolder writes the id and host of this process into a separate lock file.
func writeHolder(file *os.File) error {
	host, _ := os.Hostname() // the process id alone is useful too
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt(fmt.Appendf(nil, "%d %s\n", os.Getpid(), host), 0)
	return err
}

// readHolder returns the process that a separate lock file names. The file must be
// locked: only then was it certainly written by its current holder.
func readHolder(file io.ReaderAt) Holder {
	text := make([]byte, 512)
	n, err := file.ReadAt(text, 0)
	if err != nil && err != io.EOF {
		return Holder{}
	}
	var holder Holder
	if _, err := fmt.Sscan(string(text[:n]), &holder.PID, &holder.Host); err != nil && holder.PID <= 0 {
		return Holder{}
	}
	if host, err := os.Hostname(); err == nil && host == holder.Host {
		holder.Host = ""
	}
	return holder
}
