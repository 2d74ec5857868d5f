package store

import (
	"context"
	"strings"
)

// Limits of one INSERT, which keep it below the parameter and packet limits of every
// database. A single row may be larger.
const (
	insertRows  = 50
	insertBytes = 1 << 20
)

// insert collects rows of one table and inserts many with one statement: over a
// network, the cost of an import is the number of round trips.
type insert struct {
	s       *session
	table   string
	columns []string
	rows    int
	bytes   int
	args    []any
	err     error // the first one
}

func newInsert(s *session, table string, columns []string) *insert {
	return &insert{s: s, table: table, columns: columns}
}

// add adds a row of about size bytes. flush returns the error.
func (i *insert) add(ctx context.Context, size int, values ...any) {
	if i.rows == insertRows || i.rows > 0 && i.bytes+size > insertBytes {
		i.err = i.flush(ctx)
	}
	if i.err != nil {
		return
	}
	i.args = append(i.args, values...)
	i.rows++
	i.bytes += size
}

// flush inserts the remaining rows.
func (i *insert) flush(ctx context.Context) error {
	if i.rows == 0 {
		return i.err
	}
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(i.columns)), ", ") + ")"
	query := "INSERT INTO " + i.table + " (" + strings.Join(i.columns, ", ") + ") VALUES " +
		strings.TrimSuffix(strings.Repeat(row+", ", i.rows), ", ")
	err := i.s.later(ctx, query, i.args...)
	i.rows, i.bytes, i.args = 0, 0, nil
	return err
}
