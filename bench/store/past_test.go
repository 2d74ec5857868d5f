package store

import (
	"context"
	"encoding/json"
	commandline "flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
)

var pastRecords = commandline.Int("past.records", 100_000, "change records of the namespace whose earlier states are measured")

// BenchmarkPast reads earlier states of a namespace of 10,000 flags with many change
// records: after one change and after 100, those in which every flag was different since
// its last change, and the first one, also by its time, since which all records were made.
// make bench runs it with a tenth of the records that the target is for;
// -past.records=1000000 is all of them.
func BenchmarkPast(b *testing.B) {
	open := map[string]func(b *testing.B) *store.DB{
		"sqlite": func(b *testing.B) *store.DB {
			db := harness.OpenStore(b, harness.SQLiteURL(b))
			if _, err := migrate.Up(b.Context(), db.SQL(), db.Dialect()); err != nil {
				b.Fatal(err)
			}
			return db
		},
	}
	for _, s := range harness.PrivateServers {
		open[s.Name] = func(b *testing.B) *store.DB {
			s.Need(b)
			return harness.OpenStore(b, s.Migrated(b))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		b.Run(name, func(b *testing.B) {
			db := open[name](b)
			first, last := addHistory(b, db, int64(*pastRecords))
			past := service.NewService(cache.New(db), time.Now)
			for _, since := range []int64{1, 100, manyFlags, last - first} {
				b.Run(fmt.Sprintf("%d_records_since", since), func(b *testing.B) {
					readPast(b, past, service.Moment{Revision: last - since}, last-since)
				})
			}
			b.Run(fmt.Sprintf("%d_records_since_by_time", last-first-1), func(b *testing.B) {
				readPast(b, past, service.Moment{Time: harness.TimeOf(b, db, first+1)}, first+1)
			})
		})
	}
}

// readPast reads the state of a moment, which must be that of the revision, again and again,
// with the memory announced as in requests.
func readPast(b *testing.B, past *service.Service, at service.Moment, revision int64) {
	ref := service.Reference{Namespace: "default", At: at}
	admit := func(context.Context, int64) error { return nil }
	if _, err := past.ViewAt(b.Context(), ref, service.Demand{}, admit); err != nil { // loads the current state
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		v, err := past.ViewAt(b.Context(), ref, service.Demand{}, admit)
		if err != nil || v.Revision != revision || len(v.Snapshot.Flags()) != manyFlags {
			b.Fatal(v.Revision, err)
		}
	}
}

// addHistory creates the flags, and then change records of them in turn, one in each
// revision. It returns the revision in which the flags were created, and the last one.
func addHistory(b *testing.B, db *store.DB, records int64) (first, last int64) {
	b.Helper()
	first, err := db.Update(b.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		for i := range manyFlags {
			if err := tx.PutFlag(ctx, pastFlag(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	const together = 500
	begun := time.Now()
	last = first
	for last < first+records {
		var rows []string
		for range min(together, first+records-last) {
			last++
			rows = append(rows, pastRow(b, last, begun.Add(time.Duration(last)*time.Microsecond)))
		}
		harness.Execute(b, db.SQL(), `INSERT INTO changes (namespace_key, revision, seq, stamp, kind, object_key, action, actor, actor_name, actor_method,
			happened_at, request_id, body_size, before_body, after_body) VALUES `+strings.Join(rows, ", "))
	}
	for i := range int64(manyFlags) {
		if revision := last - i; revision > first {
			harness.Execute(b, db.SQL(), fmt.Sprintf("UPDATE flags SET changed_rev = %d WHERE namespace_key = 'default' AND flag_key = '%s'", revision, pastKey(revision)))
		}
	}
	harness.Execute(b, db.SQL(), fmt.Sprintf("UPDATE namespaces SET revision = %d, stamp = %d WHERE namespace_key = 'default'", last, last))
	return first, last
}

func pastFlag(i int) *guidon.Flag {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	f := &guidon.Flag{Key: manyFlagsKey(i), Name: fmt.Sprint("Flag ", i), Description: "What the flag is for", Enabled: true, CreatedAt: at, UpdatedAt: at}
	for _, key := range []string{"on", "off"} {
		f.Variants = append(f.Variants, &guidon.Variant{ID: fmt.Sprintf("00000000-0000-4000-8000-%s%09d", (key + "f")[:3], i), Key: key, CreatedAt: at, UpdatedAt: at})
	}
	return f
}

// pastIndex returns the number of the flag that changed in the revision. 7919 is prime, so
// the flags take turns.
func pastIndex(revision int64) int { return int(revision*7919) % manyFlags }

func pastKey(revision int64) string { return manyFlagsKey(pastIndex(revision)) }

// pastRow returns the values of the record of a revision.
func pastRow(b *testing.B, revision int64, at time.Time) string {
	b.Helper()
	f := pastFlag(pastIndex(revision))
	body, err := json.Marshal(f)
	if err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf("('default', %d, 0, %d, 'flag', '%s', 'update', 'token:1', '', '', %d, '', %d, '%s', '%s')",
		revision, revision, f.Key, at.UnixMicro(), 2*len(body), body, body)
}
