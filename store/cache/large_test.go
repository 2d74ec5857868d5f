package cache_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store/cache"
)

// A write of very many objects leaves it to the next reader to read them, which it does.
func TestLargeWrite(t *testing.T) {
	const count = 10_001
	db := openSQLite(t)
	c := cache.New(db)
	if _, err := c.Snapshot(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		err := c.Update(t.Context(), "default", func(ctx context.Context, tx guidon.Tx) error {
			for i := range count {
				if err := tx.PutFlag(ctx, &guidon.Flag{Key: fmt.Sprint("flag-", i), Name: name}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Snapshot(t.Context(), "default")
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Flags(); len(got) != count || got[0].Name != name || got[count-1].Name != name {
			t.Errorf("got %d flags, the first %+v; want %d named %s", len(got), got[0], count, name)
		}
	}
}
