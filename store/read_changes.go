package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// maxChangesBytes limits the total size of the bodies that Changes returns.
const maxChangesBytes = 8 << 20

// Changes implements [service.Store]. It returns fewer records than the limit, which
// must be positive, if their bodies would exceed 8 MiB in total, but at least one if
// any matches the query. Records of authentications and bindings have no namespace and
// match only queries for them.
func (d *DB) Changes(ctx context.Context, query change.Query) ([]*change.Record, error) {
	if query.Limit <= 0 {
		return nil, errors.New("store: invalid change query: limit must be positive")
	}
	if query.Namespace == service.AuthenticationsKey || !storable(query.Namespace) || !storable(query.Key) || !storable(query.Actor) {
		return nil, nil
	}
	clauses, args := changeClauses(query)
	var all []*change.Record
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		// Count the records that fit and then read only those, so that the database
		// neither sorts nor sends bodies that are not needed.
		n, err := s.countFitting(ctx, clauses, args, query.Limit)
		if err != nil || n == 0 {
			all = nil
			return err
		}
		all, err = s.changes(ctx, clauses, args, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// changeClauses returns the SQL clauses of the query, and their arguments except the
// limit.
func changeClauses(query change.Query) (clauses string, args []any) {
	var conditions []string
	add := func(condition string, values ...any) {
		conditions, args = append(conditions, condition), append(args, values...)
	}
	key := logKey(query.Kind, query.Namespace)
	if query.Global {
		key = service.AuthenticationsKey
	}
	add("namespace_key = ?", key)
	if query.Kind != "" {
		add("kind = ?", string(query.Kind))
	}
	if query.Key != "" {
		add("object_key = ?", query.Key)
	}
	if query.Actor != "" {
		add("actor = ?", query.Actor)
	}
	if query.Since != nil {
		add("happened_at >= ?", ceilMicro(*query.Since))
	}
	if query.Until != nil {
		add("happened_at < ?", ceilMicro(*query.Until))
	}
	if before := query.Before; before != (guidon.Position{}) {
		add("revision <= ?", before.Revision)
		add("(revision < ? OR seq < ?)", before.Revision, before.Sequence)
	}
	order := newestFirst
	if after := query.After; after != (guidon.Position{}) {
		add("revision >= ?", after.Revision)
		add("(revision > ? OR seq > ?)", after.Revision, after.Sequence)
		order = oldestFirst
	}
	return " WHERE " + strings.Join(conditions, " AND ") + order, args
}

// logKey returns the key under which the records of objects of the kind are stored.
func logKey(kind change.Kind, namespace string) string {
	if kind.Global() {
		return service.AuthenticationsKey
	}
	return namespace
}

const (
	newestFirst = " ORDER BY revision DESC, seq DESC LIMIT ?"
	oldestFirst = " ORDER BY revision, seq LIMIT ?"
)

// ceilMicro returns t in microseconds since 1970, rounded up.
func ceilMicro(t time.Time) int64 {
	micro := t.UnixMicro()
	if time.UnixMicro(micro).Before(t) {
		micro++
	}
	return micro
}

func (s *session) countFitting(ctx context.Context, clauses string, args []any, limit int) (int, error) {
	n, total, full := 0, int64(0), false
	err := s.rows(ctx, "SELECT body_size FROM changes"+clauses, append(args[:len(args):len(args)], limit),
		func(rows *sql.Rows) error {
			var size int64
			if err := rows.Scan(&size); err != nil || full {
				return err
			}
			total += size
			if full = n > 0 && total > maxChangesBytes; !full {
				n++
			}
			return nil
		})
	return n, err
}

func (s *session) changes(ctx context.Context, clauses string, args []any, limit int) ([]*change.Record, error) {
	var all []*change.Record
	query := `SELECT namespace_key, revision, seq, stamp, kind, object_key, action, actor, actor_name, actor_method,
		happened_at, request_id, before_body, after_body FROM changes` + clauses
	err := s.rows(ctx, query, append(args[:len(args):len(args)], limit), func(rows *sql.Rows) error {
		c := new(change.Record)
		var at int64
		var before, after []byte
		err := rows.Scan(&c.Namespace, &c.Revision, &c.Sequence, &c.Stamp, &c.Kind, &c.Key, &c.Action,
			&c.Actor.ID, &c.Actor.Name, &c.Actor.Method, &at, &c.RequestID, &before, &after)
		if c.Namespace == service.AuthenticationsKey {
			c.Namespace = ""
		}
		c.At, c.Before, c.After = time.UnixMicro(at).UTC(), before, after
		all = append(all, c)
		return err
	})
	if err != nil || len(all) == 0 || !all[0].Kind.Global() {
		return all, err
	}
	return all, s.addAddresses(ctx, all)
}

// maxAddressed limits the revisions whose addresses one query reads.
const maxAddressed = 500

// addAddresses sets the addresses that the records came from. It reads those of their
// revisions only, because the records of one object may be far apart.
func (s *session) addAddresses(ctx context.Context, records []*change.Record) error {
	byPosition := make(map[guidon.Position]*change.Record, len(records))
	var revisions []any
	for i, c := range records {
		byPosition[c.Cursor()] = c
		if i == 0 || c.Revision != records[i-1].Revision { // they are in order
			revisions = append(revisions, c.Revision)
		}
	}
	for some := range slices.Chunk(revisions, maxAddressed) {
		query := `SELECT revision, seq, address FROM change_addresses WHERE revision IN (?` + strings.Repeat(", ?", len(some)-1) + `)`
		err := s.rows(ctx, query, some, func(rows *sql.Rows) error {
			var at guidon.Position
			var address string
			err := rows.Scan(&at.Revision, &at.Sequence, &address)
			if c := byPosition[at]; err == nil && c != nil {
				c.Address = address
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
