package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// TestPastIsKept: an earlier state that is read again is not computed again, until the
// namespace changes or several others have been read. Large ones are not kept.
func TestPastIsKept(t *testing.T) {
	db := storetest.NewSQLite(t)
	s := cache.New(db)
	write := func(namespace, description string) (revision int64) {
		revision, err := s.Update(t.Context(), namespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			return tx.PutFlag(ctx, &guidon.Flag{Key: "f", Name: "F", Description: description})
		})
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
	read := func(namespace string, revision int64) *guidon.Snapshot {
		snapshot, err := s.SnapshotAt(t.Context(), namespace, service.Moment{Revision: revision}, service.Demand{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return snapshot
	}
	const namespace = "default"
	first := write(namespace, "first")
	for i := range 5 {
		write(namespace, fmt.Sprint("description ", i))
	}
	known := read(namespace, first)
	if again := read(namespace, first); again != known {
		t.Error("the state was computed again")
	}
	for revision := first + 1; revision < first+5; revision++ {
		read(namespace, revision)
	}
	if again := read(namespace, first); again == known {
		t.Error("the state is kept although 4 others have been read since")
	}
	known = read(namespace, first)
	last := write(namespace, strings.Repeat("x", 2<<20))
	again := read(namespace, first)
	if again == known {
		t.Error("the state is kept although the namespace has changed")
	}
	if got := again.Flag("f").Description; got != "first" {
		t.Errorf("got %q", got)
	}
	write(namespace, "small")
	known = read(namespace, last)
	if again := read(namespace, last); again == known {
		t.Error("a large state is kept")
	}
}
