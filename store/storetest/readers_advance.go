package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/store"
)

// A cursor moves only forward, and only from where its process believes it to be.
func testAdvanceReader(t *testing.T, s *store.DB) {
	registerEarliest(t, s, "r")
	describeNamespace(t, s, defaultNamespace, 4)
	records := unread(t, s, changed(t, s, "r")[0], 10)
	start := change.After(0)
	advance(t, s, "r", start, records[1])
	at := records[1].Cursor()
	for _, c := range []struct {
		name string
		from guidon.Position
		past *change.Record
	}{
		{"from an earlier position", start, records[2]},
		{"from an earlier position, to an earlier record", start, records[0]},
		{"from an earlier position, to the same record", start, records[1]},
		{"from a later position", records[2].Cursor(), records[3]},
		{"to a record with another stamp", at, &change.Record{Namespace: defaultNamespace, Revision: 3, Stamp: records[2].Stamp + 1}},
		{"to a record that the log does not have", at, &change.Record{Namespace: defaultNamespace, Revision: 99}},
		{"to a record of another namespace", at, &change.Record{Namespace: "other", Revision: 3, Stamp: records[2].Stamp}},
	} {
		wantCode(t, c.name, s.AdvanceReader(t.Context(), "r", c.from, c.past), guidon.FailedPrecondition)
		wantPosition(t, s, "r", defaultNamespace, at)
	}
	for name, past := range map[string]*change.Record{"to an earlier record": records[0], "to the same record": records[1]} {
		if err := s.AdvanceReader(t.Context(), "r", at, past); err == nil {
			t.Errorf("%s: the cursor was moved", name)
		}
		wantPosition(t, s, "r", defaultNamespace, at)
	}
	advance(t, s, "r", at, records[4])
	wantPosition(t, s, "r", defaultNamespace, records[4].Cursor())
	readers, err := s.Readers(t.Context())
	if err != nil || len(readers) != 1 || !readers[0].AdvancedAt.After(readers[0].RegisteredAt) {
		t.Errorf("got %+v, %v, want the time of the advance", readers, err)
	}
}

// Several processes advance the same reader. At each position, exactly one of them succeeds.
func testAdvanceRaces(t *testing.T, s *store.DB) {
	register(t, s, "r")
	const processes, revisions = 4, 20
	describeNamespace(t, s, defaultNamespace, revisions)
	var wg sync.WaitGroup
	var mu sync.Mutex
	moved := map[int64]int{} // how often the cursor was moved to a revision
	for range processes {
		wg.Go(func() {
			for at := change.After(1); at.Revision <= revisions; {
				next, err := s.Changes(t.Context(), change.Query{Namespace: defaultNamespace, After: at, Limit: 1})
				if err == nil {
					err = s.AdvanceReader(t.Context(), "r", at, next[0])
				}
				if err == nil {
					mu.Lock()
					moved[next[0].Revision]++
					mu.Unlock()
				} else if !errors.Is(err, guidon.FailedPrecondition) {
					t.Error(err)
					return
				}
				last := at
				if at, err = positionOf(t.Context(), s, "r", defaultNamespace); err != nil || at.Revision <= last.Revision {
					t.Errorf("the cursor went from %v to %v, %v", last, at, err)
					return
				}
			}
		})
	}
	wg.Wait()
	want := map[int64]int{}
	for i := range revisions {
		want[int64(i+2)] = 1
	}
	wantEqual(t, "advances to each revision", want, moved)
}

// A removed reader has no cursors left, and its process cannot leave new ones behind.
func testRemoveReader(t *testing.T, s *store.DB) {
	describeNamespace(t, s, defaultNamespace, 2)
	registerEarliest(t, s, "r")
	n := changed(t, s, "r")[0]
	records := unread(t, s, n, 10)
	advance(t, s, "r", n.Position, records[0])
	mustSucceed(t, s.RemoveReader(t.Context(), "r"))
	wantCode(t, "advance", s.AdvanceReader(t.Context(), "r", records[0].Cursor(), records[1]), guidon.NotFound)
	wantCode(t, "second removal", s.RemoveReader(t.Context(), "r"), guidon.NotFound)
	wantRows(t, s, "change_cursors", 0)
	registerEarliest(t, s, "r")
	wantEqual(t, "records that it read when registered again", 3, len(readAll(t, s, "r", 10)))
}
