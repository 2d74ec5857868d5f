package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// openError returns an error that names the database and, if known, the cause and a
// remedy.
func openError(path string, err error) error {
	cause := fileCause(path, err)
	if cause == nil {
		cause = sideFileCause(path, err)
	}
	if cause == nil {
		cause = err
	}
	return fmt.Errorf("cannot open the database %q: %w", path, cause)
}

// Explain returns err with the path of the SQLite file, the cause and a remedy, if it
// is known why the file cannot be used. Otherwise, and for other databases, it
// returns err itself. To find the cause, Explain may create a file next to the
// database and remove it. It is for commands and the start of a server. The errors
// for requests name no path.
func (d *DB) Explain(err error) error {
	if d.file == nil {
		return err
	}
	if cause := fileCause(d.path, err); cause != nil {
		return fmt.Errorf("cannot use the database %q: %w", d.path, cause)
	}
	return err
}

// fileCause explains in plain words why the system or SQLite failed with the file, or
// returns nil if that is unknown.
func fileCause(path string, err error) error {
	switch code := sqliteCode(err) & 0xff; code {
	case 0:
		return systemCause(err)
	case sqliteNotADB:
		return errors.New("it is not an SQLite database, or its header is damaged; name another file, or restore a backup")
	case sqliteCorrupt:
		return fmt.Errorf("the file is damaged (%w); restore a backup", err)
	case sqliteFull:
		return errDiskFull
	case sqliteBusy, sqliteLocked:
		return fmt.Errorf("a program other than Guidon holds a lock of SQLite on it (%w); close that program", err)
	case sqliteReadOnly, sqliteIOErr, sqliteCantOpen:
		// SQLite does not say why. The system does if writing fails again.
		return systemCause(tryWriting(filepath.Dir(path)))
	}
	return nil
}

var errDiskFull = errors.New("the disk is full; free some space")

// systemCause explains an error of the system, or returns nil if it is unknown.
func systemCause(err error) error {
	where := ""
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		where = fmt.Sprintf(" (%s %q)", e.Op, e.Path)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return errDiskFull
	case errors.Is(err, syscall.EDQUOT):
		return errors.New("the disk quota is exceeded; free some space")
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("its file system is read-only%s; mount it writable, or name a file elsewhere", where)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("user id %d has no permission to write there%s; SQLite writes to the file and to others in the same directory",
			os.Geteuid(), where)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("a part of its path is a file, not a directory%s", where)
	case errors.Is(err, syscall.ELOOP):
		return errors.New("its symbolic links form a loop")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("too many files are open (%w); raise the limit", err)
	}
	return nil
}

// trialSize is more than SQLite writes next to a file in order to open it.
const trialSize = 256 << 10

// tryWriting writes a file in the directory and removes it. It returns the error of
// the system, which names the cause that SQLite's codes omit.
func tryWriting(dir string) error {
	file, err := os.CreateTemp(dir, ".guidon-trial-*")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, trialSize))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// sideFileCause reports which of the files that SQLite keeps next to the database
// cannot be opened, or returns nil. All connections must be closed; see
// [sqliteFile.release].
func sideFileCause(path string, err error) error {
	switch sqliteCode(err) & 0xff {
	case sqliteReadOnly, sqliteCantOpen, sqliteIOErr:
	default:
		return nil
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		file, err := os.OpenFile(path+suffix, os.O_RDWR, 0) // #nosec G304 -- next to the operator's own choice
		if err == nil {
			_ = file.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("user id %d cannot write to one of its side files (%w); grant that user write permission, or make it the owner",
				os.Geteuid(), err)
		}
	}
	return nil
}
