package store

import (
	"context"
	"database/sql"

	"github.com/guidonhq/guidon"
)

// head is a row of table namespaces, or the lack of one.
type head struct {
	stored   bool // there is a row
	live     bool // and the namespace exists
	revision guidon.Revision
	body     []byte
}

const selectHead = `SELECT revision, stamp, deleted, body FROM namespaces WHERE namespace_key = ?`

func (s *session) head(ctx context.Context, key string) (head, error) {
	var h head
	var deleted int
	var err error
	h.stored, err = s.row(ctx, selectHead, []any{key}, &h.revision.Number, &h.revision.Stamp, &deleted, &h.body)
	h.live = h.stored && deleted == 0
	return h, err
}

// advance takes the next revision of the namespace, and with it the lock on
// everything of the namespace until the transaction ends. It returns the head
// with that revision. A namespace without a row locks nothing: two that create
// it at once meet at the primary key, and one of them runs again.
func (s *session) advance(ctx context.Context, key string) (head, error) {
	stamp := newStamp()
	n, err := s.exec(ctx, `UPDATE namespaces SET revision = revision + 1, stamp = ? WHERE namespace_key = ?`, stamp, key)
	if err != nil {
		return head{}, err
	}
	if n == 0 {
		return head{revision: guidon.Revision{Number: 1, Stamp: stamp}}, nil
	}
	return s.head(ctx, key)
}

// Revisions returns the revision of every namespace that exists.
func (d *DB) Revisions(ctx context.Context) (map[string]guidon.Revision, error) {
	var all map[string]guidon.Revision
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		all = map[string]guidon.Revision{}
		return s.rows(ctx, `SELECT namespace_key, revision, stamp FROM namespaces WHERE deleted = 0 AND namespace_key <> ?`,
			[]any{authenticationsKey}, func(rows *sql.Rows) error {
				var key string
				var r guidon.Revision
				err := rows.Scan(&key, &r.Number, &r.Stamp)
				all[key] = r
				return err
			})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Namespaces returns every namespace in creation order.
func (d *DB) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	var all []*guidon.Namespace
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		all = nil
		return s.rows(ctx, `SELECT body FROM namespaces WHERE deleted = 0 AND namespace_key <> ? ORDER BY created_seq, namespace_key`,
			[]any{authenticationsKey}, func(rows *sql.Rows) error {
				var body []byte
				if err := rows.Scan(&body); err != nil {
					return err
				}
				n := new(guidon.Namespace)
				all = append(all, n)
				return decode(body, n)
			})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
