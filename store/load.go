package store

import (
	"cmp"
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
	if held != nil {
		descends, err := s.descends(ctx, namespace, h.revision.Number, held.Revision())
		if err != nil {
			return nil, err
		}
		if descends {
			delta, err := s.deltaSince(ctx, namespace, h, held.Revision().Number)
			if err != nil {
				return nil, err
			}
			return held.Apply(delta), nil
		}
	}
	whole, err := s.deltaSince(ctx, namespace, h, 0)
	if err != nil {
		return nil, err
	}
	return guidon.NewSnapshot(whole.Namespace, whole.Revision, whole.Flags, whole.Segments), nil
}

// descends reports whether the state with the revision number came from the held
// one: the number is not lower, and the change records know the held revision by
// its stamp.
func (s *session) descends(ctx context.Context, key string, number int64, held guidon.Revision) (bool, error) {
	if held.Number > number {
		return false, nil
	}
	known, found, err := s.stampAt(ctx, key, held.Number)
	return found && known == held, err
}

// deltaSince returns what has changed in a namespace after the revision number:
// everything it holds if that is zero.
func (s *session) deltaSince(ctx context.Context, namespace string, h head, since int64) (delta guidon.SnapshotDelta, err error) {
	delta.Namespace, delta.Revision = new(guidon.Namespace), h.revision
	if err := decode(h.body, delta.Namespace); err != nil {
		return delta, err
	}
	if since == 0 {
		if delta.Flags, err = readAll(ctx, s, flagKind, flagKind.selectAll(), namespace); err != nil {
			return delta, err
		}
		delta.Segments, err = readAll(ctx, s, segmentKind, segmentKind.selectAll(), namespace)
		return delta, err
	}
	if delta.Flags, err = readAll(ctx, s, flagKind, flagKind.selectChanged(), namespace, since); err != nil {
		return delta, err
	}
	if delta.Segments, err = readAll(ctx, s, segmentKind, segmentKind.selectChanged(), namespace, since); err != nil {
		return delta, err
	}
	err = s.rows(ctx, `SELECT DISTINCT kind, object_key FROM changes WHERE namespace_key = ? AND revision > ? AND action = 'delete'`,
		[]any{namespace, since}, func(rows *sql.Rows) error {
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
	return delta, err
}

// readAll returns the objects of a query of the kind in creation order.
func readAll[T any](ctx context.Context, s *session, k *kind[T], query string, args ...any) ([]*T, error) {
	var all []*T
	var malformed error // which is not the failure of a statement
	err := s.rows(ctx, query, args, func(rows *sql.Rows) error {
		var key string
		var created guidon.ChangeCursor
		var body sql.RawBytes // decoded at once, so it need not be copied
		if err := rows.Scan(&key, &created.Revision, &created.Sequence, &body); err != nil {
			return err
		}
		object, err := k.decode(body, created)
		all, malformed = append(all, object), cmp.Or(malformed, err)
		return nil
	})
	if err = cmp.Or(err, malformed); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *T) int { return inOrder(*k.created(a), *k.created(b)) })
	return all, nil
}
