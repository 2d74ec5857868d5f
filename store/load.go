package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/guidonhq/guidon"
)

// Snapshot implements [guidon.Store].
func (d *DB) Snapshot(ctx context.Context, namespace string) (*guidon.Snapshot, error) {
	return d.Load(ctx, namespace, nil)
}

// Load returns the current snapshot of the namespace, or NotFound. When held,
// which may be nil, is an earlier snapshot of the same namespace, only what
// changed since is read; when held is current, it is returned itself. A held
// snapshot that does not belong to the history of this database, as after a
// backup was restored, is ignored.
func (d *DB) Load(ctx context.Context, namespace string, held *guidon.Snapshot) (*guidon.Snapshot, error) {
	if namespace == guidon.AuthenticationsKey || !storable(namespace) {
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
	var snapshot *guidon.Snapshot
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		var err error
		snapshot, err = s.load(ctx, namespace, held)
		return err
	})
	if err != nil {
		return nil, err
	}
	return snapshot, nil
}

// isCurrent asks whether the revision is the current one of an existing
// namespace: one read by primary key, without a transaction.
func (d *DB) isCurrent(ctx context.Context, namespace string, held guidon.Revision) (bool, error) {
	heads, err := d.Heads(ctx, []string{namespace})
	return heads[namespace] == held, err
}

func (s *session) load(ctx context.Context, namespace string, held *guidon.Snapshot) (*guidon.Snapshot, error) {
	h, err := s.head(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if !h.live {
		return nil, namespaceNotFound(namespace)
	}
	n := new(guidon.Namespace)
	if err := decode(h.body, n); err != nil {
		return nil, err
	}
	descends, err := s.descends(ctx, namespace, h, held)
	if err != nil {
		return nil, err
	}
	if descends {
		return s.loadDelta(ctx, n, h.revision, held)
	}
	flags, err := readAll(ctx, s, flagKind, flagKind.selectAll(), n.Key)
	if err != nil {
		return nil, err
	}
	segments, err := readAll(ctx, s, segmentKind, segmentKind.selectAll(), n.Key)
	if err != nil {
		return nil, err
	}
	return guidon.NewSnapshot(n, h.revision, flags, segments), nil
}

// descends tells whether the stored state came from the held one: its number is
// not lower, and the change records know the held revision by its stamp.
func (s *session) descends(ctx context.Context, namespace string, h head, held *guidon.Snapshot) (bool, error) {
	if held == nil || held.Revision().Number > h.revision.Number {
		return false, nil
	}
	var stamp int64
	found, err := s.row(ctx, `SELECT stamp FROM changes WHERE namespace_key = ? AND revision = ? ORDER BY seq LIMIT 1`,
		[]any{namespace, held.Revision().Number}, &stamp)
	return found && stamp == held.Revision().Stamp, err
}

func (s *session) loadDelta(ctx context.Context, n *guidon.Namespace, revision guidon.Revision, held *guidon.Snapshot) (*guidon.Snapshot, error) {
	since := held.Revision().Number
	delta := guidon.SnapshotDelta{Namespace: n, Revision: revision}
	var err error
	if delta.Flags, err = readAll(ctx, s, flagKind, flagKind.selectChanged(), n.Key, since); err != nil {
		return nil, err
	}
	if delta.Segments, err = readAll(ctx, s, segmentKind, segmentKind.selectChanged(), n.Key, since); err != nil {
		return nil, err
	}
	err = s.rows(ctx, `SELECT DISTINCT kind, object_key FROM changes WHERE namespace_key = ? AND revision > ? AND action = 'delete'`,
		[]any{n.Key, since}, func(rows *sql.Rows) error {
			var kind, key string
			if err := rows.Scan(&kind, &key); err != nil {
				return err
			}
			switch guidon.Kind(kind) {
			case guidon.KindFlag:
				delta.DeletedFlags = append(delta.DeletedFlags, key)
			case guidon.KindSegment:
				delta.DeletedSegments = append(delta.DeletedSegments, key)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return held.Apply(delta), nil
}

// readAll returns the objects of a query of the kind in creation order.
func readAll[T any](ctx context.Context, s *session, k *kind[T], query string, args ...any) ([]*T, error) {
	var all []*T
	err := s.rows(ctx, query, args, func(rows *sql.Rows) error {
		var key string
		var created guidon.ChangeCursor
		var body sql.RawBytes // decoded at once, so it need not be copied
		if err := rows.Scan(&key, &created.Revision, &created.Sequence, &body); err != nil {
			return err
		}
		object, err := k.decode(body, created)
		all = append(all, object)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *T) int { return inOrder(*k.created(a), *k.created(b)) })
	return all, nil
}
