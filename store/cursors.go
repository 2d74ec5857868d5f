package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// inHistory is the condition that the cursor p counts: the log has its revision with its
// stamp. Records of the revisions of cursors are therefore not deleted. With EXISTS,
// databases may search all records of the revision, or hash the whole log.
const inHistory = `(SELECT h.stamp FROM changes h WHERE h.namespace_key = p.namespace_key AND h.revision = p.revision ORDER BY h.namespace_key, h.revision, h.seq LIMIT 1) = p.stamp`

// readersInNamespaces selects from all readers r and namespaces n, with the cursor p of the
// reader in the namespace, which is NULL at the beginning of the log.
const readersInNamespaces = ` FROM change_readers r CROSS JOIN namespaces n
	LEFT JOIN change_cursors p ON p.reader_name = r.reader_name AND p.namespace_key = n.namespace_key AND ` + inHistory

// selectChanged reads a page of the namespaces whose newest record a reader has not passed.
// It compares that of the current revision, which is never deleted, because not all
// databases can search from the position of a row.
const selectChanged = `SELECT n.namespace_key, n.revision, COALESCE(p.revision, 0), COALESCE(p.seq, 0)` + readersInNamespaces + `
	WHERE r.reader_name = ? AND n.namespace_key > ? AND n.revision >= COALESCE(p.revision, 0)
		AND (SELECT u.seq FROM changes u WHERE u.namespace_key = n.namespace_key AND u.revision = n.revision
			ORDER BY u.namespace_key DESC, u.revision DESC, u.seq DESC LIMIT 1)
			> CASE WHEN n.revision = p.revision THEN p.seq ELSE -1 END
	ORDER BY n.namespace_key LIMIT ?`

// selectFirstUnread reads the first record of a namespace after a position.
var selectFirstUnread = `SELECT revision, happened_at FROM changes WHERE namespace_key = ? AND ` + afterPosition + oldestFirst

// ChangedNamespaces implements [service.ChangeReaders].
func (d *DB) ChangedNamespaces(ctx context.Context, reader, after string, limit int) ([]service.ChangedNamespace, error) {
	if limit <= 0 {
		return nil, errors.New("store: invalid query for changed namespaces: limit must be positive")
	}
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]service.ChangedNamespace, error) {
		if err := s.mustHaveReader(ctx, reader); err != nil {
			return nil, err
		}
		return s.changedNamespaces(ctx, reader, after, limit)
	})
}

func (s *session) changedNamespaces(ctx context.Context, reader, after string, limit int) ([]service.ChangedNamespace, error) {
	args := []any{reader, after, limit}
	all, err := collect(ctx, s, selectChanged, args, func(rows *sql.Rows) (n service.ChangedNamespace, err error) {
		err = rows.Scan(&n.Key, &n.Revisions, &n.Position.Revision, &n.Position.Sequence)
		if n.Position.Revision == 0 {
			n.Position = change.After(0)
		}
		return n, err
	})
	if err != nil {
		return nil, err
	}
	oldest, since := make([]int64, len(all)), make([]int64, len(all))
	for i, n := range all {
		args := append(append([]any{n.Key}, positionArgs(n.Position)...), 1)
		if _, err := s.rowLater(ctx, selectFirstUnread, args, &oldest[i], &since[i]); err != nil {
			return nil, err
		}
	}
	if err := s.flush(ctx); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Revisions += 1 - oldest[i]
		all[i].Since = time.UnixMicro(since[i]).UTC()
	}
	return all, nil
}

// selectPosition reads the position of a reader's cursor in a namespace.
const selectPosition = `SELECT p.revision, p.seq FROM change_cursors p WHERE p.reader_name = ? AND p.namespace_key = ? AND ` + inHistory

// AdvanceReader implements [service.ChangeReaders].
func (d *DB) AdvanceReader(ctx context.Context, reader string, from guidon.Position, past *change.Record) error {
	return d.write(ctx, func(ctx context.Context, s *session) error { return s.advance(ctx, reader, from, past) })
}

func (s *session) advance(ctx context.Context, reader string, from guidon.Position, past *change.Record) error {
	if compareCursors(past.Cursor(), from) <= 0 {
		return errors.New("store: invalid advance of a reader: the record must be after the position")
	}
	if service.CheckReaderName(reader) != nil {
		return readerNotFound(reader)
	}
	if err := s.checkAdvance(ctx, reader, from, past); err != nil {
		return err
	}
	return s.putCursor(ctx, reader, past)
}

// selectStampAt reads the stamp of the record at a position.
const selectStampAt = "SELECT stamp FROM changes" + atPosition

// lockReader locks a reader until the transaction ends, so that its cursors do not move.
const lockReader = "UPDATE change_readers SET created_at = created_at WHERE reader_name = ?"

