package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// describe returns a state as text.
func describe(s *guidon.Snapshot) string {
	text := fmt.Sprintf("%d %+v", s.Revision().Number, *s.Namespace())
	for _, f := range s.Flags() {
		text += fmt.Sprintf("; %s=%s %v", f.Key, f.Description, f.Created)
	}
	return text
}

// TestPastAfterCleanup deletes records in small batches. After each, every state is either
// what it was, or gone with an error that names the oldest one, by revision and by time.
func TestPastAfterCleanup(t *testing.T) {
	t.Run("this release", func(t *testing.T) { testPastAfterCleanup(t, "") })
	t.Run("some objects deleted by a release that did not store their positions", func(t *testing.T) {
		testPastAfterCleanup(t, `DELETE FROM change_deletions WHERE revision % 3 > 0`)
	})
}

// testPastAfterCleanup executes the statement before the first cleanup.
func testPastAfterCleanup(t *testing.T, statement string) {
	db := storetest.NewSQLite(t)
	random := rand.New(rand.NewPCG(1, 2))
	states := map[int64]string{}
	for range 60 {
		key := fmt.Sprint("f", random.IntN(4))
		revision, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
			if random.IntN(3) == 0 {
				if err := errors.Join(tx.PutFlag(ctx, &guidon.Flag{Key: key}), tx.DeleteFlag(ctx, key)); err != nil { // changed, then deleted
					return err
				}
			}
			return errors.Join(tx.PutFlag(ctx, &guidon.Flag{Key: key, Description: fmt.Sprint(random.IntN(1000))}),
				tx.PutFlag(ctx, &guidon.Flag{Key: "g" + key, Description: fmt.Sprint(random.IntN(2))}))
		})
		if err != nil {
			t.Fatal(err)
		}
		shot, err := db.Load(t.Context(), "default", nil)
		if err != nil {
			t.Fatal(err)
		}
		states[revision] = describe(shot)
	}
	all, err := db.Changes(t.Context(), change.Query{Namespace: "default", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	times := map[int64]time.Time{}
	for _, c := range all {
		times[c.Revision] = c.At
	}
	if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	lost := int64(0)
	for before := times[2]; before.Before(times[61]); before = before.Add(times[61].Sub(before)/5 + time.Microsecond) {
		for deleted := 1; deleted > 0; {
			if deleted, err = db.DeleteChanges(t.Context(), before, 7); err != nil {
				t.Fatal(err)
			}
			lost = max(lost, wantStates(t, db, states, times))
		}
	}
	if lost < 30 {
		t.Errorf("only %d states were lost: the test tests little", lost)
	}
	var left int
	if err := db.SQL().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM change_deletions d WHERE NOT EXISTS (SELECT 1 FROM changes c
		WHERE c.namespace_key = d.namespace_key AND c.revision = d.revision AND c.seq = d.seq)`).Scan(&left); err != nil || left > 0 {
		t.Errorf("%d positions of deleted records are left, %v", left, err)
	}
}

// wantStates checks that all states are right or lost, and returns how many are lost. A
// state that is not lost has no lost one after it.
func wantStates(t *testing.T, db *store.DB, states map[int64]string, times map[int64]time.Time) (lost int64) {
	t.Helper()
	for revision := int64(2); revision <= 61; revision++ {
		for _, at := range []service.Moment{{Revision: revision}, {Time: times[revision]}} {
			shot, err := db.SnapshotAt(t.Context(), "default", at, service.Demand{}, nil)
			if err == nil {
				if diff := cmp.Diff(states[revision], describe(shot)); diff != "" {
					t.Fatalf("at %s (-then +now):\n%s", at, diff)
				}
				continue
			}
			if lost < revision-2 {
				t.Fatalf("revision %d is lost, one before it is not: %v", revision, err)
			}
			lost = revision - 1
			if !errors.Is(err, guidon.NotFound) || !strings.Contains(err.Error(), "is no longer available; the oldest one is revision ") {
				t.Fatalf("at %s: %v", at, err)
			}
		}
	}
	if lost > 0 {
		oldest := lost + 2
		_, err := db.SnapshotAt(t.Context(), "default", service.Moment{Revision: 1}, service.Demand{}, nil)
		want := fmt.Sprintf("the state of namespace %q at revision 1 is no longer available; the oldest one is revision %d, of %s",
			"default", oldest, times[oldest].Format(time.RFC3339Nano))
		if err == nil || err.Error() != want {
			t.Fatalf("got  %v\nwant %s", err, want)
		}
	}
	return lost
}

// TestLoadAt computes states from all kinds of held snapshots: the current one, older ones,
// also older than the requested state, and one of another history.
func TestLoadAt(t *testing.T) {
	db := storetest.NewSQLite(t)
	var held []*guidon.Snapshot
	for i := range 12 {
		if _, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
			return errors.Join(tx.DeleteFlag(ctx, fmt.Sprint("f", (i+1)%4)), tx.PutFlag(ctx, &guidon.Flag{Key: fmt.Sprint("f", i%4), Description: fmt.Sprint(i)}))
		}); err != nil {
			t.Fatal(err)
		}
		shot, err := db.Load(t.Context(), "default", nil)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, shot)
	}
	other := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 9, Stamp: 9}, []*guidon.Flag{{Key: "wrong"}}, nil)
	for _, want := range held {
		for _, from := range append([]*guidon.Snapshot{nil, other}, held...) {
			shot, err := db.LoadAt(t.Context(), "default", service.Moment{Revision: want.Revision().Number}, from, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(describe(want), describe(shot)); diff != "" || shot.Revision() != want.Revision() {
				t.Errorf("revision %v (-want +got):\n%s", shot.Revision(), diff)
			}
		}
	}
	last := held[len(held)-1]
	if shot, _ := db.LoadAt(t.Context(), "default", service.Moment{Revision: last.Revision().Number}, last, nil); shot != last {
		t.Error("the current state is not the held one")
	}
}
