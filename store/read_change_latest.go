package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/guidonhq/guidon/change"
)

// maxLatestBody limits the bodies of a record that are read for its summary, in bytes.
const maxLatestBody = 16 << 10

// latestRows limits the objects of one query for their latest records.
const latestRows = 500

// LatestChanges implements [service.Store].
func (d *DB) LatestChanges(ctx context.Context, namespace string, kind change.Kind, keys []string) ([]*change.Record, error) {
	var query func(count int) string
	switch kind {
	case change.KindFlag:
		query = flagKind.selectLatest
	case change.KindSegment:
		query = segmentKind.selectLatest
	default:
		return nil, fmt.Errorf("store: no latest changes of kind %q", kind)
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !storable(key) })
	if !storable(namespace) {
		return nil, nil
	}
	var latest map[string]*change.Record
	err := d.read(ctx, func(ctx context.Context, s *session) error {
		latest = make(map[string]*change.Record, len(keys))
		for some := range slices.Chunk(keys, latestRows) {
			if err := s.addLatest(ctx, query(len(some)), namespace, kind, some, latest); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	records := make([]*change.Record, 0, len(latest))
	for _, c := range latest {
		records = append(records, c)
	}
	return records, nil
}

// selectLatest reads the records of the last revision in which each of count objects
// changed. The row of an object has that revision, so the length of its history does not
// matter. There are two if the object was deleted and created again. The bodies are for
// summaries, so those of large records are not read.
func (k *kind[T]) selectLatest(count int) string {
	bodies := fmt.Sprintf(`, CASE WHEN c.body_size <= %[1]d THEN c.before_body END, CASE WHEN c.body_size <= %[1]d THEN c.after_body END`, maxLatestBody)
	return "SELECT " + recordColumns + bodies + ` FROM ` + k.table + ` o
		JOIN changes c ON c.namespace_key = o.namespace_key AND c.object_key = o.` + k.keyColumn + ` AND c.revision = o.changed_rev
		LEFT JOIN change_notes n ON n.namespace_key = c.namespace_key AND n.revision = c.revision
		WHERE o.namespace_key = ? AND c.kind = ? AND o.` + k.keyColumn + ` IN ` + placeholders(count)
}

// addLatest adds the latest records of the objects with the keys.
func (s *session) addLatest(ctx context.Context, query, namespace string, kind change.Kind, keys []string, latest map[string]*change.Record) error {
	args := []any{namespace, string(kind)}
	for _, key := range keys {
		args = append(args, key)
	}
	return s.rows(ctx, query, args, func(rows *sql.Rows) error {
		c, err := scanRecord(rows)
		if err != nil {
			return err
		}
		if known := latest[c.Key]; known == nil || known.Sequence < c.Sequence {
			latest[c.Key] = c
		}
		return nil
	})
}
