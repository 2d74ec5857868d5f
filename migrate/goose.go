package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pressly/goose/v3"

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
