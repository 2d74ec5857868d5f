package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

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

// claim is the next revision of a namespace, and with it the lock on everything
// of the namespace until the transaction ends.
type claim struct {
	stamp   int64
	row     *row
	stored  head
	deleted int
}

// claim asks for the claim, which is there after the session's next flush.
func (s *session) claim(ctx context.Context, key string) (*claim, error) {
	c := &claim{stamp: newStamp()}
	if err := s.later(ctx, `UPDATE namespaces SET revision = revision + 1, stamp = ? WHERE namespace_key = ?`, c.stamp, key); err != nil {
		return nil, err
	}
	var err error
	c.row, err = s.rowLater(ctx, selectHead, []any{key},
		&c.stored.revision.Number, &c.stored.revision.Stamp, &c.deleted, &c.stored.body)
	return c, err
}

// head returns the head with the revision that was claimed. A namespace without
// a row locks nothing: two that create it at once meet at the primary key, and
// one of them runs again.
func (c *claim) head() (head, error) {
	h := c.stored
	h.stored, h.live = c.row.found, c.row.found && c.deleted == 0
	switch {
	case !h.stored:
		return head{revision: guidon.Revision{Number: 1, Stamp: c.stamp}}, nil
	case h.revision.Stamp != c.stamp:
		return head{}, &retryable{errCreatedMeanwhile}
	}
	return h, nil
}

// errCreatedMeanwhile means that the row was not there to be locked, but was a
// moment later.
var errCreatedMeanwhile = errors.New("store: the namespace was created meanwhile")

// maxHeads bounds the keys of one statement.
const maxHeads = 500

// Heads returns the current revisions of those of the keys that are namespaces:
// one statement by primary key, without a transaction. [guidon.AuthenticationsKey] may
// be among the keys. All are as of some moment after the call began, though not
// all of the same when there are more than 500.
func (d *DB) Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error) {
	heads := make(map[string]guidon.Revision, len(keys))
	for chunk := range slices.Chunk(keys, maxHeads) {
		if err := d.addHeads(ctx, chunk, heads); err != nil {
			return nil, err
		}
	}
	return heads, nil
}

func (d *DB) addHeads(ctx context.Context, keys []string, heads map[string]guidon.Revision) error {
	args := make([]any, 0, len(keys))
	for _, key := range keys {
		if storable(key) {
			args = append(args, key)
		}
	}
	if len(args) == 0 {
		return nil
	}
	query := `SELECT namespace_key, revision, stamp FROM namespaces WHERE deleted = 0 AND namespace_key IN (?` +
		strings.Repeat(", ?", len(args)-1) + `)`
	return d.query(ctx, query, args, func(rows *sql.Rows) error {
		var key string
		var r guidon.Revision
		err := rows.Scan(&key, &r.Number, &r.Stamp)
		heads[key] = r
		return err
	})
}

// Namespaces returns every namespace in creation order.
func (d *DB) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	var all []*guidon.Namespace
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		all = nil
		return s.rows(ctx, `SELECT body FROM namespaces WHERE deleted = 0 AND namespace_key <> ? ORDER BY created_seq, namespace_key`,
			[]any{guidon.AuthenticationsKey}, func(rows *sql.Rows) error {
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
