package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// How many earlier states testPast reads.
const (
	manyPasts = 1000
	fewPasts  = 200
)

// testPast makes random changes of every kind and keeps an export after each. Then every
// one of these states must still be readable.
func testPast(t *testing.T, s service.Store, changes int) {
	if testing.Short() || bubble.RaceDetector {
		changes = fewPasts
	}
	makePast(t, s, "shop", changes).wantReadable(t, s)
	made := make(map[string]int)
	for _, c := range allChanges(t, s, change.Query{Namespace: "shop"}) {
		made[fmt.Sprint(c.Action, " ", c.Kind)]++
	}
	if len(made) != 9 { // to create, update and delete a namespace, flags and segments
		t.Errorf("not all kinds of changes were made: %v", made)
	}
}

// testPastOfDeleted reads the states of a namespace that was deleted last.
func testPastOfDeleted(t *testing.T, s service.Store) {
	e := makePast(t, s, "shop", 60)
	if e.current() != nothing {
		e.keep(t, s, deleteNamespace(t, s, "shop"))
	}
	e.wantReadable(t, s)
}

// makePast makes random changes of the namespace until it is at the revision, and returns the
// exports of all its states.
func makePast(t *testing.T, s service.Store, namespace string, revision int) *exports {
	t.Helper()
	w, e := newRandomWriter(namespace, 16), &exports{namespace: namespace}
	for e.last() < int64(revision) {
		e.keep(t, s, update(t, s, namespace, w.change))
	}
	return e
}

func testPastErrors(t *testing.T, s service.Store) {
	createNamespace(t, s, "shop") // 1
	putFlags(t, s, "shop", newFlag("a"))
	last := deleteNamespace(t, s, "shop")
	at := allChanges(t, s, change.Query{Namespace: "shop"})[0].At
	for _, c := range []struct {
		name, namespace string
		at              service.Moment
		want            string
	}{
		{"unknown namespace", "till", service.Moment{Revision: 1}, `namespace "till" not found`},
		{"unknown namespace at a time", "till", service.Moment{Time: at}, `namespace "till" not found`},
		{"reserved namespace", service.AuthenticationsKey, service.Moment{Revision: 1}, `namespace "(authentications)" not found`},
		{"key that cannot be stored", "\x00", service.Moment{Revision: 1}, `namespace "\x00" not found`},
		{"future revision", "shop", service.Moment{Revision: last + 1}, `namespace "shop" has no revision 4 yet; the current one is 3`},
		{"deleted", "shop", service.Moment{Revision: last}, `namespace "shop" did not exist at revision 3`},
		{"not yet created", "shop", service.Moment{Time: at.Add(-time.Microsecond)},
			fmt.Sprintf(`namespace "shop" did not exist at %s`, at.Add(-time.Microsecond).Format(time.RFC3339Nano))},
	} {
		_, err := s.SnapshotAt(t.Context(), c.namespace, c.at, service.Demand{}, nil)
		if !errors.Is(err, guidon.NotFound) || err.Error() != c.want {
			t.Errorf("%s: got %v, want NotFound: %s", c.name, err, c.want)
		}
	}
}

// testPastMemory checks that a large state is announced before it is computed, and that
// the caller can refuse it.
func testPastMemory(t *testing.T, s service.Store) {
	large := newFlag("large")
	large.Description = strings.Repeat("x", 300<<10)
	first := putFlags(t, s, defaultNamespace, large)
	putFlags(t, s, defaultNamespace, newFlag("large"))
	var admitted []int64
	admit := func(answer error) service.Admit {
		return func(_ context.Context, bytes int64) error {
			admitted = append(admitted, bytes)
			return answer
		}
	}
	shot, err := s.SnapshotAt(t.Context(), defaultNamespace, service.Moment{Revision: first}, service.Demand{}, admit(nil))
	if err != nil || shot.Flag("large").Description != large.Description {
		t.Fatalf("got %v", err)
	}
	if len(admitted) != 1 || admitted[0] < 300<<10 || admitted[0] > 400<<10 {
		t.Errorf("announced %v bytes, want about %d once", admitted, 300<<10)
	}
	if _, err := s.SnapshotAt(t.Context(), defaultNamespace, service.Moment{Revision: first}, service.Demand{}, admit(errStop)); !errors.Is(err, errStop) {
		t.Errorf("refused: got %v, want %v", err, errStop)
	}
	if _, err := s.SnapshotAt(t.Context(), defaultNamespace, service.Moment{Revision: first + 1}, service.Demand{}, admit(errStop)); err != nil {
		t.Errorf("nothing to undo: %v", err)
	}
}

