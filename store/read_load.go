package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Snapshot implements [service.Store].
func (d *DB) Snapshot(ctx context.Context, namespace string, _ service.Demand) (*guidon.Snapshot, time.Duration, error) {
	snapshot, err := d.Load(ctx, namespace, nil)
	return snapshot, 0, err
}

// Load returns the current snapshot of the namespace, or NotFound. If held, which may
// be nil, is an earlier snapshot of the same namespace, only the changes since then
// are read. If held is current, it is returned itself. A held snapshot that does not
// belong to the history of this database, as after a backup was restored, is ignored.
// The caller must not modify the returned snapshot, which may share objects with
// held. The other errors are those of [service.Store].
func (d *DB) Load(ctx context.Context, namespace string, held *guidon.Snapshot) (*guidon.Snapshot, error) {
	if namespace == service.AuthenticationsKey || !storable(namespace) {
		return nil, namespaceNotFound(namespace)
	}
	if held != nil {
		current, err := d.isCurrent(ctx, namespace, held.Revision())
		if err != nil {
			return nil, err
		}
		if current {
			return held, nil
		}
	}
	return readValue(ctx, d, func(ctx context.Context, s *session) (*guidon.Snapshot, error) {
		return s.load(ctx, namespace, held)
	})
}

// isCurrent reports whether the namespace exists and has the revision. It takes one
// query by primary key, without a transaction.
func (d *DB) isCurrent(ctx context.Context, namespace string, held guidon.Revision) (bool, error) {
	heads, err := d.Heads(ctx, []string{namespace})
	return heads[namespace] == held, err
}

func (s *session) load(ctx context.Context, namespace string, held *guidon.Snapshot) (*guidon.Snapshot, error) {
	l := &lineage{}
	if held != nil {
		l.held, l.known = held.Revision(), true
	}
	if err := l.queryStamp(ctx, s, namespace); err != nil {
		return nil, err
	}
	h, err := s.head(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if !h.live {
		return nil, namespaceNotFound(namespace)
	}
	if l.descends(h.revision.Number) {
		delta, err := s.deltaSince(ctx, namespace, h, l.held.Number)
		if err != nil {
			return nil, err
		}
		return held.Apply(delta), nil
	}
	whole, err := s.deltaSince(ctx, namespace, h, 0)
	if err != nil {
		return nil, err
	}
	return guidon.NewSnapshot(whole.Namespace, whole.Revision, whole.Flags, whole.Segments), nil
}

// deltaSince returns the changes in a namespace after the revision number, or the
// whole namespace if the number is zero.
func (s *session) deltaSince(ctx context.Context, namespace string, h head, since int64) (delta guidon.SnapshotDelta, err error) {
	if since > 0 {
		later, err := s.deltaLater(ctx, namespace, h, since)
		if err != nil {
			return delta, err
		}
		if err := s.flush(ctx); err != nil {
			return delta, err
		}
		return later()
	}
	delta.Namespace, delta.Revision = new(guidon.Namespace), h.revision
	if err := decode(h.body, delta.Namespace); err != nil {
		return delta, err
	}
	if delta.Flags, err = readAll(ctx, s, flagKind, namespace); err != nil {
		return delta, err
	}
	delta.Segments, err = readAll(ctx, s, segmentKind, namespace)
	return delta, err
}

const selectDeleted = `SELECT DISTINCT kind, object_key FROM changes WHERE namespace_key = ? AND revision > ? AND action = 'delete'`

// errResultLost is the error of a delta whose rows were not received: the transaction
// was committed, but the response was lost.
var errResultLost = errors.New("store: the result of a query was lost with the connection")

// deltaLater queries the changes in a namespace after the revision number, together
// with the next statement. The function must be called after that statement and
// returns the delta, or errResultLost.
func (s *session) deltaLater(ctx context.Context, namespace string, h head, since int64) (func() (guidon.SnapshotDelta, error), error) {
	flags, segments := &objectCollector[guidon.Flag]{kind: flagKind}, &objectCollector[guidon.Segment]{kind: segmentKind}
	args := []any{namespace, since}
	flagRows, err := s.rowsLater(ctx, flagKind.selectChanged(), args, flags.add, flags.columns(&flags.body)...)
	if err != nil {
		return nil, err
	}
	segmentRows, err := s.rowsLater(ctx, segmentKind.selectChanged(), args, segments.add, segments.columns(&segments.body)...)
	if err != nil {
		return nil, err
	}
	var kind, key string
	deleted := map[change.Kind][]string{}
	deletedRows, err := s.rowsLater(ctx, selectDeleted, args, func() {
		deleted[change.Kind(kind)] = append(deleted[change.Kind(kind)], key)
	}, &kind, &key)
	return func() (delta guidon.SnapshotDelta, err error) {
		if !flagRows.ended || !segmentRows.ended || !deletedRows.ended {
			return delta, errResultLost
		}
		delta.Namespace, delta.Revision = new(guidon.Namespace), h.revision
		delta.DeletedFlags, delta.DeletedSegments = deleted[change.KindFlag], deleted[change.KindSegment]
		if err := decode(h.body, delta.Namespace); err != nil {
			return delta, err
		}
		delta.Flags, delta.Segments = flags.result(), segments.result()
		return delta, nil
	}, err
}

// readAll returns all objects of the kind in creation order.
func readAll[T any](ctx context.Context, s *session, k *kind[T], namespace string) ([]*T, error) {
	l := &objectCollector[T]{kind: k}
	columns := l.columns((*sql.RawBytes)(&l.body)) // decoded immediately, so it need not be copied
	err := s.rows(ctx, k.selectAll(), []any{namespace}, func(rows *sql.Rows) error {
		err := rows.Scan(columns...)
		if err == nil {
			l.add()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return l.result(), nil
}

// objectCollector collects the objects of a query.
type objectCollector[T any] struct {
	kind    *kind[T]
	key     string
	created guidon.Position
	body    []byte
	all     []*T
}

// columns returns the destinations of a row, of which the last is body.
func (l *objectCollector[T]) columns(body any) []any {
	return []any{&l.key, &l.created.Revision, &l.created.Sequence, body}
}

// add adds the object of the row that was scanned.
func (l *objectCollector[T]) add() {
	l.all = append(l.all, l.kind.decode(l.key, l.body, l.created))
}

// result returns the objects in creation order.
func (l *objectCollector[T]) result() []*T {
	slices.SortFunc(l.all, func(a, b *T) int { return compareCursors(l.kind.created(a), l.kind.created(b)) })
	return l.all
}
