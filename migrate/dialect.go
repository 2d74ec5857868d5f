package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"github.com/guidonhq/guidon/store/filelock"
	"github.com/pressly/goose/v3"
)

// dialect is what migrating one kind of database needs to know of it.
type dialect struct {
	name     string
	goose    goose.Dialect
	hasTable func(ctx context.Context, db *sql.DB, name string) (bool, error)
	// lock keeps all other processes from migrating the same database.
	lock func(ctx context.Context, db *sql.DB) (release func() error, err error)
}

func dialectNamed(name string) (dialect, error) {
	if name == sqlite.name {
		return sqlite, nil
	}
	return dialect{}, fmt.Errorf("migrate: unknown dialect %q", name)
}

var sqlite = dialect{
	name:  "sqlite",
	goose: goose.DialectSQLite3,
	hasTable: func(ctx context.Context, db *sql.DB, name string) (bool, error) {
		var n int
		err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?`, name).Scan(&n)
		return n > 0, err
	},
	lock: func(ctx context.Context, db *sql.DB) (func() error, error) {
		// A lock file rather than a transaction: goose's own, one for each step,
		// cannot be put inside another, and between them a second process would
		// decide by versions that are no longer true.
		var file string
		err := db.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file)
		if err != nil {
			return nil, err
		}
		if file == "" {
			return func() error { return nil }, nil // in memory: nobody else can see it
		}
		return filelock.Wait(ctx, filepath.Clean(file)+".migrate.lock")
	},
}
