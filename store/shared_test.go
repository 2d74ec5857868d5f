package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// Two processes may write to the same file if neither opens it exclusively. No
// update is lost, although neither process knows of the other.
func TestTwoWritersOnOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guidon.db")
	databases := []*store.DB{openFile(t, path), openFile(t, path)}
	if _, err := migrate.Up(t.Context(), databases[0].SQL(), databases[0].Dialect()); err != nil {
		t.Fatal(err)
	}
	const writes = 25
	var wg sync.WaitGroup
	for i, db := range databases {
		wg.Go(func() {
			for j := range writes {
				_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
					all, err := tx.Flags(ctx)
					f := &guidon.Flag{Key: fmt.Sprintf("flag-%d-%d", i, j), Description: fmt.Sprint(len(all))}
					return errors.Join(err, tx.PutFlag(ctx, f))
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	shot := load(t, databases[1], nil)
	if got, want := shot.Revision().Number, int64(2*writes+1); got != want {
		t.Errorf("got revision %d, want %d", got, want)
	}
	for i, f := range shot.Flags() {
		if f.Description != fmt.Sprint(i) {
			t.Errorf("flag %d was created when there were %s", i, f.Description)
		}
	}
}

// A reader neither waits for a write transaction nor sees its changes.
func TestReadersDoNotWaitForTheWriter(t *testing.T) {
	db := storetest.NewSQLite(t)
	write(t, db, "default", func(ctx context.Context, tx service.Tx) error {
		if err := tx.PutFlag(ctx, &guidon.Flag{Key: "a"}); err != nil {
			return err
		}
		shot, _, err := db.Snapshot(ctx, "default", service.Demand{})
		if err != nil {
			return err
		}
		if shot.Revision().Number != 1 || len(shot.Flags()) != 0 {
			t.Errorf("a reader sees uncommitted changes: %d flags at revision %d", len(shot.Flags()), shot.Revision().Number)
		}
		return nil
	})
}
