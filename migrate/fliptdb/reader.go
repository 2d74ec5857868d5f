package fliptdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// reader reads tables in one transaction.
type reader struct {
	tx      *sql.Tx
	dialect string
}

func begin(ctx context.Context, db *sql.DB, dialect string) (*reader, error) {
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if dialect == "sqlite" {
		options.Isolation = sql.LevelDefault // which is as strict
	}
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	r := &reader{tx: tx, dialect: dialect}
	if dialect == "mysql" {
		// The type TIMESTAMP is shown in the session's zone, and Flipt writes UTC
		// in the zone of the server.
		if _, err := tx.ExecContext(ctx, "SET time_zone = @@GLOBAL.time_zone"); err != nil {
			return nil, errors.Join(err, r.end())
		}
	}
	return r, nil
}

func (r *reader) end() error {
	if err := r.tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

// each calls fn for every row of the columns, which it scans into the fields.
// Rows of one creation time come in the order of insertion where the database
// knows that, else by the first column.
func (r *reader) each(ctx context.Context, table, columns string, fields []any, fn func()) error {
	names := strings.Fields(columns)
	for i, name := range names {
		names[i] = r.quote(name)
	}
	order := names[0]
	if r.dialect == "sqlite" {
		order = "rowid"
	}
	rows, err := r.tx.QueryContext(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+r.quote(table)+" ORDER BY "+order) // #nosec G202 -- names of ours
	if err != nil {
		return fmt.Errorf("read table %s: %w", table, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return fmt.Errorf("read table %s: %w", table, err)
		}
		fn()
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read table %s: %w", table, err)
	}
	return nil
}

// quote makes a name out of any word, such as key and rank.
func (r *reader) quote(name string) string {
	if r.dialect == "mysql" {
		return "`" + name + "`"
	}
	return `"` + name + `"`
}
