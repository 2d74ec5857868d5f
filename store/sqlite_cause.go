package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// openError says which database cannot be opened, why, and what helps.
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

// Explain returns an error that names the file, why it cannot be used and what
// helps, if that is why err came about, and otherwise err. It is for commands and
// the start of a server; requests get a [guidon.Error], which names no path. Of a
// database that is not SQLite the error is returned as it is.
func (d *DB) Explain(err error) error {
	if d.file == nil {
		return err
	}
	if cause := fileCause(d.path, err); cause != nil {
		return fmt.Errorf("cannot use the database %q: %w", d.path, cause)
	}
	return err
}

// fileCause returns why the system or SQLite failed with the file, in plain
// words, or nil if that is unknown.
func fileCause(path string, err error) error {
	switch code := sqliteCode(err) & 0xff; code {
	case 0:
		return systemCause(err)
	case sqliteNotADB:
		return errors.New("it is not an SQLite database, or it is damaged at its beginning; name another file, or restore a backup")
	case sqliteCorrupt:
		return fmt.Errorf("the file is damaged (%w); restore a backup", err)
	case sqliteFull:
		return errDiskFull
	case sqliteBusy, sqliteLocked:
		return fmt.Errorf("another program, which is not Guidon, has locked it for SQLite (%w); close that program", err)
	case sqliteReadOnly, sqliteIOErr, sqliteCantOpen:
		// SQLite does not say why. The system does, if it refuses the same again.
		return systemCause(tryWriting(filepath.Dir(path)))
	}
	return nil
}

var errDiskFull = errors.New("the disk is full; free some space")

// systemCause returns what an error of the system means, or nil if it is none
// that is known.
func systemCause(err error) error {
	where := ""
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		where = fmt.Sprintf(" (%s %q)", e.Op, e.Path)
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return errDiskFull
	case errors.Is(err, syscall.EDQUOT):
		return errors.New("the quota of the disk is used up; free some space")
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("its file system is read-only%s; mount it writable, or name a file elsewhere", where)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("user id %d has no permission to write there%s; SQLite writes to the file and to others next to it in the folder", os.Geteuid(), where)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("a part of its path is a file, not a directory%s", where)
	case errors.Is(err, syscall.ELOOP):
		return errors.New("its symbolic links lead in a circle")
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("too many files are open (%w); raise the limit", err)
	}
	return nil
}

// trialSize is more than SQLite writes next to a file in order to open it.
const trialSize = 256 << 10

// tryWriting writes a file in the folder and removes it. It returns the system's
// error, which names the cause that SQLite's codes leave out.
func tryWriting(folder string) error {
	file, err := os.CreateTemp(folder, ".guidon-trial-*")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, trialSize))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// sideFileCause returns which of the files that SQLite keeps next to the database
// cannot be opened, or nil. No connection may be open: see [sqliteFile.release].
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
			return fmt.Errorf("user id %d cannot write to a file that belongs to it (%w); give that user the permission, or the file", os.Geteuid(), err)
		}
	}
	return nil
}
