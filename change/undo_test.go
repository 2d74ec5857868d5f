package change_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// history is a namespace with its change records.
type history struct {
	t         testing.TB
	namespace *guidon.Namespace
	flags     map[string]*guidon.Flag
	segments  map[string]*guidon.Segment
	records   []*change.Record
	revision  int64
}

func newHistory(t testing.TB) *history {
	return &history{t: t, namespace: &guidon.Namespace{Key: "n", Name: "N"}, flags: map[string]*guidon.Flag{}, segments: map[string]*guidon.Segment{}}
}

// add adds a record of the next revision.
func (h *history) add(kind change.Kind, key string, before, after any) {
	h.t.Helper()
	r := record(h.t, kind, key, before, after)
	h.revision++
	r.Namespace, r.Revision = "n", h.revision
	h.records = append(h.records, r)
}

func (h *history) setFlag(key string, f *guidon.Flag) {
	h.t.Helper()
	h.add(change.KindFlag, key, h.flags[key], f)
	set(h.flags, key, f)
}

func (h *history) setSegment(key string, g *guidon.Segment) {
	h.t.Helper()
	h.add(change.KindSegment, key, h.segments[key], g)
	set(h.segments, key, g)
}

func (h *history) setNamespace(n *guidon.Namespace) {
	h.t.Helper()
	h.add(change.KindNamespace, "n", h.namespace, n)
	h.namespace = n
}

func set[T any](objects map[string]*T, key string, object *T) {
	if object == nil {
		delete(objects, key)
	} else {
		objects[key] = object
	}
}

func (h *history) state() change.Objects {
	return change.Objects{Namespace: h.namespace, Flags: values(h.flags), Segments: values(h.segments)}
}

func values[T any](objects map[string]*T) (list []*T) {
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		list = append(list, objects[key])
	}
	return list
}

// undo undoes the records in the range, and returns the conflicts. It changes nothing if
// there are any.
func (h *history) undo(from, to int, choices map[change.Object]change.Choices) []change.ObjectConflicts {
	h.t.Helper()
	undone, err := change.Undo(h.records[from:to], h.state(), choices)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(undone.Conflicts) > 0 {
		return undone.Conflicts
	}
	if err := undone.Patch.Validate(); err != nil {
		h.t.Fatal(err)
	}
	if n := undone.Patch.Put.Namespace; n != nil {
		h.setNamespace(n)
	}
	for _, g := range undone.Patch.Put.Segments {
		h.setSegment(g.Key, g)
	}
	for _, f := range undone.Patch.Put.Flags {
		h.setFlag(f.Key, f)
	}
	for _, key := range undone.Patch.Delete.Flags {
		h.setFlag(key, nil)
	}
	for _, key := range undone.Patch.Delete.Segments {
		h.setSegment(key, nil)
	}
	return nil
}

func (h *history) check(what string, want change.Objects) {
	h.t.Helper()
	got := h.state()
	if timeless(got) != timeless(want) {
		h.t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, got, sameExceptTimes))
	}
}

func TestUndo(t *testing.T) {
	h := newHistory(t)
	h.setFlag("f", twoRules())                                                              // 0
	h.setFlag("f", twoRules(rename("renamed")))                                             // 1
	h.setFlag("f", twoRules(rename("renamed"), share(0, 0, 10)))                            // 2
	h.setFlag("f", twoRules(rename("renamed"), share(0, 0, 10), addRule(0, "r0", "first"))) // 3
	original := h.state()
	// What was not changed since is undone, and later changes stay.
	if conflicts := h.undo(1, 2, nil); conflicts != nil {
		t.Fatalf("conflicts %+v", conflicts)
	}
	h.check("undo of the name", change.Objects{Namespace: h.namespace, Flags: []*guidon.Flag{twoRules(share(0, 0, 10), addRule(0, "r0", "first"))}})
	h.undo(4, 5, nil)
	h.check("undo of the undo", original)
	// A range.
	h.undo(1, 4, nil)
	h.check("undo of a range", change.Objects{Namespace: h.namespace, Flags: []*guidon.Flag{twoRules()}})
	h.undo(6, 7, nil)
	h.check("undo of the undo of a range", original)
	// Creation and deletion.
	h.setFlag("f", nil) // 8
	h.undo(8, 9, nil)
	h.check("undo of a deletion", original)
	h.undo(0, 4, nil)
	h.check("undo of everything", change.Objects{Namespace: h.namespace})
}

