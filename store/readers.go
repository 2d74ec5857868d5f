package store

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

var _ service.ChangeReaders = (*DB)(nil)

// RegisterReader implements [service.ChangeReaders].
func (d *DB) RegisterReader(ctx context.Context, name string) error {
	if err := service.CheckReaderName(name); err != nil {
		return err
	}
	return d.write(ctx, func(ctx context.Context, s *session) error {
		if err := s.lockReaders(ctx); err != nil {
			return err
		}
		registered, err := s.hasReader(ctx, name)
		if err != nil {
			return err
		}
		if registered {
			return errNothingStored
		}
		var count int
		if _, err := s.row(ctx, `SELECT COUNT(*) FROM change_readers`, nil, &count); err != nil {
			return err
		}
		if count >= service.MaxChangeReaders {
			return guidon.Errorf(guidon.FailedPrecondition,
				"cannot register reader %q: %d readers are registered, which is the maximum; remove one first", name, count)
		}
		now := transactionTime().UnixMicro()
		if _, err := s.exec(ctx, `INSERT INTO change_readers (reader_name, created_at) VALUES (?, ?)`, name, now); err != nil {
			return err
		}
		return s.startAtLatest(ctx, name, now)
	})
}

// lockReaders prevents other transactions from registering readers, and from deleting
// change records, until this one ends. Otherwise a deletion that does not see a new reader
// could delete records that the reader has not passed.
func (s *session) lockReaders(ctx context.Context) error { return s.lock(ctx, "readers of changes") }

const selectReader = `SELECT 1 FROM change_readers WHERE reader_name = ?`

func (s *session) hasReader(ctx context.Context, name string) (bool, error) {
	if service.CheckReaderName(name) != nil {
		return false, nil
	}
	var ignored int
	return s.row(ctx, selectReader, []any{name}, &ignored)
}

// mustHaveReader returns NotFound unless the reader is registered.
func (s *session) mustHaveReader(ctx context.Context, name string) error {
	registered, err := s.hasReader(ctx, name)
	if err == nil && !registered {
		err = readerNotFound(name)
	}
	return err
}

// startAtLatest moves a new reader past all records. A namespace that is created later
// needs no cursor: all of its records are new.
func (s *session) startAtLatest(ctx context.Context, reader string, now int64) error {
	var keys []string
	var heads []guidon.Revision
	err := s.rows(ctx, `SELECT namespace_key, revision, stamp FROM namespaces WHERE revision > 0`, nil, func(rows *sql.Rows) error {
		var key string
		var head guidon.Revision
		err := rows.Scan(&key, &head.Number, &head.Stamp)
		keys, heads = append(keys, key), append(heads, head)
		return err
	})
	if err != nil {
		return err
	}
	insert := newInsert(s, "change_cursors", cursorColumns)
	for i, head := range heads {
		insert.Add(ctx, len(keys[i]), reader, keys[i], head.Number, int32(math.MaxInt32), head.Stamp, now)
	}
	return insert.Flush(ctx)
}

var cursorColumns = []string{"reader_name", "namespace_key", "revision", "seq", "stamp", "updated_at"}

// RemoveReader implements [service.ChangeReaders].
func (d *DB) RemoveReader(ctx context.Context, name string) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		if service.CheckReaderName(name) != nil {
			return readerNotFound(name)
		}
		found, err := s.exec(ctx, `DELETE FROM change_readers WHERE reader_name = ?`, name)
		if err != nil {
			return err
		}
		if found == 0 {
			return readerNotFound(name)
		}
		return s.later(ctx, `DELETE FROM change_cursors WHERE reader_name = ?`, name)
	})
}

func readerNotFound(name string) error {
	return guidon.Errorf(guidon.NotFound, "reader %q not found", name)
}

// Readers implements [service.ChangeReaders].
func (d *DB) Readers(ctx context.Context) ([]service.ChangeReader, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]service.ChangeReader, error) {
		all, err := collect(ctx, s, `SELECT r.reader_name, r.created_at,
			COALESCE((SELECT MAX(p.updated_at) FROM change_cursors p WHERE p.reader_name = r.reader_name), r.created_at)
			FROM change_readers r ORDER BY r.reader_name`, nil, func(rows *sql.Rows) (r service.ChangeReader, err error) {
			var registered, advanced int64
			err = rows.Scan(&r.Name, &registered, &advanced)
			r.RegisteredAt, r.AdvancedAt = time.UnixMicro(registered).UTC(), time.UnixMicro(advanced).UTC()
			return r, err
		})
		for i := range all {
			if err == nil {
				all[i].Lag, err = s.lag(ctx, all[i].Name)
			}
		}
		return all, err
	})
}

// lag returns how far the reader is behind.
func (s *session) lag(ctx context.Context, reader string) (service.ReaderLag, error) {
	const page = 500
	var lag service.ReaderLag
	after := ""
	for {
		changed, err := s.changedNamespaces(ctx, reader, after, page)
		if err != nil {
			return lag, err
		}
		for _, n := range changed {
			lag.Namespaces++
			lag.Revisions += n.Revisions
			if lag.Since.IsZero() || n.Since.Before(lag.Since) {
				lag.Since = n.Since
			}
		}
		if len(changed) < page {
			return lag, nil
		}
		after = changed[len(changed)-1].Key
	}
}
