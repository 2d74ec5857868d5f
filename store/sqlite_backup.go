package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
)

// Backup writes a copy of an SQLite database, which may be in use, to the file at path. The
// copy is complete by itself and on the disk when Backup returns. The file must be empty or
// not exist; a new one is for its owner only. After an error the file may be incomplete.
// Backup returns FailedPrecondition for a database on a server.
func (d *DB) Backup(ctx context.Context, path string) error {
	if d.file == nil {
		return guidon.Errorf(guidon.FailedPrecondition, "database %s is on a server; back it up with the tools of that server", d.path)
	}
	if err := createPrivately(path); err != nil {
		return fmt.Errorf("cannot create the backup: %w", err)
	}
	// A connection of its own: those of the readers cannot write, not even another file,
	// and that of the writer would be missing until the backup is done.
	pool := sql.OpenDB(&fileConnector{
		driver: d.reader.Driver(), dsn: sqliteDSN(d.path, url.Values{"_pragma": {"busy_timeout(5000)"}}), file: d.file,
	})
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return fmt.Errorf("cannot write the backup: %w", d.Explain(err))
	}
	return syncFile(path) // SQLite does not
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0) // #nosec G304 -- the operator's own choice
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// OpenBackup opens a copy of an SQLite database only to read it. The file must not change
// while it is open. No other files are created beside it.
func OpenBackup(path string) (*sql.DB, error) {
	if !slices.Contains(sql.Drivers(), sqliteDriver) {
		return nil, errNoSQLite
	}
	return sql.Open(sqliteDriver, sqliteDSN(path, url.Values{"mode": {"ro"}, "immutable": {"1"}, "_pragma": {"query_only(1)"}}))
}

// CheckBackup reads all of the file, and returns FailedPrecondition unless it is an undamaged
// SQLite database of this program that is complete by itself. It does not change the file.
func CheckBackup(ctx context.Context, path string) error {
	refuse := func(format string, args ...any) error {
		return guidon.Errorf(guidon.FailedPrecondition, "%q is not a usable backup: %s", path, fmt.Sprintf(format, args...))
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	if log, err := os.Stat(path + logSuffix); err == nil && log.Size() > 0 {
		return refuse("a part of it is in %q; make backups with \"guidon backup\"", path+logSuffix)
	}
	db, err := OpenBackup(path)
	if err != nil {
		return err
	}
	defer db.Close()
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?", versionTable).Scan(&tables); err != nil {
		return refuse("%v", err)
	}
	if tables == 0 {
		return refuse("it is not a database of Guidon")
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return refuse("%v", err)
	}
	if verdict != "ok" {
		return refuse("it is damaged: %s", strings.ReplaceAll(verdict, "\n", " "))
	}
	return nil
}
