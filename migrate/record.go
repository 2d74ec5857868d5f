package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3/database"
)

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
