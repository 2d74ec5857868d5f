package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// head is the state of a namespace in the table namespaces.
type head struct {
	stored   bool // there is a row
	live     bool // there is a row, and the namespace is not deleted
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

// claim is the next revision of a namespace. It includes the lock on the whole
// namespace until the transaction ends.
type claim struct {
	stamp   int64
	row     *row
	stored  head
	deleted int
}

// claim queues the statements of a claim, which can be read after the next flush of
// the session.
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

// head returns the head with the claimed revision. A namespace without a row cannot
// be locked: if two transactions create it concurrently, one violates the primary key
// and runs again.
func (c *claim) head() (head, error) {
	h := c.stored
	h.stored, h.live = c.row.found, c.row.found && c.deleted == 0
	switch {
	case !h.stored:
		return head{revision: guidon.Revision{Number: 1, Stamp: c.stamp}}, nil
	case h.revision.Stamp != c.stamp:
		return head{}, &retryable{errCreatedConcurrently}
	}
	return h, nil
}

// errCreatedConcurrently means that the row did not exist when the transaction tried
// to lock it, but existed when it was read.
var errCreatedConcurrently = errors.New("store: the namespace was created concurrently")

// maxHeads limits the keys of one statement.
const maxHeads = 500

// Heads returns the current revisions of the namespaces with the keys. It omits keys
// of namespaces that do not exist. [service.AuthenticationsKey] may be among the keys.
// Each revision was current at some moment after the call began, but not all at the
// same moment if there are more than 500 keys. Heads runs one query by primary key
// for every 500 keys, without a transaction. The errors are those of [service.Store].
func (d *DB) Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error) {
	heads := make(map[string]guidon.Revision, len(keys))
	args := make([]any, 0, len(keys))
	for _, key := range keys {
		if storable(key) {
			args = append(args, key)
		}
	}
	for some := range slices.Chunk(args, maxHeads) {
		query := `SELECT namespace_key, revision, stamp FROM namespaces WHERE deleted = 0 AND namespace_key IN (?` +
			strings.Repeat(", ?", len(some)-1) + `)`
		err := d.query(ctx, query, some, func(rows *sql.Rows) error {
			var key string
			var r guidon.Revision
			err := rows.Scan(&key, &r.Number, &r.Stamp)
			heads[key] = r
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return heads, nil
}

// Namespaces implements [service.Store].
func (d *DB) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	return readRows(ctx, d, selectNamespaces, []any{service.AuthenticationsKey}, func(rows *sql.Rows) (*guidon.Namespace, error) {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		n := new(guidon.Namespace)
		return n, decode(body, n)
	})
}

const selectNamespaces = `SELECT body FROM namespaces WHERE deleted = 0 AND namespace_key <> ?
	ORDER BY created_seq, namespace_key`

// horizon is the oldest state that can be computed; see the table change_horizons.
type horizon struct{ revision, happenedAt int64 }

const selectHorizon = `SELECT revision, happened_at FROM change_horizons WHERE namespace_key = ?`

// query reads the horizon together with the next statement.
func (h *horizon) query(ctx context.Context, s *session, namespace string) error {
	_, err := s.rowLater(ctx, selectHorizon, []any{namespace}, &h.revision, &h.happenedAt)
	return err
}

// extend moves the horizon to another one, unless that is before it.
func (h *horizon) extend(other horizon) {
	if other.revision > h.revision {
		*h = other
	}
}

// store moves the stored horizon of the namespace to h, unless h is before it. The caller
// must hold the lock of [session.lockReaders].
func (h horizon) store(ctx context.Context, s *session, namespace string) error {
	var stored horizon
	found, err := s.row(ctx, selectHorizon, []any{namespace}, &stored.revision, &stored.happenedAt)
	switch {
	case err != nil:
		return err
	case !found:
		_, err = s.exec(ctx, `INSERT INTO change_horizons (namespace_key, revision, happened_at) VALUES (?, ?, ?)`,
			namespace, h.revision, h.happenedAt)
	case h.revision > stored.revision:
		_, err = s.exec(ctx, `UPDATE change_horizons SET revision = ?, happened_at = ? WHERE namespace_key = ?`,
			h.revision, h.happenedAt, namespace)
	}
	return err
}
