package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

func testReaderLag(t *testing.T, s *store.DB) {
	register(t, s, "r")
	lag := func() service.ReaderLag {
		t.Helper()
		readers, err := s.Readers(t.Context())
		if err != nil || len(readers) != 1 {
			t.Fatalf("got %+v, %v", readers, err)
		}
		return readers[0].Lag
	}
	wantEqual(t, "nothing to read", (service.ReaderLag{}), lag())
	putFlags(t, s, defaultNamespace, newFlag("a"), newFlag("b"))
	describeNamespace(t, s, defaultNamespace, 2)
	createNamespace(t, s, "shop")
	all := changed(t, s, "r")
	records := unread(t, s, all[0], 10)
	wantEqual(t, "lag", (service.ReaderLag{Namespaces: 2, Revisions: 4, Since: records[0].At}), lag())
	advance(t, s, "r", all[0].Position, records[0]) // the first of two records of a revision
	wantEqual(t, "after the first record", (service.ReaderLag{Namespaces: 2, Revisions: 4, Since: records[1].At}), lag())
	advance(t, s, "r", records[0].Cursor(), records[3])
	shop := unread(t, s, all[1], 10)
	wantEqual(t, "after the first namespace", (service.ReaderLag{Namespaces: 1, Revisions: 1, Since: shop[0].At}), lag())
}

// No record is deleted before the slowest reader has passed it.
func testReaderRetention(t *testing.T, s *store.DB) {
	describeNamespace(t, s, defaultNamespace, 2)
	registerEarliest(t, s, "slow")
	register(t, s, "fast")
	describeNamespace(t, s, defaultNamespace, 3) // revisions 4 to 6
	want := []string{"1.0 create namespace default"}
	for revision := 2; revision <= 6; revision++ {
		want = append(want, fmt.Sprintf("%d.0 update namespace default", revision))
	}
	wantLog := func(what string, first int) {
		t.Helper()
		wantEqual(t, what+": records left", want[first-1:], brief(allChanges(t, s, change.Query{Namespace: defaultNamespace})))
	}
	records := unread(t, s, changed(t, s, "slow")[0], 10)
	wantEqual(t, "deleted records that a reader has not read", 0, prune(t, s))

	readAll(t, s, "fast", 10)
	advance(t, s, "slow", change.After(0), records[2])
	wantEqual(t, "deleted records", 2, prune(t, s))
	wantLog("the slower of two readers has read revision 3", 3)

	registerEarliest(t, s, "new")
	advance(t, s, "slow", records[2].Cursor(), records[5])
	wantEqual(t, "deleted records that the new reader has not read", 0, prune(t, s))
	mustSucceed(t, s.RemoveReader(t.Context(), "new"))
	wantEqual(t, "deleted records after the reader was removed", 3, prune(t, s))
	wantLog("all readers have read everything", 6)
	wantPosition(t, s, "slow", defaultNamespace, records[5].Cursor())
	if got := changed(t, s, "fast"); len(got) > 0 {
		t.Errorf("after the deletion: got %+v", got)
	}
}

// Records of deleted namespaces and of authentications are kept for readers, and deleted,
// like all others.
func testReaderRetentionOfDeleted(t *testing.T, s *store.DB) {
	createNamespace(t, s, "gone")
	putFlags(t, s, "gone", newFlag("a"))
	deleteNamespace(t, s, "gone")
	for _, name := range []string{"1", "2"} {
		a := newAuthentication("a")
		a.Metadata = map[string]string{"name": name}
		putAuthentication(t, s, a)
	}
	registerEarliest(t, s, "r")
	wantEqual(t, "deleted records that the reader has not read", 0, prune(t, s))
	want := []string{
		"(authentications): 1.0 create authentication a", "(authentications): 2.0 update authentication a",
		"default: 1.0 create namespace default",
		"gone: 1.0 create namespace gone", "gone: 2.0 create flag a", "gone: 3.0 delete flag a", "gone: 3.1 delete namespace gone",
	}
	wantEqual(t, "records", want, readAll(t, s, "r", 10))
	wantEqual(t, "deleted records that the reader has read", 3, prune(t, s))
	if got, want := brief(allChanges(t, s, change.Query{Namespace: "gone"})), []string{"3.0 delete flag a", "3.1 delete namespace gone"}; !slices.Equal(got, want) {
		t.Errorf("of the deleted namespace: got %q, want %q", got, want)
	}
	if got, want := brief(allChanges(t, s, change.Query{Kind: change.KindAuthentication})), []string{"2.0 update authentication a"}; !slices.Equal(got, want) {
		t.Errorf("of the authentications: got %q, want %q", got, want)
	}
}

