package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/pressly/goose/v3"
)

// newProvider returns goose's runner over our steps. It touches nothing yet.
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

// appliedVersions returns which steps have been applied. It asks the version table
// itself, since goose would create the table even to look at it.
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
		return nil, fmt.Errorf("list the schema steps: %w", err)
	}
	var versions []int64
	for _, m := range list {
		if m.Version != 0 { // goose's mark that the table is there
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
			return nil, fmt.Errorf("read schema step %d: %w", version, err)
		}
		times[version] = result.Timestamp.UTC()
	}
	return times, nil
}

// ownTables are the tables of the first step whose names others may use too.
var ownTables = []string{"namespaces", "flags", "segments", "changes", "authentications"}

// hasVersionTable tells whether the table of the steps is there. It is created
// before all others, so that without it tables with our names are not ours, but
// those of another program, which a step must not touch.
func hasVersionTable(ctx context.Context, db *sql.DB, d dialect) (bool, error) {
	foreign := ""
	// Not every database lists the tables as of one moment: twice, in case they
	// are being created just now.
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
		"the database has a table %q that is not of this program; give this program a database of its own", foreign)
}

// unknown returns the steps that no source accounts for, by version.
func unknown(times map[int64]time.Time) []Step {
	var all []Step
	for _, version := range slices.Sorted(maps.Keys(times)) {
		all = append(all, Step{Version: version, AppliedAt: times[version]})
	}
	return all
}

// createVersions makes sure that the version table is there. It is called under
// the lock.
func createVersions(ctx context.Context, db *sql.DB, d dialect) error {
	store, err := d.steps()
	if err != nil {
		return err
	}
	if _, own := store.(stepStore); !own {
		return nil // goose does it
	}
	if err := store.CreateVersionTable(ctx, db); err != nil {
		return fmt.Errorf("create the table of the schema steps: %w", err)
	}
	return nil
}
