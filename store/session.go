package store

import (
	"context"
	"database/sql"
	"errors"
)

// session runs the statements of one transaction. The first failed statement
// ends it: some databases roll back by themselves then, and what came after
// would be committed one by one.
type session struct {
	db     *DB
	tx     *sql.Tx
	failed error
}

// exec runs a statement and returns how many rows it changed.
func (s *session) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	result, err := s.tx.ExecContext(ctx, s.db.dialect.query(query), args...)
	if err != nil {
		return 0, s.fail(ctx, err)
	}
	n, err := result.RowsAffected()
	return n, s.fail(ctx, err)
}

// row scans the one row of a query and tells whether there was one.
func (s *session) row(ctx context.Context, query string, args []any, dest ...any) (bool, error) {
	if s.failed != nil {
		return false, s.failed
	}
	err := s.tx.QueryRowContext(ctx, s.db.dialect.query(query), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, s.fail(ctx, err)
}

// rows calls scan for every row of a query.
func (s *session) rows(ctx context.Context, query string, args []any, scan func(rows *sql.Rows) error) (err error) {
	if s.failed != nil {
		return s.failed
	}
	rows, err := s.tx.QueryContext(ctx, s.db.dialect.query(query), args...)
	if err != nil {
		return s.fail(ctx, err)
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = s.fail(ctx, closeErr)
		}
	}()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return s.fail(ctx, err)
		}
	}
	return s.fail(ctx, rows.Err())
}

func (s *session) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s.failed = s.db.classify(ctx, err)
	return s.failed
}
