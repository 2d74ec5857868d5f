package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/guidonhq/guidon"
)

// schema is the schema of a database.
type schema struct {
	dialect
	db    *sql.DB
	steps *goose.Provider // runs them
}

// schemaOf returns the schema of the database, which it does not access.
func schemaOf(db *sql.DB, name string) (*schema, error) {
	i := slices.IndexFunc(dialects, func(d dialect) bool { return d.name == name })
	if i < 0 {
		return nil, fmt.Errorf("migrate: unknown dialect %q", name)
	}
	s := &schema{dialect: dialects[i], db: db}
	fsys, err := steps(s.name)
	if err != nil {
		return nil, err
	}
	store := database.Store(stepStore{})
	if s.create == "" {
		if store, err = database.NewStore(goose.DialectSQLite3, versionTable); err != nil {
			return nil, err
		}
	}
	s.steps, err = goose.NewProvider(goose.DialectCustom, db, fsys,
		goose.WithStore(store),
		goose.WithGoMigrations(goMigrations()...),
		goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()),
	)
	return s, err
}

// appliedSteps returns when each step was applied. It reads the version table itself, because
// goose would create the table even for a read.
func (s *schema) appliedSteps(ctx context.Context) (map[int64]time.Time, error) {
	exists, err := s.hasVersionTable(ctx)
	if err != nil || !exists {
		return nil, err
	}
	times := map[int64]time.Time{}
	err = list(ctx, s.db, "schema steps", s.applied, func(rows *sql.Rows) error {
		var version, at int64
		err := rows.Scan(&version, &at)
		times[version] = time.UnixMicro(at).UTC()
		return err
	})
	return times, err
}

// ownTables are the tables of the first step whose names other programs may use too.
var ownTables = []string{"namespaces", "flags", "segments", "changes", "authentications"}

// hasVersionTable reports whether the version table exists. It is created before all
// other tables. So without it, tables with the same names as ours belong to another
// program, and a step must not modify them.
func (s *schema) hasVersionTable(ctx context.Context) (bool, error) {
	foreign := ""
	// Some databases do not list all tables as of the same moment. A second attempt is
	// needed in case the tables are being created.
	for range 2 {
		names, err := s.listTables(ctx, s.db)
		if err != nil {
			return false, err
		}
		if slices.Contains(names, versionTable) {
			return true, nil
		}
		i := slices.IndexFunc(names, func(name string) bool { return slices.Contains(ownTables, name) })
		if i < 0 {
			return false, nil
		}
		foreign = names[i]
	}
	return false, guidon.Errorf(guidon.FailedPrecondition,
		"the database has a table %q of another program; use a separate database", foreign)
}

// stepStore is goose's store of the applied steps, for all databases except SQLite. Its
// table is the same in all of them, the times are those of this process's clock, and a
// step cannot be recorded twice. The values are numbers, so the queries need no
// placeholders, whose form depends on the dialect. It has the methods that goose calls to
// apply one step.
type stepStore struct{ database.Store }

var _ database.StoreExtender = stepStore{}

const createVersionTable = `CREATE TABLE IF NOT EXISTS ` + versionTable + ` (
    version_id BIGINT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (version_id)
)`

func (stepStore) Tablename() string { return versionTable }

// TableExists prevents goose from creating the table, which it would do in one transaction
// with the first row. [Up] has created it already.
func (stepStore) TableExists(context.Context, database.DBTxConn) (bool, error) { return true, nil }

func (stepStore) Insert(ctx context.Context, db database.DBTxConn, request database.InsertRequest) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf(`INSERT INTO `+versionTable+` (version_id, applied_at) VALUES (%d, %d)`,
		request.Version, time.Now().UnixMicro())) // #nosec G201 -- numbers
	return err
}

func (stepStore) GetMigration(ctx context.Context, db database.DBTxConn, version int64) (*database.GetMigrationResult, error) {
	var at int64
	err := db.QueryRowContext(ctx, fmt.Sprintf(`SELECT applied_at FROM `+versionTable+` WHERE version_id = %d`, version)).Scan(&at) // #nosec G201 -- a number
	if errors.Is(err, sql.ErrNoRows) {
		return nil, database.ErrVersionNotFound
	}
	if err != nil {
		return nil, err
	}
	return &database.GetMigrationResult{Timestamp: time.UnixMicro(at), IsApplied: true}, nil
}
