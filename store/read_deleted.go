package store

import (
	"context"
	"database/sql"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// deletedObject is a flag or segment that was deleted.
type deletedObject struct {
	kind    change.Kind
	key     string
	created guidon.Position // of the object that was deleted; zero if not known
	undone  bool            // the first change has been undone
}

// deletions are the objects of a namespace that were deleted after a revision number, each
// with its first deletion.
type deletions map[change.Kind]map[string]*deletedObject

// find returns the deleted object, or nil.
func (d deletions) find(kind change.Kind, key string) *deletedObject { return d[kind][key] }

// left returns the objects whose changes have not been undone.
func (d deletions) left() []*deletedObject {
	var left []*deletedObject
	for _, objects := range d {
		for _, o := range objects {
			if !o.undone {
				left = append(left, o)
			}
		}
	}
	return left
}

// selectDeletedSince reads the deletions of flags and segments after a revision number, the
// first of each object first, with the positions of their creation.
const selectDeletedSince = `SELECT c.kind, c.object_key, d.created_rev, d.created_seq FROM changes c
	LEFT JOIN change_deletions d ON d.namespace_key = c.namespace_key AND d.revision = c.revision AND d.seq = c.seq
	WHERE c.namespace_key = ? AND c.revision > ? AND c.action = 'delete' AND c.kind <> 'namespace' ORDER BY c.revision, c.seq`

// deletedSince returns the flags and segments that were deleted after the revision number.
// Their positions are those that they had at the revision, if they existed then. All other
// objects that existed still do, and know their position.
func (s *session) deletedSince(ctx context.Context, namespace string, number int64) (deletions, error) {
	gone := deletions{change.KindFlag: {}, change.KindSegment: {}}
	var unplaced []*deletedObject // deleted by a release that did not store the position
	err := s.rows(ctx, selectDeletedSince, []any{namespace, number}, func(rows *sql.Rows) error {
		o := &deletedObject{}
		var revision, sequence sql.NullInt64
		if err := rows.Scan(&o.kind, &o.key, &revision, &sequence); err != nil {
			return err
		}
		if gone[o.kind] == nil || gone.find(o.kind, o.key) != nil {
			return nil
		}
		o.created = guidon.Position{Revision: revision.Int64, Sequence: int32(sequence.Int64)} // #nosec G115 -- it was an int32
		gone[o.kind][o.key] = o
		if !revision.Valid {
			unplaced = append(unplaced, o)
		}
		return nil
	})
	for _, o := range unplaced {
		if err == nil {
			_, err = s.row(ctx, selectLastCreation, []any{namespace, o.key, number, string(o.kind)}, &o.created.Revision, &o.created.Sequence)
		}
	}
	return gone, err
}

// selectLastCreation reads the position of the last creation of an object up to a revision
// number.
const selectLastCreation = `SELECT revision, seq FROM changes WHERE namespace_key = ? AND object_key = ? AND revision <= ? AND kind = ? AND action = 'create'
	ORDER BY revision DESC, seq DESC LIMIT 1`

// DeletedSince implements [service.Tx].
func (tx *transaction) DeletedSince(ctx context.Context, revision int64) (map[change.Object]guidon.Position, error) {
	if err := tx.ensureHead(ctx); err != nil || !tx.head.stored {
		return nil, err
	}
	gone, err := tx.s.deletedSince(ctx, tx.namespace, revision)
	positions := map[change.Object]guidon.Position{}
	for _, o := range gone.left() {
		positions[change.Object{Kind: o.kind, Key: o.key}] = o.created
	}
	return positions, err
}
