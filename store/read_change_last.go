package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/guidonhq/guidon/change"
)

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
