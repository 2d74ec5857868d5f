package migrate

import (
	"context"
	"database/sql"
	"fmt"
)

// dialect is how one kind of database is migrated.
type dialect struct {
	name    string
	tables  string // a query for the names of all tables
	applied string // a query for the versions of the applied steps, with the times in microseconds
	create  string // creates the version table; "" leaves that to goose, whose own table SQLite files have always had
	// lock prevents all other processes from migrating the same database until
	// release is called. The migration must use the returned context, which ends
	// if the lock is lost.
	lock func(ctx context.Context, db *sql.DB, d dialect) (held context.Context, release func() error, err error)
}

var dialects = []dialect{
	{
		name:    "sqlite",
		tables:  `SELECT name FROM sqlite_master WHERE type = 'table'`,
		applied: `SELECT version_id, unixepoch(tstamp) * 1000000 FROM ` + versionTable + ` WHERE version_id > 0`, // zero is goose's marker
		lock:    lockNothing,
	},
	server("postgres", tablesOfPostgres),
	server("cockroach", tablesOfPostgres),
	server("mysql", `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()`),
}

const tablesOfPostgres = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`

// server returns the dialect of a database server.
func server(name, tables string) dialect {
	return dialect{
		name: name, tables: tables, applied: `SELECT version_id, applied_at FROM ` + versionTable, create: createVersionTable, lock: lockRow,
	}
}

func (d dialect) listTables(ctx context.Context, db *sql.DB) (names []string, err error) {
	err = list(ctx, db, "tables", d.tables, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// list calls scan for each row of the query. An error says that what cannot be listed.
func list(ctx context.Context, db *sql.DB, what, query string, scan func(rows *sql.Rows) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot list the %s: %w", what, err)
		}
	}()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// lockNothing is the lock of SQLite: the caller of [Up] must have exclusive access to the
// file.
func lockNothing(ctx context.Context, _ *sql.DB, _ dialect) (context.Context, func() error, error) {
	return ctx, func() error { return nil }, nil
}