// checkAdvance returns an error unless the reader's cursor may be moved from the position to
// the record. It locks the reader.
func (s *session) checkAdvance(ctx context.Context, reader string, from guidon.Position, past *change.Record) error {
	namespace := logKey(past.Kind, past.Namespace)
	if err := s.later(ctx, lockReader, reader); err != nil {
		return err
	}
	var ignored int
	registered, err := s.rowLater(ctx, selectReader, []any{reader}, &ignored)
	if err != nil {
		return err
	}
	at := change.After(0)
	if _, err := s.rowLater(ctx, selectPosition, []any{reader, namespace}, &at.Revision, &at.Sequence); err != nil {
		return err
	}
	var stamp int64
	record, err := s.rowLater(ctx, selectStampAt, atPositionArgs(namespace, past.Cursor()), &stamp)
	if err != nil {
		return err
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	switch {
	case !registered.found:
		return readerNotFound(reader)
	case at != from:
		return guidon.Errorf(guidon.FailedPrecondition, "the cursor of reader %q in namespace %q has moved", reader, namespace)
	case !record.found || stamp != past.Stamp:
		return guidon.Errorf(guidon.FailedPrecondition, "namespace %q has lost revision %d: a backup was restored", namespace, past.Revision)
	}
	return nil
}

// putCursor moves the reader's cursor in the namespace of the record to the record.
func (s *session) putCursor(ctx context.Context, reader string, at *change.Record) error {
	namespace, now := logKey(at.Kind, at.Namespace), transactionTime().UnixMicro()
	found, err := s.exec(ctx,
		`UPDATE change_cursors SET revision = ?, seq = ?, stamp = ?, updated_at = ? WHERE reader_name = ? AND namespace_key = ?`,
		at.Revision, at.Sequence, at.Stamp, now, reader, namespace)
	if err != nil || found > 0 {
		return err
	}
	insert := newInsert(s, "change_cursors", cursorColumns)
	insert.Add(ctx, 0, reader, namespace, at.Revision, at.Sequence, at.Stamp, now)
	return insert.Flush(ctx)
}

// selectReached reads the revision of the first of the cursors in a namespace.
const selectReached = `SELECT COALESCE(p.revision, 0)` + readersInNamespaces + ` WHERE n.namespace_key = ? ORDER BY COALESCE(p.revision, 0) LIMIT 1`

// reached returns the revision of the namespace that all readers have reached: they have
// passed the records of earlier ones. If there are no readers, it is the largest one.
func (s *session) reached(ctx context.Context, namespace string) (revision int64, err error) {
	found, err := s.row(ctx, selectReached, []any{namespace}, &revision)
	if !found {
		revision = math.MaxInt64
	}
	return revision, err
}

// selectBeforeRevision reads the last record of a namespace before a revision.
const selectBeforeRevision = `SELECT revision, seq, stamp FROM changes WHERE namespace_key = ? AND revision < ?
	ORDER BY namespace_key DESC, revision DESC, seq DESC LIMIT 1`

// selectNewest reads the revision of the newest record of a namespace.
const selectNewest = `SELECT revision FROM changes WHERE namespace_key = ? ORDER BY namespace_key DESC, revision DESC, seq DESC LIMIT 1`

// RewindReader implements [service.ChangeReaders].
func (d *DB) RewindReader(ctx context.Context, reader, namespace string, revision int64) error {
	if service.CheckReaderName(reader) != nil {
		return readerNotFound(reader)
	}
	return d.write(ctx, func(ctx context.Context, s *session) error {
		if err := s.later(ctx, lockReader, reader); err != nil {
			return err
		}
		if err := s.mustHaveReader(ctx, reader); err != nil {
			return err
		}
		var newest int64
		if _, err := s.row(ctx, selectNewest, []any{namespace}, &newest); err != nil {
			return err
		}
		if revision > newest {
			return guidon.Errorf(guidon.InvalidArgument, "revision %d is after the newest change of %q, which is revision %d", revision, namespace, newest)
		}
		return s.rewind(ctx, reader, namespace, revision)
	})
}

func (s *session) rewind(ctx context.Context, reader, namespace string, revision int64) error {
	head := &change.Record{Namespace: namespace}
	found, err := s.row(ctx, selectBeforeRevision, []any{namespace, revision}, &head.Revision, &head.Sequence, &head.Stamp)
	if err != nil {
		return err
	}
	if !found { // the beginning of the log
		return s.later(ctx, `DELETE FROM change_cursors WHERE reader_name = ? AND namespace_key = ?`, reader, namespace)
	}
	at := change.After(0)
	if _, err := s.row(ctx, selectPosition, []any{reader, namespace}, &at.Revision, &at.Sequence); err != nil {
		return err
	}
	if compareCursors(head.Cursor(), at) >= 0 { // it has not come so far
		return nil
	}
	if namespace == service.AuthenticationsKey {
		head.Namespace, head.Kind = "", change.KindAuthentication
	}
	return s.putCursor(ctx, reader, head)
}
