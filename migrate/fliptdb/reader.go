package fliptdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
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

// maxKeyLength is the longest key that the databases can index, in characters
// (contract 4.1).
const maxKeyLength = 255

// row is one row of a table.
type row struct {
	name    string // such as `rules 6b8a…`
	problem string // why it cannot be read, but for its times, or ""
	columns []column
}

func newRow(name string, columns []column) row {
	var problems []string
	for _, c := range columns {
		if c.err != nil && !c.isStamp() {
			problems = append(problems, c.problem())
		}
	}
	return row{name: name, problem: strings.Join(problems, "; "), columns: columns}
}

// has reports whether the columns with these names could be read.
func (x row) has(names ...string) bool {
	return !slices.ContainsFunc(x.columns, func(c column) bool { return c.err != nil && slices.Contains(names, c.name) })
}

// checkKey returns why the row of an object with the key cannot be used, or "".
func (x row) checkKey(key string) string {
	if x.problem != "" {
		return x.problem
	}
	return problemOf(key)
}

// problemOf returns why a key or id cannot be stored, or "".
func problemOf(key string) string {
	switch {
	case key == "":
		return "its key is empty"
	case utf8.RuneCountInString(key) > maxKeyLength:
		return fmt.Sprintf("its key is longer than %d characters", maxKeyLength)
	}
	return ""
}

// column scans one column of a row. It stores the error instead of returning it, so that
// the other columns and rows are still read.
type column struct {
	name     string
	to       sql.Scanner
	nullable bool
	err      error
}

// columnsOf returns the columns with these names. A name ends in a question mark if the
// column may be NULL.
func columnsOf(names []string, fields []any) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		name, nullable := strings.CutSuffix(name, "?")
		columns[i] = column{name: name, to: fields[i].(sql.Scanner), nullable: nullable}
	}
	return columns
}

// Scan implements sql.Scanner.
func (c *column) Scan(value any) error {
	if c.err = c.check(value); c.err == nil {
		c.err = c.to.Scan(value)
	}
	if c.err != nil {
		c.clear(value)
	}
	return nil
}

// check returns an error if the value is invalid, whatever the type of the column.
func (c *column) check(value any) error {
	switch v := value.(type) {
	case nil:
		if !c.nullable {
			return errors.New("must not be NULL")
		}
	case []byte:
		return c.check(string(v))
	case string:
		switch {
		case !utf8.ValidString(v):
			return errors.New("not valid UTF-8")
		case strings.Contains(v, "\x00"):
			return errors.New("contains a NUL character")
		}
	}
	return nil
}

// clear removes the value of the previous row from the variable. It stores a readable form
// of a string instead, which may be used to name the row.
func (c *column) clear(value any) {
	if bytes, ok := value.([]byte); ok {
		value = string(bytes)
	}
	if text, ok := value.(string); ok && c.to.Scan(readable(text)) == nil {
		return
	}
	_ = c.to.Scan(nil) // sets the zero value
}

// maxReadable limits the displayed part of a value, in bytes.
const maxReadable = 255

// readable returns the beginning of a string. It replaces control characters and invalid
// UTF-8.
func readable(text string) string {
	text = text[:min(len(text), maxReadable)]
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// isStamp reports whether the column only says when something happened.
func (c *column) isStamp() bool {
	_, is := c.to.(stamp)
	return is
}

func (c *column) problem() string { return c.name + ": " + readable(c.err.Error()) }

// checkYear returns an error for a time that not every database can store.
func checkYear(t time.Time) error {
	if year := t.Year(); year < 1 || year > 9999 {
		return fmt.Errorf("the year %d is out of range", year)
	}
	return nil
}
