package store

import (
	"context"
	commandline "flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

var cleanedRecords = commandline.Int("cleanup.records", 100_000, "change records that BenchmarkCleanup deletes, a multiple of 10,000")

// cleanedFlags is how many flags the records are of.
const cleanedFlags = 10_000

// BenchmarkCleanup deletes change records while another client writes one flag after the other.
// It reports how long the deletion takes, and the 99th percentile of the writes. make bench runs
// it with a tenth of the records that the target is for; -cleanup.records=1000000 is all of them.
func BenchmarkCleanup(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { cleanUp(b, harness.SQLiteURL(b)) })
	eachDurable(b, func(b *testing.B, s *harness.DatabaseServer) { cleanUp(b, s.Migrated(b)) })
}

func cleanUp(b *testing.B, database string) {
	for b.Loop() {
		b.StopTimer()
		db := harness.OpenStore(b, database)
		if _, err := migrate.Up(b.Context(), db.SQL(), db.Dialect()); err != nil {
			b.Fatal(err)
		}
		for version := range *cleanedRecords/cleanedFlags + 1 {
			putFlags(b, db, cleanedFlags, fmt.Sprint("version ", version))
		}
		writing, stop := context.WithCancel(b.Context())
		ended := make(chan []time.Duration)
		go func() {
			var took []time.Duration
			for writing.Err() == nil {
				start := time.Now()
				putFlags(b, db, 1, "written")
				took = append(took, time.Since(start))
			}
			ended <- took
		}()
		b.StartTimer()
		start := time.Now()
		if n, err := db.DeleteChanges(b.Context(), start, *cleanedRecords); err != nil || n < *cleanedRecords-1 {
			b.Errorf("deleted %d records, %v", n, err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s")
		stop()
		took := <-ended
		slices.Sort(took)
		b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
	}
}

func putFlags(b *testing.B, db *store.DB, n int, description string) {
	_, err := db.Update(b.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		for i := range n {
			if err := tx.PutFlag(ctx, &guidon.Flag{Key: fmt.Sprintf("flag-%05d", i), Description: description}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Error(err)
	}
}
