package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"github.com/guidonhq/guidon"
)

// newProvider returns goose's runner of the steps. It does not access the database.
func newProvider(db *sql.DB, d dialect) (*goose.Provider, error) {
	fsys, err := steps(d.name)
	if err != nil {
		return nil, err
	}
	store, err := d.steps()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectCustom, db, fsys,
		goose.WithStore(store),
		goose.WithGoMigrations(goMigrations()...),
		goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()),
	)
}

// appliedVersions returns the steps that have been applied. It reads the version table
// itself, because goose would create the table even for a read.
func appliedVersions(ctx context.Context, db *sql.DB, d dialect) ([]int64, error) {
	exists, err := hasVersionTable(ctx, db, d)
	if err != nil || !exists {
		return nil, err
	}
	store, err := d.steps()
	if err != nil {
		return nil, err
	}
	list, err := store.ListMigrations(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("cannot list the schema steps: %w", err)
	}
	var versions []int64
	for _, m := range list {
		if m.Version != 0 { // goose's marker that the table exists
			versions = append(versions, m.Version)
		}
	}
	return versions, nil
}

// appliedTimes returns when each step was applied.
func appliedTimes(ctx context.Context, db *sql.DB, d dialect) (map[int64]time.Time, error) {
	times := map[int64]time.Time{}
	versions, err := appliedVersions(ctx, db, d)
	if err != nil {
		return nil, err
	}
	store, err := d.steps()
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		result, err := store.GetMigration(ctx, db, version)
		if err != nil {
			return nil, fmt.Errorf("cannot read schema step %d: %w", version, err)
		}
		times[version] = result.Timestamp.UTC()
	}
	return times, nil
}

// ownTables are the tables of the first step whose names other programs may use too.
var ownTables = []string{"namespaces", "flags", "segments", "changes", "authentications"}

// hasVersionTable reports whether the version table exists. It is created before all
// other tables. So without it, tables with the same names as ours belong to another
// program, and a step must not modify them.
func hasVersionTable(ctx context.Context, db *sql.DB, d dialect) (bool, error) {
	foreign := ""
	// Some databases do not list all tables as of the same moment. A second attempt is
	// needed in case the tables are being created.
	for range 2 {
		names, err := d.listTables(ctx, db)
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

// unknown returns the steps in times, sorted by version. They are the steps that the
// program does not know, so they have no names.
func unknown(times map[int64]time.Time) []Step {
	var all []Step
	for _, version := range slices.Sorted(maps.Keys(times)) {
		all = append(all, Step{Version: version, AppliedAt: times[version]})
	}
	return all
}

// createVersions creates the version table if it does not exist. The caller must hold the
// lock.
func createVersions(ctx context.Context, db *sql.DB, d dialect) error {
	store, err := d.steps()
	if err != nil {
		return err
	}
	if _, own := store.(stepStore); !own {
		return nil // goose creates it
	}
	if err := store.CreateVersionTable(ctx, db); err != nil {
		return fmt.Errorf("cannot create the table of the schema steps: %w", err)
	}
	return nil
}

// stepStore is goose's store of the applied steps, for all databases except SQLite. Its
// table is the same in all of them, the times are those of this process's clock, and a
// step cannot be recorded twice. The values are numbers, so the queries need no
// placeholders, whose form depends on the dialect.
type stepStore struct{}

var _ database.StoreExtender = stepStore{}

func newStepStore() (database.Store, error) { return stepStore{}, nil }

const createVersionTable = `CREATE TABLE IF NOT EXISTS ` + versionTable + ` (
    version_id BIGINT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (version_id)
)`

func (stepStore) Tablename() string { return versionTable }

// TableExists prevents goose from creating the table, which it would do in one transaction
// with the first row. [Up] has created it already.
func (stepStore) TableExists(context.Context, database.DBTxConn) (bool, error) { return true, nil }

func (stepStore) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	_, err := db.ExecContext(ctx, createVersionTable)
	return err
}

func (stepStore) Insert(ctx context.Context, db database.DBTxConn, request database.InsertRequest) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf(`INSERT INTO `+versionTable+` (version_id, applied_at) VALUES (%d, %d)`,
		request.Version, time.Now().UnixMicro())) // #nosec G201 -- numbers
	return err
}

// Delete would be for rolling back steps, which is not supported.
func (stepStore) Delete(context.Context, database.DBTxConn, int64) error {
	return database.ErrNotImplemented
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

func (stepStore) GetLatestVersion(ctx context.Context, db database.DBTxConn) (int64, error) {
	var version int64
	err := db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM `+versionTable).Scan(&version)
	return version, err
}

// ListMigrations returns the newest step first. The last one is version zero, by which
// goose recognizes that the table is initialized.
func (stepStore) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	rows, err := db.QueryContext(ctx, `SELECT version_id FROM `+versionTable+` ORDER BY version_id DESC`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*database.ListMigrationsResult
	for rows.Next() {
		m := &database.ListMigrationsResult{IsApplied: true}
		if err := rows.Scan(&m.Version); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return append(all, &database.ListMigrationsResult{IsApplied: true}), rows.Err()
}
