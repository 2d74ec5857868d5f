package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Several goroutines read, change and write the same flag. No change is lost.
func testLostUpdates(t *testing.T, s service.Store) {
	counter := newFlag("counter")
	counter.Description = "0"
	putFlags(t, s, defaultNamespace, counter)
	const writers, writes = 4, 15
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range writes {
				if _, err := s.Update(t.Context(), defaultNamespace, service.Write{}, increment); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	wantEqual(t, "the counter", fmt.Sprint(writers*writes), snapshot(t, s, defaultNamespace).Flag("counter").Description)
}

func increment(ctx context.Context, tx service.Tx) error {
	f, err := tx.Flag(ctx, "counter")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(f.Description)
	if err != nil {
		return err
	}
	f.Description = strconv.Itoa(n + 1)
	return tx.PutFlag(ctx, f)
}

// A writer changes two flags, a segment and the namespace in each revision. Readers
// always see all of them as of the snapshot's revision, and never an older revision
// than before, or than one that was acknowledged before.
func testTornReads(t *testing.T, s service.Store) {
	const writes = 60
	writeAll(t, s)
	var acknowledged atomic.Int64
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := int64(0)
			for !done.Load() {
				atLeast := max(last, acknowledged.Load())
				shot, _, err := s.Snapshot(t.Context(), defaultNamespace, service.Demand{})
				if err != nil {
					t.Error(err)
					return
				}
				wantWhole(t, shot)
				if last = shot.Revision().Number; last < atLeast {
					t.Errorf("revision %d was read after %d was read or acknowledged", last, atLeast)
				}
			}
		})
	}
	for range writes {
		acknowledged.Store(writeAll(t, s))
	}
	done.Store(true)
	wg.Wait()
	wantEqual(t, "revision", writes+2, snapshot(t, s, defaultNamespace).Revision().Number)
}

func writeAll(t *testing.T, s service.Store) int64 {
	t.Helper()
	return update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		n, err := tx.Namespace(ctx)
		if err != nil {
			return err
		}
		previous, _ := strconv.Atoi(n.Description) // the text of the seed counts as 0
		text := strconv.Itoa(max(previous, 1) + 1)
		n.Description = text
		a, b, g := newFlag("a"), newFlag("b"), newSegment("s")
		a.Description, b.Description, g.Description = text, text, text
		return errors.Join(tx.PutNamespace(ctx, n), tx.PutFlag(ctx, a), tx.PutSegment(ctx, g), tx.PutFlag(ctx, b))
	})
}

func wantWhole(t *testing.T, shot *guidon.Snapshot) {
	want := fmt.Sprint(shot.Revision().Number)
	got := []string{
		shot.Namespace().Description, shot.Flag("a").Description, shot.Segment("s").Description, shot.Flag("b").Description,
	}
	for _, text := range got {
		if text != want {
			t.Errorf("snapshot of revision %s mixes %q", want, got)
			return
		}
	}
}

// errTaken is returned by the function of a race if another one has won.
var errTaken = errors.New("taken")

func testUniqueFlag(t *testing.T, s service.Store) {
	race(t, errTaken, func(ctx context.Context, i int) error {
		_, err := s.Update(ctx, defaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
			if _, err := tx.Flag(ctx, "wanted"); !errors.Is(err, guidon.NotFound) {
				return errors.Join(errTaken, err)
			}
			f := newFlag("wanted")
			f.Name = fmt.Sprint("by ", i)
			return tx.PutFlag(ctx, f)
		})
		return err
	})
	wantEqual(t, "flags", 1, len(snapshot(t, s, defaultNamespace).Flags()))
}

// A new namespace has no row that could be locked. The losers run again and must see
// the winner's namespace, and nothing of their earlier runs may be stored.
func testUniqueNamespace(t *testing.T, s service.Store) {
	for round := range 5 {
		key := fmt.Sprint("namespace-", round)
		race(t, errTaken, func(ctx context.Context, i int) error {
			_, err := s.Update(ctx, key, service.Write{}, func(ctx context.Context, tx service.Tx) error {
				if _, err := tx.Namespace(ctx); !errors.Is(err, guidon.NotFound) {
					return errors.Join(errTaken, err)
				}
				if err := tx.PutNamespace(ctx, &guidon.Namespace{Key: key, Name: fmt.Sprint("by ", i)}); err != nil {
					return err
				}
				return tx.PutFlag(ctx, newFlag(fmt.Sprint("by-", i)))
			})
			return err
		})
		shot := snapshot(t, s, key)
		if shot.Revision().Number != 1 || len(shot.Flags()) != 1 {
			t.Errorf("got %d flags at revision %d, want 1 at 1", len(shot.Flags()), shot.Revision().Number)
		}
		wantEqual(t, "records", 2, len(allChanges(t, s, change.Query{Namespace: key})))
	}
}

// race runs attempt 8 times concurrently. It checks that exactly one succeeds, which it returns,
// and that the others fail with late.
func race(t *testing.T, late error, attempt func(ctx context.Context, i int) error) (winner int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	var wg sync.WaitGroup
	start := make(chan time.Time)
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			<-start
			errs[i] = attempt(ctx, i)
		})
	}
	close(start)
	wg.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			winner = i
			won++
		} else if !errors.Is(err, late) {
			t.Error(err)
		}
	}
	wantEqual(t, "attempts that succeeded", 1, won)
	return winner
}
