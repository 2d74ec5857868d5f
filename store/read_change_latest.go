package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/guidonhq/guidon/change"
)

// maxLatestBody limits the bodies of a record that are read for its summary, in bytes.
const maxLatestBody = 16 << 10

// LatestChanges implements [service.Store].
func (d *DB) LatestChanges(ctx context.Context, namespace string, kind change.Kind, keys []string) ([]*change.Record, error) {
	var query string
	switch kind {
	case change.KindFlag:
		query = flagKind.selectLatest()
	case change.KindSegment:
		query = segmentKind.selectLatest()
	default:
		return nil, fmt.Errorf("store: no latest changes of kind %q", kind)
	}
	if !storable(namespace) {
		return nil, nil
	}
	var objects [][]any
	for _, key := range keys {
		if storable(key) {
			objects = append(objects, []any{namespace, key, string(kind), namespace, key})
		}
	}
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]*change.Record, error) {
		return s.recordsOf(ctx, query, objects)
	})
}

// selectLatest reads the latest record of an object. The row of the object has the revision, so
// the length of its history does not matter.
func (k *kind[T]) selectLatest() string {
	return selectSummarized + byObject + ` WHERE c.namespace_key = ? AND c.object_key = ? AND c.kind = ?
		AND c.revision <= (SELECT o.changed_rev FROM ` + k.table + ` o WHERE o.namespace_key = ? AND o.` + k.keyColumn + ` = ?)
		ORDER BY c.object_key DESC, c.revision DESC, c.seq DESC LIMIT 1`
}

// byObject makes MySQL and MariaDB use an index of the table changes, by which they would
// otherwise read all records of the namespace if they have no statistics. The others take it
// for a comment.
const byObject = `/*! FORCE INDEX (changes_by_object) */`

// selectSummarized reads a record. The bodies are for summaries, so those of large records are
// not read.
var selectSummarized = "SELECT " + recordColumns + fmt.Sprintf(`, CASE WHEN c.body_size <= %[1]d THEN c.before_body END, CASE WHEN c.body_size <= %[1]d THEN c.after_body END
	FROM changes c `, maxLatestBody)

// selectLast reads the newest record of an object, whether it still exists or not.
var selectLast = "SELECT " + recordColumns + `, NULL, NULL FROM changes c
	WHERE namespace_key = ? AND object_key = ? AND kind = ?` + newestFirst

// LastChange implements [service.Tx].
func (tx *transaction) LastChange(ctx context.Context, kind change.Kind, key string) (last *change.Record, err error) {
	if kind != change.KindFlag && kind != change.KindSegment {
		return nil, fmt.Errorf("store: no last change of kind %q", kind)
	}
	if err := tx.ensureHead(ctx); err != nil || !tx.head.stored || !storable(key) {
		return nil, err
	}
	err = tx.s.rows(ctx, selectLast, []any{tx.namespace, key, string(kind), 1}, func(rows *sql.Rows) (err error) {
		last, err = scanRecord(rows)
		return err
	})
	return last, err
}
