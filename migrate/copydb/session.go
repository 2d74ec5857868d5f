package copydb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// session is a transaction on the source or the target.
type session struct {
	tx *sql.Tx
	db *store.DB
}

// beginSource starts a transaction that reads one snapshot of the source.
func beginSource(ctx context.Context, from *store.DB) (*session, error) {
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if !from.Shared() {
		options.Isolation = sql.LevelDefault // which is serializable
	}
	tx, err := from.SQL().BeginTx(ctx, options)
	return &session{tx, from}, err
}

// beginTarget starts the transaction on the target. It checks that the target is empty, and
// deletes the seed.
func beginTarget(ctx context.Context, to *store.DB) (*session, error) {
	tx, err := to.SQL().BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	s := &session{tx, to}
	if err := s.clear(ctx); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *session) clear(ctx context.Context) error {
	// This locks every namespace, so that a server that runs on the target cannot write
	// between the check and the copy.
	if _, err := s.exec(ctx, "UPDATE namespaces SET revision = revision"); err != nil {
		return err
	}
	if err := s.checkEmpty(ctx); err != nil {
		return err
	}
	for i := range tables {
		if _, err := s.exec(ctx, "DELETE FROM "+tables[i].name); err != nil {
			return err
		}
	}
	return nil
}

// checkEmpty returns FailedPrecondition if the target has more than the seed.
func (s *session) checkEmpty(ctx context.Context) error {
	// The seed is the namespace "default" at revision 1 with its change record, and the
	// authentications at revision 0.
	for _, check := range []struct {
		what, query string
		want        int64
	}{
		{"namespaces", "SELECT COUNT(*) FROM namespaces", 2},
		{"flags", "SELECT COUNT(*) FROM flags", 0},
		{"segments", "SELECT COUNT(*) FROM segments", 0},
		{"authentications", "SELECT COUNT(*) FROM authentications", 0},
		{"change records", "SELECT COUNT(*) FROM changes", 1},
		{"change records", "SELECT COALESCE(SUM(revision), 0) FROM namespaces", 1},
		{"readers of the change log", "SELECT COUNT(*) FROM change_readers", 0},
		{"counts of evaluations", "SELECT COUNT(*) FROM evaluation_minutes", 0},
		{"counts of evaluations", "SELECT COUNT(*) FROM evaluation_series", 0},
		{"favorites", "SELECT COUNT(*) FROM favorites", 0},
	} {
		var n int64
		if err := s.tx.QueryRowContext(ctx, check.query).Scan(&n); err != nil {
			return err
		}
		if n != check.want {
			return guidon.Errorf(guidon.FailedPrecondition,
				"the database is not empty: it already has %s; specify one that no server has used", check.what)
		}
	}
	return nil
}

// each calls fn with the values of every row. It reads pages in the order of the primary
// key, so that no statement runs for long.
func (s *session) each(ctx context.Context, t *table, fn func(values []any) error) error {
	var last []any
	for {
		n, next, err := s.page(ctx, t, last, fn)
		if err != nil {
			return err
		}
		if n < pageRows {
			return nil
		}
		last = next
	}
}

// page calls fn with the rows after the last key. It returns their number and the key of
// the last one.
func (s *session) page(ctx context.Context, t *table, last []any, fn func(values []any) error) (n int, next []any, err error) {
	query, args := t.selectPage(last)
	rows, err := s.tx.QueryContext(ctx, s.db.Bind(query), args...)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := t.newRow()
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			return n, nil, err
		}
		values := valuesOf(row)
		if err := fn(values); err != nil {
			return n, nil, err
		}
		n, next = n+1, values[:t.keys]
	}
	return n, next, rows.Err()
}

func (s *session) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return s.tx.ExecContext(ctx, s.db.Bind(query), args...)
}

// end rolls back the transaction unless it has been committed.
func (s *session) end() { _ = s.tx.Rollback() }

// readBackTimeout limits the attempt to find out whether a commit succeeded.
const readBackTimeout = 15 * time.Second

// commit commits the copy. If the connection is lost at that moment, it queries the target
// to find out whether the commit succeeded: then the target has the stamp of the source.
func commit(ctx context.Context, source, target *session, to *store.DB) error {
	want, err := source.stamp(ctx)
	if err != nil {
		return err
	}
	cause := target.tx.Commit()
	if cause == nil {
		return nil
	}
	readCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
	defer cancel()
	got, err := readBack(readCtx, to)
	switch {
	case err != nil:
		return &guidon.Error{Code: guidon.Unavailable, Err: cause,
			Message: "the connection to the target was lost during the commit, so it is unknown whether the copy succeeded;" +
				" run the command again: it either copies, or reports that the target is not empty, because the copy is complete"}
	case got == want:
		return nil
	}
	return cause
}

// readBack returns the stamp of the target after the transaction in doubt has been
// committed or rolled back.
func readBack(ctx context.Context, to *store.DB) (int64, error) {
	tx, err := to.SQL().BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	s := &session{tx, to}
	defer s.end()
	// As long as that transaction is open, it holds the lock of this row.
	if _, err := s.exec(ctx, "UPDATE namespaces SET revision = revision WHERE namespace_key = ?", service.AuthenticationsKey); err != nil {
		return 0, err
	}
	return s.stamp(ctx)
}

func (s *session) stamp(ctx context.Context) (int64, error) {
	var n int64
	query := s.db.Bind("SELECT stamp FROM namespaces WHERE namespace_key = ?")
	err := s.tx.QueryRowContext(ctx, query, service.AuthenticationsKey).Scan(&n)
	return n, err
}
