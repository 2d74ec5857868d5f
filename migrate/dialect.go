package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// dialect is how one kind of database is migrated.
type dialect struct {
	name   string
	tables string // a query for the names of all tables
	// steps returns the store of the steps that have been applied.
	steps func() (database.Store, error)
	// lock prevents all other processes from migrating the same database until
	// release is called. The migration must use the returned context, which ends
	// if the lock is lost.
	lock func(ctx context.Context, db *sql.DB, d dialect) (held context.Context, release func() error, err error)
}

var dialects = []dialect{
	{
		name:   "sqlite",
		tables: `SELECT name FROM sqlite_master WHERE type = 'table'`,
		// SQLite files have always had goose's own table.
		steps: func() (database.Store, error) { return database.NewStore(goose.DialectSQLite3, versionTable) },
		lock:  lockNothing,
	},
	{name: "postgres", tables: tablesOfPostgres, steps: newStepStore, lock: lockRow},
	{name: "cockroach", tables: tablesOfPostgres, steps: newStepStore, lock: lockRow},
	{
		name:   "mysql",
		tables: `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()`,
		steps:  newStepStore,
		lock:   lockRow,
	},
}

const tablesOfPostgres = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`

func dialectNamed(name string) (dialect, error) {
	i := slices.IndexFunc(dialects, func(d dialect) bool { return d.name == name })
	if i < 0 {
		return dialect{}, fmt.Errorf("migrate: unknown dialect %q", name)
	}
	return dialects[i], nil
}

func (d dialect) listTables(ctx context.Context, db *sql.DB) (names []string, err error) {
	rows, err := db.QueryContext(ctx, d.tables)
	if err != nil {
		return nil, fmt.Errorf("cannot list the tables: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("cannot list the tables: %w", err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("cannot list the tables: %w", err)
	}
	return names, nil
}

// lockNothing is the lock of SQLite: the caller of [Up] must have exclusive access to the
// file.
func lockNothing(ctx context.Context, _ *sql.DB, _ dialect) (context.Context, func() error, error) {
	return ctx, func() error { return nil }, nil
}
