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
		options.Isolation = sql.LevelDefault // which is serializable
	}
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	r := &reader{tx: tx, dialect: dialect}
	if dialect == "mysql" {
		// TIMESTAMP values are converted to the time zone of the session, and Flipt
		// writes UTC in the time zone of the server.
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

// each scans the columns of every row into the fields and calls fn, with the name that
// nameOf returns for the fields. A column may be NULL if its name ends in a question mark.
// A column that cannot be read is a problem of the row, but for its times. Rows are read in
// the order of insertion if the database knows it, and otherwise in the order of the first
// column. Sorting by creation time keeps that order for equal times.
func (r *reader) each(ctx context.Context, a *assembly, table, columns string, fields []any, nameOf func() string, fn func(row)) error {
	scanned := columnsOf(strings.Fields(columns), fields)
	expressions, destinations := make([]string, len(scanned)), make([]any, len(scanned))
	for i := range scanned {
		expressions[i], destinations[i] = r.expression(&scanned[i]), &scanned[i]
	}
	order := r.quote(scanned[0].name)
	if r.dialect == "sqlite" {
		order = "rowid"
	}
	rows, err := r.tx.QueryContext(ctx, "SELECT "+strings.Join(expressions, ", ")+" FROM "+r.quote(table)+" ORDER BY "+order) // #nosec G202 -- constant names
	if err != nil {
		return fmt.Errorf("cannot read table %s: %w", table, err)
	}
	defer rows.Close()
	named := make(map[string]bool)
	for rows.Next() {
		if err := rows.Scan(destinations...); err != nil {
			return fmt.Errorf("cannot read table %s: %w", table, err)
		}
		x := newRow(nameOf(), scanned)
		if named[x.name] && x.problem == "" {
			x.problem = "there are several such rows"
		}
		named[x.name] = true
		for _, c := range scanned {
			if c.err != nil && c.isStamp() {
				a.note(x.name, "%s; the time of the import replaces it", c.problem())
			}
		}
		fn(x)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("cannot read table %s: %w", table, err)
	}
	return nil
}

// expression returns the SQL expression of the column. The MySQL driver fails on invalid
// dates such as 0000-00-00, or returns the zero time, so times are read as strings.
func (r *reader) expression(c *column) string {
	if r.dialect == "mysql" && strings.HasSuffix(c.name, "_at") {
		return "CAST(" + r.quote(c.name) + " AS CHAR)"
	}
	return r.quote(c.name)
}

// quote quotes a name, because some are keywords, such as key and rank.
func (r *reader) quote(name string) string {
	if r.dialect == "mysql" {
		return "`" + name + "`"
	}
	return `"` + name + `"`
}
