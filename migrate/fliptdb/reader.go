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

// each calls fn for every row of the columns, which it scans into the fields. A
// column may be NULL if its name ends in a question mark. A row that cannot be read
// is reported under the name that nameOf makes of its fields. Rows of one creation
// time come in the order of insertion where the database knows that, else by the
// first column.
func (r *reader) each(ctx context.Context, a *assembly, table, columns string, fields []any, nameOf func() string, fn func(row string)) error {
	scanned := columnsOf(strings.Fields(columns), fields)
	expressions, destinations := make([]string, len(scanned)), make([]any, len(scanned))
	for i := range scanned {
		expressions[i], destinations[i] = r.expression(&scanned[i]), &scanned[i]
	}
	order := r.quote(scanned[0].name)
	if r.dialect == "sqlite" {
		order = "rowid"
	}
	rows, err := r.tx.QueryContext(ctx, "SELECT "+strings.Join(expressions, ", ")+" FROM "+r.quote(table)+" ORDER BY "+order) // #nosec G202 -- names of ours
	if err != nil {
		return fmt.Errorf("read table %s: %w", table, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(destinations...); err != nil {
			return fmt.Errorf("read table %s: %w", table, err)
		}
		if found := problems(scanned); found != "" {
			a.skip(nameOf(), "%s", found)
			continue
		}
		fn(nameOf())
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read table %s: %w", table, err)
	}
	return nil
}

// expression returns what selects the column. The driver of MySQL fails on dates
// that do not exist, such as 0000-00-00, or makes the zero time of them, so it is
// given times as texts.
func (r *reader) expression(c *column) string {
	if r.dialect == "mysql" && strings.HasSuffix(c.name, "_at") {
		return "CAST(" + r.quote(c.name) + " AS CHAR)"
	}
	return r.quote(c.name)
}

// quote makes a name out of any word, such as key and rank.
func (r *reader) quote(name string) string {
	if r.dialect == "mysql" {
		return "`" + name + "`"
	}
	return `"` + name + `"`
}
