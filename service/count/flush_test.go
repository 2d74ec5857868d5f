package count_test

import (
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
)

// TestFlushEach: what is counted between requests is stored by the first one after a period, and a flush that failed
// is made up for.
func TestFlushEach(t *testing.T) {
	db, err := store.Open(t.Context(), "file:"+filepath.Join(t.TempDir(), "guidon.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	now := time.Date(2026, 6, 28, 21, 40, 0, 0, time.UTC)
	c := count.NewCounter(db, count.Keep{Minutes: 48 * time.Hour}, func() time.Time { return now })
	f := guidon.NewSnapshot(&guidon.Namespace{Key: "shop"}, guidon.Revision{}, []*guidon.Flag{flagtest.BooleanFlag("f", true)}, nil).Compiled("f")
	request := func(after time.Duration) error {
		now = now.Add(after)
		r, err := f.Boolean("u", nil)
		c.Boolean("shop", f, &r, err)
		return c.FlushEach(t.Context(), time.Minute)
	}
	want := func(what string, evaluations uint64) {
		t.Helper()
		rows, err := db.Minutes(t.Context(), "shop", nil, now.Add(-time.Hour), now.Add(time.Hour), func(c count.Counts) count.Counts { return c })
		var stored uint64
		for _, row := range rows {
			stored += row.Counts["f"].Sum()
		}
		if err != nil || stored != evaluations {
			t.Errorf("%s: got %d evaluations, %v, want %d", what, stored, err, evaluations)
		}
	}
	if err := request(0); err != nil {
		t.Errorf("the first request flushed: %v", err)
	}
	if err := request(time.Minute); err == nil {
		t.Error("got no error from a database without tables")
	}
	if got := c.Stats(); got.Failed != 1 || got.Flushed != 0 {
		t.Errorf("got %+v, want a failed flush", got)
	}
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	if err := request(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	want("within the period", 0)
	if got := c.Stats(); got.Behind != 30*time.Second {
		t.Errorf("got %+v, want that it is 30s behind", got)
	}
	if err := request(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	want("after the period", 4)
	if got := c.Stats(); got.Failed != 1 || got.Flushed != 1 || got.Behind != 0 {
		t.Errorf("got %+v, want one flush of each kind", got)
	}
}