// If the log has been restored from a backup, a reader loses nothing of its new history,
// although the revisions have the same numbers.
func testRestoredLog(t *testing.T, s *store.DB) {
	register(t, s, "read")
	register(t, s, "reading")
	describeNamespace(t, s, defaultNamespace, 2)
	old := unread(t, s, changed(t, s, "reading")[0], 10)
	readAll(t, s, "read", 10)
	// Restore revision 1, as far as the log is concerned.
	for _, statement := range []string{
		"DELETE FROM changes WHERE namespace_key = 'default' AND revision > 1",
		"UPDATE namespaces SET revision = 1, stamp = (SELECT stamp FROM changes WHERE namespace_key = 'default') WHERE namespace_key = 'default'",
	} {
		execute(t, s.SQL(), statement)
	}
	wantPosition(t, s, "read", defaultNamespace, change.After(0)) // its revision does not exist
	wantPosition(t, s, "reading", defaultNamespace, change.After(1))
	wantCode(t, "a record of the old history", s.AdvanceReader(t.Context(), "reading", change.After(1), old[0]), guidon.FailedPrecondition)
	describeNamespace(t, s, defaultNamespace, 2)
	wantPosition(t, s, "read", defaultNamespace, change.After(0)) // its revision has another stamp
	wantEqual(t, "deleted records of the new history", 0, prune(t, s))
	wantCode(t, "a record of the old history with a number of the new one",
		s.AdvanceReader(t.Context(), "reading", change.After(1), old[1]), guidon.FailedPrecondition)
	for reader, first := range map[string]int{"read": 0, "reading": 1} {
		want := []string{"default: 1.0 create namespace default", "default: 2.0 update namespace default",
			"default: 3.0 update namespace default"}
		wantEqual(t, reader, want[first:], readAll(t, s, reader, 1))
	}
	wantPosition(t, s, "read", defaultNamespace, guidon.Position{Revision: 3})
}

// Records are written and deleted all the time, and readers are registered, read on for a
// while and are removed. A reader gets every record since its registration.
func testReaderRetentionRaces(t *testing.T, s *store.DB) {
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	const readers, turns, records = 3, 6, 8
	var deleted atomic.Int64
	var reading, others sync.WaitGroup
	for i := range readers {
		reading.Go(func() {
			for turn := range turns {
				if err := readSome(ctx, s, fmt.Sprint("reader-", i, "-", turn), records); err != nil {
					t.Error(err)
					cancel()
					return
				}
			}
		})
	}
	done := make(chan struct{})
	repeat := func(do func() error) {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := do(); err != nil {
					t.Error(err)
					cancel()
					return
				}
			}
		})
	}
	repeat(func() error {
		_, err := s.Update(ctx, defaultNamespace, service.Write{}, editNamespace(func(n *guidon.Namespace) { n.Description = rand.Text() }))
		return err
	})
	repeat(func() error {
		n, err := s.DeleteChanges(ctx, time.Now().Add(time.Hour), 1000)
		deleted.Add(int64(n))
		return err
	})
	reading.Wait()
	close(done)
	others.Wait()
	if deleted.Load() == 0 {
		t.Error("nothing was deleted")
	}
}

// readSome registers a reader, passes the number of records of the default namespace one by
// one, and removes the reader. It returns an error if a revision is missing.
func readSome(ctx context.Context, s *store.DB, reader string, records int) error {
	if err := s.RegisterReader(ctx, reader); err != nil {
		return err
	}
	at, err := positionOf(ctx, s, reader, defaultNamespace)
	if err != nil {
		return err
	}
	for passed := 0; passed < records; {
		page, err := s.Changes(ctx, change.Query{Namespace: defaultNamespace, After: at, Limit: 3})
		if err != nil {
			return err
		}
		for _, record := range page {
			if record.Revision != at.Revision+1 {
				return fmt.Errorf("%s got revision %d after %d", reader, record.Revision, at.Revision)
			}
			if err := s.AdvanceReader(ctx, reader, at, record); err != nil {
				return errors.Join(fmt.Errorf("%s at %v", reader, at), err)
			}
			at, passed = record.Cursor(), passed+1
		}
	}
	return s.RemoveReader(ctx, reader)
}