// nothing is the export of a namespace that does not exist.
const nothing = "nothing"

// exports are the exports of one namespace, by revision.
type exports struct {
	namespace string
	texts     []string // that of revision 1 is the first
}

// last returns the current revision.
func (e *exports) last() int64 { return int64(len(e.texts)) }

// current returns the export of the current state.
func (e *exports) current() string {
	if len(e.texts) == 0 {
		return nothing
	}
	return e.texts[len(e.texts)-1]
}

// keep adds the export of the current state if it is a new revision.
func (e *exports) keep(t testing.TB, s service.Store, revision int64) {
	t.Helper()
	if revision == e.last() {
		return
	}
	if revision != e.last()+1 {
		t.Fatalf("revision %d follows %d", revision, e.last())
	}
	shot, _, err := s.Snapshot(t.Context(), e.namespace, service.Demand{})
	e.texts = append(e.texts, textOf(t, shot, err))
}

// textOf returns all that a state consists of, and its export.
func textOf(t testing.TB, shot *guidon.Snapshot, err error) string {
	t.Helper()
	if errors.Is(err, guidon.NotFound) {
		return nothing
	}
	mustSucceed(t, err)
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d\n", shot.Revision().Number)
	line := func(object any, created guidon.Position) { fmt.Fprintf(&b, "%s %v\n", mustJSON(t, object), created) }
	line(shot.Namespace(), guidon.Position{})
	for _, f := range shot.Flags() {
		line(f, f.Created)
		if shot.Flag(f.Key) != f {
			t.Errorf("flag %q is not the listed one", f.Key)
		}
	}
	for _, g := range shot.Segments() {
		line(g, g.Created)
		if shot.Segment(g.Key) != g {
			t.Errorf("segment %q is not the listed one", g.Key)
		}
	}
	b.Write(mustJSON(t, service.View{Snapshot: shot}.Export(false).Document()))
	return b.String()
}

// wantReadable reads all states again, by revision and some of them by time.
func (e *exports) wantReadable(t *testing.T, s service.Store) {
	t.Helper()
	current, _, _ := s.Snapshot(t.Context(), e.namespace, service.Demand{})
	before := textOfCurrent(t, current)
	times := e.times(t, s)
	for i, want := range e.texts {
		revision := int64(i + 1)
		got, err := s.SnapshotAt(t.Context(), e.namespace, service.Moment{Revision: revision}, service.Demand{}, nil)
		if text := textOf(t, got, err); text != want {
			t.Fatalf("revision %d of %d (-then +now):\n%s", revision, e.last(), cmp.Diff(want, text))
		}
		if i%10 != 9 {
			continue // by time, some are enough
		}
		at := times[i]
		last := sort.Search(len(times), func(i int) bool { return times[i].After(at) }) // several may have the same time
		got, err = s.SnapshotAt(t.Context(), e.namespace, service.Moment{Time: at.Add(999)}, service.Demand{}, nil)
		if diff := cmp.Diff(e.texts[last-1], textOf(t, got, err)); diff != "" {
			t.Fatalf("at %s, revision %d of %d (-then +now):\n%s", at, last, e.last(), diff)
		}
	}
	wantEqual(t, "the current state after reading earlier ones", before, textOfCurrent(t, current))
}

func textOfCurrent(t testing.TB, shot *guidon.Snapshot) string {
	if shot == nil {
		return nothing
	}
	return textOf(t, shot, nil)
}

// times returns the times of the revisions, which do not decrease.
func (e *exports) times(t testing.TB, s service.Store) []time.Time {
	t.Helper()
	times := make([]time.Time, len(e.texts))
	for _, c := range allChanges(t, s, change.Query{Namespace: e.namespace}) {
		times[c.Revision-1] = c.At
	}
	return times
}

func mustJSON(t testing.TB, object any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	mustSucceed(t, err)
	return text
}
