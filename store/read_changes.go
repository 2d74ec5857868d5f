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
	if !mayMatch(query) {
		return nil, nil
	}
	clauses, args := changeClauses(query)
	var all []*change.Record
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		// Count the records that fit and then read only those, so that the database
		// neither sorts nor sends bodies that are not needed.
		var oldest horizon
		if query.Complete {
			if err := oldest.query(ctx, s, query.Namespace); err != nil {
				return err
			}
		}
		n, err := s.countFitting(ctx, clauses, args, query.Limit)
		first := query.After.Revision // a later page may begin in the middle of it
		if query.After == change.After(first) {
			first++
		}
		if err == nil && query.Complete && oldest.revision >= first {
			err = guidon.Errorf(guidon.NotFound, "some changes up to revision %d of namespace %q are no longer in the log", oldest.revision, query.Namespace)
		}
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

// mayMatch reports whether the database can have records that match the query.
func mayMatch(query change.Query) bool {
	return query.Namespace != service.AuthenticationsKey && storable(query.Namespace) && storable(query.Key) && storable(query.Actor)
}

// changeClauses returns the SQL clauses of the query, and their arguments except the
// limit. If there are any revisions, it selects only their records.
func changeClauses(query change.Query, revisions ...int64) (clauses string, args []any) {
	var conditions []string
	add := func(condition string, values ...any) {
		conditions, args = append(conditions, condition), append(args, values...)
	}
	add("namespace_key = ?", queriedKey(query))
	if len(revisions) > 0 {
		conditions = append(conditions, "revision IN "+placeholders(len(revisions)))
		for _, revision := range revisions {
			args = append(args, revision)
		}
	}
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
	if query.First > 0 {
		add("revision >= ?", query.First)
	}
	if query.Last > 0 {
		add("revision <= ?", query.Last)
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

// queriedKey returns the key under which the records that the query selects are stored.
func queriedKey(query change.Query) string {
	if query.Global {
		return service.AuthenticationsKey
	}
	return logKey(query.Kind, query.Namespace)
}

// logKey returns the key under which the records of objects of the kind are stored.
func logKey(kind change.Kind, namespace string) string {
	if kind.Global() {
		return service.AuthenticationsKey
	}
	return namespace
}

// placeholders returns a list of n parameters for IN.
func placeholders(n int) string { return "(?" + strings.Repeat(", ?", n-1) + ")" }

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

// selectRecords reads records with their notes; see scanRecord. Columns of both tables need
// no prefix in the clauses that follow.
const selectRecords = "SELECT " + recordColumns + `, before_body, after_body
	FROM changes c LEFT JOIN change_notes n USING (namespace_key, revision)`

// recordColumns are the columns of a record c and its note n, without the bodies.
const recordColumns = `c.namespace_key, c.revision, c.seq, c.stamp, c.kind, c.object_key, c.action,
	c.actor, c.actor_name, c.actor_method, c.happened_at, c.request_id, n.message, n.reason_body`

// scanRecord scans the columns of a record, and the bodies after them.
func scanRecord(rows *sql.Rows) (*change.Record, error) {
	c := new(change.Record)
	var at int64
	var message sql.NullString
	var reason, before, after []byte
	err := rows.Scan(&c.Namespace, &c.Revision, &c.Sequence, &c.Stamp, &c.Kind, &c.Key, &c.Action,
		&c.Actor.ID, &c.Actor.Name, &c.Actor.Method, &at, &c.RequestID, &message, &reason, &before, &after)
	if err != nil {
		return nil, err
	}
	if c.Namespace == service.AuthenticationsKey {
		c.Namespace = ""
	}
	c.At, c.Message, c.Before, c.After = time.UnixMicro(at).UTC(), message.String, before, after
	if reason != nil {
		err = decode(reason, &c.Reason)
	}
	return c, err
}

func (s *session) changes(ctx context.Context, clauses string, args []any, limit int) ([]*change.Record, error) {
	var all []*change.Record
	err := s.rows(ctx, selectRecords+clauses, append(args[:len(args):len(args)], limit), func(rows *sql.Rows) error {
		c, err := scanRecord(rows)
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
		query := `SELECT revision, seq, address FROM change_addresses WHERE revision IN ` + placeholders(len(some))
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
