package store

import (
	"context"
	"time"
)

// analyzeMin is the number of objects from which on a write is followed by
// [DB.Analyze].
const analyzeMin = 1000

// analyzeTimeout limits [DB.Analyze].
const analyzeTimeout = 5 * time.Second

// Analyze updates the statistics by which the database plans queries, as is useful after
// many rows were written. PostgreSQL would do so by itself only after a minute or more; the
// other databases need no call. It reads a sample of at most 30,000 rows of each table and
// takes at most 5 seconds. Only the owner of the tables may analyze them, and queries do
// not depend on it, so errors are ignored.
func (d *DB) Analyze(ctx context.Context) {
	if d.dialect.analyze == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, analyzeTimeout)
	defer cancel()
	_, _ = d.writer.ExecContext(ctx, d.dialect.analyze)
}
