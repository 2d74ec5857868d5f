package store

import (
	"context"
	"strings"
)

// Bounds of one INSERT: few enough parameters for every database, few enough
// bytes for every packet limit, except where one row is larger by itself.
const (
	insertRows  = 50
	insertBytes = 1 << 20
)

// insert gathers rows of one table and inserts many with one statement: what
// an import costs over a network is the number of round trips.
type insert struct {
	s       *session
	table   string
	columns []string
	rows    int
	bytes   int
	args    []any
}

func newInsert(s *session, table string, columns []string) *insert {
	return &insert{s: s, table: table, columns: columns}
}

// add adds a row of about size bytes.
func (i *insert) add(ctx context.Context, size int, values ...any) error {
	if i.rows == insertRows || i.rows > 0 && i.bytes+size > insertBytes {
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	i.args = append(i.args, values...)
	i.rows++
	i.bytes += size
	return nil
}

// flush inserts the rows that are left.
func (i *insert) flush(ctx context.Context) error {
	if i.rows == 0 {
		return nil
	}
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(i.columns)), ", ") + ")"
	query := "INSERT INTO " + i.table + " (" + strings.Join(i.columns, ", ") + ") VALUES " +
		strings.TrimSuffix(strings.Repeat(row+", ", i.rows), ", ")
	err := i.s.later(ctx, query, i.args...)
	i.rows, i.bytes, i.args = 0, 0, nil
	return err
}
