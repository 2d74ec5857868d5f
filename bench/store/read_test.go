package store

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

const (
	manyFlags    = 10_000
	manySegments = 100
)

// manyFlagsDocument returns flags of a realistic size.
func manyFlagsDocument() map[string]any {
	flags, segments := make([]any, manyFlags), make([]any, manySegments)
	for i := range segments {
		segments[i] = map[string]any{
			"key": fmt.Sprint("segment-", i), "name": "Segment",
			"constraints": []any{map[string]any{
				"type": "STRING_COMPARISON_TYPE", "property": "country", "operator": "eq", "value": "de",
			}},
		}
	}
	for i := range flags {
		flags[i] = map[string]any{
			"key": manyFlagsKey(i), "name": fmt.Sprint("Flag ", i), "description": "What the flag is for", "enabled": true,
			"variants": []any{map[string]any{"key": "on"}, map[string]any{"key": "off"}},
			"rules": []any{map[string]any{
				"segmentKeys": []any{fmt.Sprint("segment-", i%manySegments)},
				"distributions": []any{
					map[string]any{"variant": "on", "rollout": 50}, map[string]any{"variant": "off", "rollout": 50},
				},
			}},
		}
	}
	return map[string]any{"flags": flags, "segments": segments}
}

func manyFlagsKey(i int) string { return fmt.Sprintf("flag-%05d", i) }

// importManyFlags fills the default namespace in one request.
func importManyFlags(b *testing.B, s *harness.Server) {
	b.Helper()
	s.Must(b, "POST", "/api/v1/namespaces/default/import", map[string]any{"document": manyFlagsDocument()}, nil)
}

// BenchmarkListPage requests the first and the last page of a long list alternately, and
// reports the time of each and their ratio.
func BenchmarkListPage(b *testing.B) {
	const size = 25
	s := startQuietly(b, harness.SQLiteURL(b))
	importManyFlags(b, s)
	page := func(limit int, token string) (path string, flags int, next string) {
		query := url.Values{"limit": {strconv.Itoa(limit)}, "pageToken": {token}}
		path = "/api/v1/namespaces/default/flags?" + query.Encode()
		var list struct {
			Flags         []struct{ Key string }
			NextPageToken string
		}
		s.Must(b, "GET", path, nil, &list)
		return path, len(list.Flags), list.NextPageToken
	}
	first, count, token := page(size, "")
	if count != size {
		b.Fatalf("the first page has %d flags, want %d", count, size)
	}
	for seen := count; seen < manyFlags-size; seen += count { // the size of a response is limited
		if _, count, token = page(manyFlags-size-seen, token); count == 0 || token == "" {
			b.Fatalf("the list ends after %d flags", seen+count)
		}
	}
	last, count, end := page(size, token)
	if count != size || end != "" {
		b.Fatalf("the last page has %d flags and the next token %q, want %d and none", count, end, size)
	}

	get := func(path string) time.Duration {
		begin := time.Now()
		s.Must(b, "GET", path, nil, nil)
		return time.Since(begin)
	}
	var ofFirst, ofLast time.Duration
	for b.Loop() {
		ofFirst += get(first)
		ofLast += get(last)
	}
	b.ReportMetric(float64(ofFirst.Nanoseconds())/float64(b.N), "first-ns")
	b.ReportMetric(float64(ofLast.Nanoseconds())/float64(b.N), "last-ns")
	b.ReportMetric(float64(ofLast)/float64(ofFirst), "ratio")
	b.ReportMetric(0, "ns/op") // of both together
}

// BenchmarkLoad loads a snapshot of many flags from a database server: completely, and
// after one flag has changed since an earlier snapshot.
func BenchmarkLoad(b *testing.B) {
	eachDurable(b, func(b *testing.B, s *harness.DatabaseServer) {
		database := s.Migrated(b)
		filler := startQuietly(b, database)
		importManyFlags(b, filler)
		filler.Signal(b, syscall.SIGTERM) // it would distort the measurement
		if code := filler.Wait(b); code != 0 {
			b.Fatalf("exit code %d\n%s", code, filler.Log())
		}
		db := harness.OpenStore(b, database)

		b.Run("full", func(b *testing.B) {
			for b.Loop() {
				if n := len(mustLoad(b, db, nil).Flags()); n != manyFlags {
					b.Fatalf("got %d flags", n)
				}
			}
		})
		b.Run("after_one_change", func(b *testing.B) {
			held := mustLoad(b, db, nil)
			toggle(b, db)
			for b.Loop() {
				if mustLoad(b, db, held) == held {
					b.Fatal("nothing changed")
				}
			}
			if s.Private != nil && s.IsPostgres() {
				b.ReportMetric(float64(rowsRead(b, database, held)), "rows/op")
			}
		})
	})
}

func mustLoad(b *testing.B, db *store.DB, held *guidon.Snapshot) *guidon.Snapshot {
	b.Helper()
	snapshot, err := db.Load(b.Context(), guidon.DefaultNamespace, held)
	if err != nil {
		b.Fatal(err)
	}
	return snapshot
}

// toggle changes one flag.
func toggle(b *testing.B, db *store.DB) {
	b.Helper()
	_, err := db.Update(b.Context(), guidon.DefaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
		f, err := tx.Flag(ctx, manyFlagsKey(manyFlags/2))
		if err != nil {
			return err
		}
		f.Enabled, f.UpdatedAt = !f.Enabled, tx.Now()
		return tx.PutFlag(ctx, f)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// rowsRead returns how many rows PostgreSQL sends to bring the held snapshot up to date.
func rowsRead(b *testing.B, database string, held *guidon.Snapshot) int64 {
	b.Helper()
	proxy, through := dbtest.NewProxy(b, database)
	if mustLoad(b, harness.OpenStore(b, through), held) == held {
		b.Fatal("nothing changed")
	}
	return proxy.Rows()
}
