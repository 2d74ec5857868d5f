package store

import (
	"context"
	"database/sql"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// objectKey identifies an object of a namespace.
type objectKey struct {
	kind change.Kind
	key  string
}

// selectDeletionsSince reads the deletions of flags and segments after a revision number,
// the first of each object first, with the positions of their creation.
const selectDeletionsSince = `SELECT c.kind, c.object_key, d.created_rev, d.created_seq FROM changes c
	LEFT JOIN change_deletions d ON d.namespace_key = c.namespace_key AND d.revision = c.revision AND d.seq = c.seq
	WHERE c.namespace_key = ? AND c.revision > ? AND c.action = 'delete' AND c.kind <> 'namespace' ORDER BY c.revision, c.seq`

// createdBefore returns the positions of the creation of those flags and segments that
// existed at the revision number and have been deleted since, and of some others. All other
// objects that existed still do, and know their position.
func (s *session) createdBefore(ctx context.Context, namespace string, number int64) (map[objectKey]guidon.Position, error) {
	created := map[objectKey]guidon.Position{}
	var unknown []objectKey // deleted by a release that did not store the position
	err := s.rows(ctx, selectDeletionsSince, []any{namespace, number}, func(rows *sql.Rows) error {
		var o objectKey
		var revision, sequence sql.NullInt64
		if err := rows.Scan(&o.kind, &o.key, &revision, &sequence); err != nil {
			return err
		}
		if _, found := created[o]; found {
			return nil
		}
		created[o] = guidon.Position{Revision: revision.Int64, Sequence: int32(sequence.Int64)} // #nosec G115 -- it was an int32
		if !revision.Valid {
			unknown = append(unknown, o)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, o := range unknown {
		if created[o], err = s.creationBefore(ctx, namespace, number, o); err != nil {
			return nil, err
		}
	}
	return created, nil
}

// selectCreationBefore reads the position of the last creation of an object up to a
// revision number.
const selectCreationBefore = `SELECT revision, seq FROM changes WHERE namespace_key = ? AND object_key = ? AND revision <= ? AND kind = ? AND action = 'create'
	ORDER BY revision DESC, seq DESC LIMIT 1`

// creationBefore returns the position of the last creation of the object up to the revision
// number, or the zero Position if there is none.
func (s *session) creationBefore(ctx context.Context, namespace string, number int64, o objectKey) (created guidon.Position, err error) {
	_, err = s.row(ctx, selectCreationBefore, []any{namespace, o.key, number, string(o.kind)}, &created.Revision, &created.Sequence)
	return created, err
}
