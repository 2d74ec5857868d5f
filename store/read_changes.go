package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
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
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]*change.Record, error) {
		// Count the records that fit and then read only those, so that the database
		// neither sorts nor sends bodies that are not needed.
		var oldest horizon
		if query.Complete {
			if err := oldest.query(ctx, s, query.Namespace); err != nil {
				return nil, err
			}
		}
		b, found, err := s.boundByTime(ctx, query)
		if err != nil || !found {
			return nil, err
		}
		clauses, args := changeClauses(query, b)
		n, err := s.countFitting(ctx, clauses, args, query.Limit)
		first := query.After.Revision // a later page may begin in the middle of it
		if query.After == change.After(first) {
			first++
		}
		if err == nil && query.Complete && oldest.revision >= first {
			err = guidon.Errorf(guidon.NotFound, "some changes up to revision %d of namespace %q are no longer in the log",
				oldest.revision, query.Namespace)
		}
		if err != nil || n == 0 {
			return nil, err
		}
		return s.changes(ctx, clauses, args, n)
	})
}

// mayMatch reports whether the database can have records that match the query.
func mayMatch(query change.Query) bool {
	return query.Namespace != service.AuthenticationsKey && storable(query.Namespace) && storable(query.Key) && storable(query.Actor)
}

// unindexedTime is the time of a record in a form for which no index is used: the index by
// time would find all records since then, in another order than that of the result.
const unindexedTime = "happened_at + 0"

// bounds limit the records that are examined for a query with times.
type bounds struct {
	floor guidon.Position // records at or before it are earlier
	last  int64           // records of later revisions are later; 0 if there is no limit
}

// selectEarlier reads the position of the record that is clockRecords before a revision.
var selectEarlier = fmt.Sprintf(`SELECT revision, seq FROM changes WHERE namespace_key = ? AND revision <= ? ORDER BY revision DESC, seq DESC LIMIT 1 OFFSET %d`, clockRecords)

// boundByTime returns the bounds of the query, and reports whether there are any records of
// its times. Like revisionBefore, it expects that the clocks of instances differ by less
// than clockRecords records take.
func (s *session) boundByTime(ctx context.Context, query change.Query) (b bounds, found bool, err error) {
	namespace := queriedKey(query)
	if query.Since != nil {
		number, found, err := s.revisionBefore(ctx, namespace, ceilMicro(*query.Since)-1)
		if err == nil && found {
			_, err = s.row(ctx, selectEarlier, []any{namespace, number}, &b.floor.Revision, &b.floor.Sequence)
		}
		if err != nil {
			return b, false, err
		}
	}
	if query.Until == nil {
		return b, true, nil
	}
	b.last, found, err = s.revisionBefore(ctx, namespace, ceilMicro(*query.Until)-1)
	return b, found, err
}

// changeClauses returns the SQL clauses of the query, and their arguments except the limit.
func changeClauses(query change.Query, b bounds) (clauses string, args []any) {
	var conditions []string
	add := func(condition string, values ...any) {
		conditions, args = append(conditions, condition), append(args, values...)
	}
	add("namespace_key = ?", queriedKey(query))
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
		add(unindexedTime+" >= ?", ceilMicro(*query.Since))
	}
	if query.Until != nil {
		add(unindexedTime+" < ?", ceilMicro(*query.Until))
	}
	if query.First > 0 {
		add("revision >= ?", query.First)
	}
	if query.Last > 0 {
		add("revision <= ?", query.Last)
	}
	if b.floor != (guidon.Position{}) {
		add(afterPosition, positionArgs(b.floor)...)
	}
	if b.last > 0 {
		add("revision <= ?", b.last)
	}
	if before := query.Before; before != (guidon.Position{}) {
		add(beforePosition, positionArgs(before)...)
	}
	order := newestFirst
	if after := query.After; after != (guidon.Position{}) {
		add(afterPosition, positionArgs(after)...)
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
	var b pageBudget
	err := s.rows(ctx, "SELECT body_size FROM changes"+clauses, append(args[:len(args):len(args)], limit),
		func(rows *sql.Rows) error {
			var size int64
			err := rows.Scan(&size)
			b.add(size)
			return err
		})
	return b.records, err
}

// pageBudget counts the first records whose bodies fit into one result, at least one.
type pageBudget struct {
	records int
	bytes   int64
	full    bool // the next one does not fit
}

func (b *pageBudget) add(size int64) {
	b.bytes += size
	if b.full = b.full || b.records > 0 && b.bytes > maxChangesBytes; !b.full {
		b.records++
	}
}

