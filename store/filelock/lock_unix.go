//go:build unix && !solaris && !illumos && !aix

package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// maxReplaced is how often a file may be replaced while it is being locked.
const maxReplaced = 100

func acquire(path string) (*Lock, error) {
	for range maxReplaced {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // #nosec G304 -- the operator's own choice
		if err != nil {
			return nil, err
		}
		lock, err := lockOpen(file, path)
		if !errors.Is(err, ErrReplaced) {
			return lock, err
		}
	}
	return nil, fmt.Errorf("cannot lock file %q: %w", path, ErrReplaced)
}

// lockOpen locks the open file, or closes it and returns an error. The error is
// ErrReplaced if the path named another file by the time it was locked.
func lockOpen(file *os.File, path string) (lock *Lock, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if other := holderHere(info); other != nil { // moved here after Acquire checked
		other.files = append(other.files, file)
		return nil, &HeldError{Path: path, Holder: Holder{PID: os.Getpid()}}
	}
	if onNetwork(file) {
		// These file systems implement flock by fcntl locks: SQLite would wait for its
		// own process.
		return lockSeparate(info, path, file.Close())
	}
	if err := flock(file, syscall.LOCK_EX); err != nil {
		if errors.Is(err, errHeld) {
			err = &HeldError{Path: path, Holder: holderOf(info)}
		}
		return nil, errors.Join(err, file.Close())
	}
	lock = &Lock{path: path, info: info, files: []*os.File{file}}
	if err := errors.Join(lock.Verify(), lockedByOldRelease(path)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return lock, nil
}

// lockSeparate locks the file by a separate one. closed is the error of closing the
// file.
func lockSeparate(info fs.FileInfo, path string, closed error) (*Lock, error) {
	if closed != nil {
		return nil, closed
	}
	lockPath := path + Suffix
	for range maxReplaced {
		file, err := os.OpenFile(lockPath, os.O_RDWR|os.O_CREATE, 0o600) // #nosec G304 -- next to the operator's own choice
		if err != nil {
			return nil, err
		}
		err = flock(file, syscall.LOCK_EX)
		if errors.Is(err, errHeld) {
			err = &HeldError{Path: path, Holder: readHolder(file)}
		}
		if err == nil && !leadsTo(lockPath, file) {
			_ = file.Close() // its last holder removed it before it was locked
			continue
		}
		if err == nil {
			err = writeHolder(file)
		}
		lock := &Lock{path: path, info: info, files: []*os.File{file}, lockPath: lockPath}
		if err == nil {
			err = lock.Verify()
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return lock, nil
	}
	return nil, fmt.Errorf("cannot lock file %q: %w", lockPath, ErrReplaced)
}

// unlock removes a separate lock file while it is still locked, so that no process
// can hold a lock on a file that is about to be removed.
func (l *Lock) unlock() error {
	var removed error
	if l.lockPath != "" {
		removed = os.Remove(l.lockPath)
	}
	return errors.Join(removed, closeAll(l.files))
}

// lockedByOldRelease returns a *HeldError if the file is locked by a process of an
// older release, which always locks a separate file. It checks with a shared lock, so
// that concurrent checks do not conflict.
func lockedByOldRelease(path string) error {
	file, err := os.Open(path + Suffix) // #nosec G304 -- next to the operator's own choice
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot check for the lock of an older release: %w", err)
	}
	defer file.Close()
	if errors.Is(flock(file, syscall.LOCK_SH), errHeld) {
		return &HeldError{Path: path, Holder: readHolder(file)}
	}
	return nil
}

// leadsTo reports whether the path names the open file.
func leadsTo(path string, file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

var errHeld = syscall.EWOULDBLOCK

// flock locks the open file without waiting.
func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB) // #nosec G115 -- a file descriptor is small
		switch {
		case err == nil, errors.Is(err, errHeld):
			return err
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOLCK):
			return fmt.Errorf("%w: flock: %w", ErrUnsupported, err)
		default:
			return fmt.Errorf("flock: %w", err)
		}
	}
}

// Links returns the number of hard links of the file.
func Links(path string) (int, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("cannot count the hard links of file %q: %w", path, ErrUnsupported)
	}
	return int(stat.Nlink), nil // #nosec G115 -- far below the limit on every file system
}
