package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// newProvider returns goose's runner over our steps. It touches nothing yet.
func newProvider(db *sql.DB, d dialect) (*goose.Provider, error) {
	fsys, err := steps(d.name)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(d.goose, db, fsys,
		goose.WithTableName(versionTable),
		goose.WithGoMigrations(goMigrations()...),
		goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()),
	)
}

// appliedTimes returns when each step was applied. It asks the version table
// itself, since goose would create the table even to look at it.
func appliedTimes(ctx context.Context, db *sql.DB, d dialect) (map[int64]time.Time, error) {
	times := map[int64]time.Time{}
	exists, err := d.hasTable(ctx, db, versionTable)
	if err != nil {
		return nil, fmt.Errorf("look for the schema steps: %w", err)
	}
	if !exists {
		return times, nil
	}
	store, err := database.NewStore(d.goose, versionTable)
	if err != nil {
		return nil, err
	}
	list, err := store.ListMigrations(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("list the schema steps: %w", err)
	}
	for _, m := range list {
		if m.Version == 0 { // goose's mark that the table is there
			continue
		}
		result, err := store.GetMigration(ctx, db, m.Version)
		if err != nil {
			return nil, fmt.Errorf("read schema step %d: %w", m.Version, err)
		}
		times[m.Version] = result.Timestamp.UTC()
	}
	return times, nil
}

// unknown returns the steps that no source accounts for, by version.
func unknown(times map[int64]time.Time) []Step {
	var all []Step
	for _, version := range slices.Sorted(maps.Keys(times)) {
		all = append(all, Step{Version: version, AppliedAt: times[version]})
	}
	return all
}