// selectRecords reads records with their notes; see scanRecord.
var selectRecords = "SELECT " + recordColumns + `, before_body, after_body FROM changes c`

// recordColumns are the columns of a record c and its note, without the bodies.
var recordColumns = `c.namespace_key, c.revision, c.seq, c.stamp, c.kind, c.object_key, c.action,
	c.actor, c.actor_name, c.actor_method, c.happened_at, c.request_id, ` + noteOf("message") + ", " + noteOf("reason_body")

// noteOf returns the expression for a column of the note of the record c. It is a subquery,
// because the planner of a join may prefer to read all notes.
func noteOf(column string) string {
	return "(SELECT n." + column + " FROM change_notes n WHERE n.namespace_key = c.namespace_key AND n.revision = c.revision)"
}

// recordRow receives the columns of a record, and the bodies after them.
type recordRow struct {
	change.Record
	at                    int64
	message               sql.NullString
	reason, before, after []byte
}

func (r *recordRow) dest() []any {
	return []any{
		&r.Namespace, &r.Revision, &r.Sequence, &r.Stamp, &r.Kind, &r.Key, &r.Action,
		&r.Actor.ID, &r.Actor.Name, &r.Actor.Method, &r.at, &r.RequestID, &r.message, &r.reason, &r.before, &r.after,
	}
}

// record returns a record of the row that was scanned.
func (r *recordRow) record() (*change.Record, error) {
	c := r.Record
	if c.Namespace == service.AuthenticationsKey {
		c.Namespace = ""
	}
	c.At, c.Message, c.Before, c.After = time.UnixMicro(r.at).UTC(), r.message.String, r.before, r.after
	if r.reason == nil {
		return &c, nil
	}
	return &c, decode(r.reason, &c.Reason)
}

func scanRecord(rows *sql.Rows) (*change.Record, error) {
	var r recordRow
	if err := rows.Scan(r.dest()...); err != nil {
		return nil, err
	}
	return r.record()
}

// atPosition is the condition that a record is at a position. Only the primary key has its
// order; see [session.rowsOfEach].
const atPosition = ` WHERE namespace_key = ? AND revision = ? AND seq >= ? AND seq <= ? ORDER BY seq LIMIT 1`

// atPositionArgs returns the arguments of atPosition.
func atPositionArgs(namespace string, p guidon.Position) []any {
	return []any{namespace, p.Revision, p.Sequence, p.Sequence}
}

// recordsAt returns the records at the positions, in any order. The query must end with
// atPosition.
func (s *session) recordsAt(
	ctx context.Context, query, namespace string, positions []guidon.Position,
) (records []*change.Record, err error) {
	all := lists.Map(positions, func(p guidon.Position) []any { return atPositionArgs(namespace, p) })
	if records, err = s.recordsOf(ctx, query, all); err != nil {
		return nil, err
	}
	return records, s.addAddresses(ctx, records)
}

// recordsOf returns the records at the positions of the lists of arguments, in any order and
// without addresses.
func (s *session) recordsOf(ctx context.Context, query string, lists [][]any) (records []*change.Record, err error) {
	var r recordRow
	var malformed error
	records = make([]*change.Record, 0, len(lists))
	err = s.rowsOfEach(ctx, query, lists, func() {
		c, err := r.record()
		records, malformed = append(records, c), cmp.Or(malformed, err)
	}, r.dest()...)
	return records, cmp.Or(err, malformed)
}

func (s *session) changes(ctx context.Context, clauses string, args []any, limit int) ([]*change.Record, error) {
	all, err := collect(ctx, s, selectRecords+clauses, append(args[:len(args):len(args)], limit), scanRecord)
	if err != nil {
		return nil, err
	}
	return all, s.addAddresses(ctx, all)
}

// addAddresses sets the addresses that the records came from, if they are recorded for their
// kind.
func (s *session) addAddresses(ctx context.Context, records []*change.Record) error {
	if len(records) == 0 || !records[0].Kind.Global() {
		return nil
	}
	byPosition := make(map[guidon.Position]*change.Record, len(records))
	var lists [][]any
	for _, c := range records {
		byPosition[c.Cursor()] = c
		lists = append(lists, []any{c.Revision, c.Sequence})
	}
	const query = `SELECT revision, seq, address FROM change_addresses WHERE revision = ? AND seq = ? LIMIT 1`
	var at guidon.Position
	var address string
	return s.rowsOfEach(ctx, query, lists, func() {
		if c := byPosition[at]; c != nil {
			c.Address = address
		}
	}, &at.Revision, &at.Sequence, &address)
}
