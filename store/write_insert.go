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

// Insert collects rows of one table and inserts many with one statement: over a
// network, the cost of an import is the number of round trips.
type Insert struct {
	exec    func(ctx context.Context, query string, args ...any) error
	table   string
	columns []string
	rows    int
	bytes   int
	args    []any
	Err     error // the first one
}

func newInsert(s *session, table string, columns []string) *Insert {
	return NewInsert(table, columns, s.later)
}

// NewInsert returns an insert that runs its statements, with a ? for each value, by exec.
func NewInsert(table string, columns []string, exec func(ctx context.Context, query string, args ...any) error) *Insert {
	return &Insert{table: table, columns: columns, exec: exec}
}

// Add adds a row of about size bytes. Flush returns the error.
func (i *Insert) Add(ctx context.Context, size int, values ...any) {
	if i.rows == insertRows || i.rows > 0 && i.bytes+size > insertBytes {
		i.Err = i.Flush(ctx)
	}
	if i.Err != nil {
		return
	}
	i.args = append(i.args, values...)
	i.rows++
	i.bytes += size
}

// Flush inserts the remaining rows.
func (i *Insert) Flush(ctx context.Context) error {
	if i.rows == 0 {
		return i.Err
	}
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(i.columns)), ", ") + ")"
	query := "INSERT INTO " + i.table + " (" + strings.Join(i.columns, ", ") + ") VALUES " +
		strings.TrimSuffix(strings.Repeat(row+", ", i.rows), ", ")
	err := i.exec(ctx, query, i.args...)
	i.rows, i.bytes, i.args = 0, 0, nil
	return err
}