func TestUndoConflicts(t *testing.T) {
	h := newHistory(t)
	h.setSegment("staff", flagtest.Everyone())
	h.setFlag("f", twoRules())
	h.setFlag("f", twoRules(share(0, 0, 10), rename("renamed")))
	h.setFlag("f", twoRules(share(0, 0, 20), rename("renamed")))
	before := h.state()
	got := h.undo(2, 3, nil)
	want := []change.ObjectConflicts{{
		Object: change.Object{Kind: change.KindFlag, Key: "f"},
		Conflicts: []change.Conflict{{
			Path: `rules["r1"].distributions`, Name: "rule 1: shares",
			Base:   json.RawMessage(`[{"variant":"A","rollout":10},{"variant":"B","rollout":50}]`),
			Ours:   json.RawMessage(`[{"variant":"A","rollout":20},{"variant":"B","rollout":50}]`),
			Theirs: json.RawMessage(`[{"variant":"A","rollout":50},{"variant":"B","rollout":50}]`),
			Words:  change.ConflictWords{Base: `10% "A", 50% "B"`, Ours: `20% "A", 50% "B"`, Theirs: `50% "A", 50% "B"`},
		}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	h.check("nothing happens", before)
	choose := func(side change.Side) map[change.Object]change.Choices {
		return map[change.Object]change.Choices{got[0].Object: change.ResolveAll(got[0].Conflicts, side)}
	}
	if conflicts := h.undo(2, 3, choose(change.Ours)); conflicts != nil {
		t.Fatalf("conflicts %+v", conflicts)
	}
	h.check("the current percentage", change.Objects{Namespace: h.namespace, Flags: []*guidon.Flag{twoRules(share(0, 0, 20))}, Segments: before.Segments})

	undone, err := change.Undo(h.records[2:3], before, choose(change.Theirs))
	if err != nil || len(undone.Conflicts) > 0 {
		t.Fatalf("conflicts %+v, error %v", undone, err)
	}
	checkSame(t, "the percentage before", twoRules(), undone.Patch.Put.Flags[0])
}

func TestUndoNamespace(t *testing.T) {
	h := newHistory(t)
	h.setNamespace(&guidon.Namespace{Key: "n", Name: "Renamed"})
	h.setNamespace(&guidon.Namespace{Key: "n", Name: "Renamed", Protected: true})
	h.undo(0, 1, nil)
	h.check("undo", change.Objects{Namespace: &guidon.Namespace{Key: "n", Name: "N", Protected: true}})
	// Undone already: there is nothing to do.
	undone, err := change.Undo(h.records[:1], h.state(), nil)
	if err != nil || undone.Patch.Put.Namespace != nil {
		t.Errorf("got %+v, %v; want no patch", undone, err)
	}
}

func TestUndoErrors(t *testing.T) {
	h := newHistory(t)
	h.setFlag("f", boolean())
	other := *h.records[0]
	other.Namespace = "other"
	created := record(t, change.KindNamespace, "n", nil, h.namespace)
	token := record(t, change.KindAuthentication, "1", nil, map[string]string{})
	misfit := map[change.Object]change.Choices{{Kind: change.KindFlag, Key: "g"}: {"name": change.Ours}}
	noConflict := map[change.Object]change.Choices{{Kind: change.KindFlag, Key: "f"}: {"name": change.Ours}}
	for _, test := range []struct {
		records []*change.Record
		choices map[change.Object]change.Choices
		want    string
	}{
		{[]*change.Record{h.records[0], &other}, nil, "cannot undo changes of several namespaces, or of tokens, bindings or webhooks"},
		{[]*change.Record{token}, nil, "cannot undo changes of several namespaces, or of tokens, bindings or webhooks"},
		{[]*change.Record{created}, nil, `cannot undo the creation of namespace "n": delete it`},
		{[]*change.Record{{Kind: "gadget"}}, nil, "cannot undo a change of a gadget"},
		{h.records, misfit, `invalid choice for flag "g": these changes are not about it`},
		{h.records, noConflict, `flag "f": invalid choice for name: there is no such conflict`},
	} {
		_, err := change.Undo(test.records, h.state(), test.choices)
		flagtest.CheckError(t, err, guidon.InvalidArgument, test.want)
	}
	if undone, err := change.Undo(nil, h.state(), nil); err != nil || len(undone.Patch.Put.Flags) > 0 {
		t.Errorf("got %+v, %v for no records", undone, err)
	}
	h.records[0].After = json.RawMessage(`{"type":1}`)
	if _, err := change.Undo(h.records, h.state(), nil); !guidon.IsUnreadable(err) {
		t.Errorf("got %v, want that the record needs a newer release", err)
	}
}

// changeAtRandom creates, changes or deletes one of few objects.
func (h *history) changeAtRandom(s *flagtest.Source, random *rand.Rand) {
	h.t.Helper()
	key := []string{"a", "b"}[random.IntN(2)]
	switch f, g := h.flags[key], h.segments[key]; random.IntN(8) {
	case 0:
		h.setNamespace(s.EditNamespace(h.namespace))
	case 1:
		if f != nil {
			h.setFlag(key, nil)
		}
	case 2:
		if g != nil {
			h.setSegment(key, nil)
		}
	case 3:
		if g == nil {
			h.setSegment(key, s.Segment(key))
		} else {
			h.setSegment(key, s.EditSegment(g))
		}
	default:
		if f == nil {
			h.setFlag(key, s.Flag(key))
		} else {
			h.setFlag(key, s.EditFlag(f))
		}
	}
}

// FuzzUndo makes random changes and undoes a random range of them. Undoing the newest
// changes gives the state before them. Undoing an undo gives the state before it, and an
// undo without conflicts leaves valid flags.
func FuzzUndo(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := flagtest.NewSource(seed)
		h := newHistory(t)
		states := []change.Objects{h.state()} // after each record
		random := rand.New(rand.NewPCG(seed, 2))
		for range 12 {
			h.changeAtRandom(s, random)
			for len(states) <= len(h.records) { // not for a deletion of nothing
				states = append(states, h.state())
			}
		}
		n := len(h.records)
		if n == 0 {
			return
		}
		from := int(seed % uint64(n))
		to := from + 1 + int(seed/7)%(n-from)

		if conflicts := h.undo(from, n, nil); conflicts != nil {
			t.Fatalf("conflicts in the newest changes: %+v", conflicts)
		}
		h.check("undo of the newest changes", states[from])
		undone := len(h.records)
		h.undo(n, undone, nil)
		h.check("undo of the undo", states[n])

		undone = len(h.records)
		if conflicts := h.undo(from, to, nil); conflicts != nil {
			choices := map[change.Object]change.Choices{}
			for _, c := range conflicts {
				choices[c.Object] = change.ResolveAll(c.Conflicts, change.Theirs)
			}
			if rest := h.undo(from, to, choices); rest != nil {
				t.Fatalf("conflicts after all of %+v were resolved: %+v", conflicts, rest)
			}
		}
		for _, f := range h.flags {
			checkValid(t, f)
		}
		h.undo(undone, len(h.records), nil)
		h.check("undo of an undo of older changes", states[n])
	})
}
