package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store/filelock"
)

// sqliteFile is the file of a database, with its locks.
type sqliteFile struct {
	path string         // without symbolic links: SQLite's log is next to the file itself
	lock *filelock.Lock // nil unless the file is opened exclusively
	log  *filelock.Lock // on SQLite's write-ahead log; nil unless that is in use
}

// openSQLiteFile ensures that there is a file that SQLite may open and, if exclusive,
// locks it.
func openSQLiteFile(path string, exclusive bool) (*sqliteFile, error) {
	file := &sqliteFile{path: path}
	err := mustBeRegular(path)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	switch {
	case err != nil:
	case exclusive:
		if file.lock, err = filelock.Acquire(path); err == nil {
			err = file.lockLog()
		}
		err = errors.Join(err, file.releaseLog()) // SQLite may still create another
	default:
		err = createPrivately(path)
	}
	if held, ok := errors.AsType[*filelock.HeldError](err); ok {
		return nil, errors.Join(inUse(path, held), file.release())
	}
	if err == nil {
		err = mustHaveOneName(path)
	}
	if err != nil {
		return nil, errors.Join(openError(path, err), file.release())
	}
	return file, nil
}

// release unlocks the file. All connections to it must be closed: closing any
// descriptor of a file drops the locks that SQLite has on it in this process.
func (f *sqliteFile) release() error {
	err := f.releaseLog()
	if f.lock != nil {
		err = errors.Join(err, f.lock.Release())
	}
	return err
}

// logSuffix is appended to the path of the file to form that of its write-ahead log.
const logSuffix = "-wal"

// lockLog locks the write-ahead log, which SQLite finds by its path. A process whose
// file was replaced still writes to it, and these writes would end up in the new
// file. SQLite has no locks on the log, so it may be opened and closed.
func (f *sqliteFile) lockLog() error {
	if f.lock == nil || f.lock.Separate() {
		return nil
	}
	path := f.path + logSuffix
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := filelock.Acquire(path)
	if err == nil {
		f.log = lock
	}
	return err
}

func (f *sqliteFile) releaseLog() error {
	if f.log == nil {
		return nil
	}
	lock := f.log
	f.log = nil
	return lock.Release()
}

// replaced reports whether the path no longer names the locked file.
func (f *sqliteFile) replaced() bool {
	return f.lock != nil && errors.Is(f.lock.Verify(), filelock.ErrReplaced)
}

// verify returns Unavailable if the path no longer names the locked file: writes to
// it would be lost.
func (f *sqliteFile) verify() error {
	if f.lock == nil {
		return nil
	}
	err := f.lock.Verify()
	if errors.Is(err, filelock.ErrReplaced) {
		return unavailable("the database file was replaced, moved or removed; the server must be restarted", err)
	}
	if err != nil {
		return unavailable(messageClosed, err)
	}
	return nil
}

// CheckFile returns Unavailable if the path of an SQLite file that was opened exclusively no
// longer names that file, as writes then fail until the server is restarted. It asks only
// the file system.
func (d *DB) CheckFile() error {
	if d.file == nil {
		return nil
	}
	return d.file.verify()
}

// inUse returns the error for a file that is locked already.
func inUse(path string, held *filelock.HeldError) error {
	message := fmt.Sprintf("the database %q is in use by %s; an SQLite file serves one process at a time", path, held.Holder)
	if held.Path != path {
		message += "; that process still uses a file that was replaced, and must be stopped first"
	}
	if err := mustHaveOneName(path); err != nil {
		message += "; " + err.Error()
	}
	return &guidon.Error{Code: guidon.Unavailable, Err: held, Message: message}
}

// mustBeRegular returns an error if the path names something other than a regular
// file: merely opening a device may have effects.
func mustBeRegular(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory; name a file")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file; name another one")
	}
	return nil
}

// mustHaveOneName returns an error if the file has several hard links.
func mustHaveOneName(path string) error {
	links, err := filelock.Links(path)
	if err != nil {
		return err
	}
	if links > 1 {
		return fmt.Errorf("the file has %d hard links, and SQLite would keep a write-ahead log for each, which corrupts it; remove the other links, or use a copy", links)
	}
	return nil
}

// createPrivately creates the file, for its owner only, unless it exists. SQLite
// gives its side files the same mode. A file that exists is not opened, because
// closing it would drop the locks of other connections in this process.
func createPrivately(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the operator's own choice
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// fileConnector makes connections to an SQLite file.
type fileConnector struct {
	driver driver.Driver
	dsn    string
	file   *sqliteFile
}

// Driver implements [driver.Connector].
func (c *fileConnector) Driver() driver.Driver { return c.driver }

// Connect implements [driver.Connector]. The driver opens a path, which may name
// another file by now. Connections to different files would return different data.
func (c *fileConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := ctx.Err(); err != nil { // the driver ignores it
		return nil, err
	}
	if err := c.file.verify(); err != nil {
		return nil, err
	}
	conn, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if err := c.file.verify(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

var sqliteParameters = regexp.MustCompile(`\?[A-Za-z_]+=`)

// sqlitePath returns the absolute path, without symbolic links, of the file that
// the rest of a URL names.
func sqlitePath(rest string) (string, error) {
	path := strings.TrimPrefix(rest, "//")
	switch {
	case path == "":
		return "", errors.New("the database URL names no file; use sqlite:path")
	case strings.Contains(path, ":memory:"), strings.Contains(path, "mode=memory"):
		return "", errors.New("in-memory databases are not supported; name a file")
	case sqliteParameters.MatchString(path):
		return "", errors.New("parameters in the database URL are not supported for SQLite; name only the file")
	case strings.ContainsRune(path, 0):
		return "", errors.New("the database URL contains a NUL character")
	}
	real, err := resolve(path, maxLinks)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return "", openError(path, err)
	}
	return real, nil
}

// maxLinks limits the symbolic links of a path whose file does not exist yet. It is
// the limit of Linux. If the file exists, the limit of the system applies.
const maxLinks = 40

// resolve returns the path without symbolic links, even if their target does not
// exist yet. It follows at most the given number of links whose target does not
// exist.
func resolve(path string, links int) (string, error) {
	if trimmed := strings.TrimRight(path, string(filepath.Separator)); trimmed != "" {
		path = trimmed // the system follows a link that ends with a separator
	}
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir, name := filepath.Split(path)
	if target, err := os.Readlink(path); err == nil {
		switch {
		case links == 0:
			return "", errors.New("too many symbolic links")
		case !filepath.IsAbs(target):
			target = dir + target
		}
		return resolve(target, links-1)
	}
	if dir == "" {
		return path, nil
	}
	if dir, err = resolve(dir, links); err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}
