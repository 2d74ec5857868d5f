package guidon_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

func TestSnapshotLookup(t *testing.T) {
	namespace := &guidon.Namespace{Key: "default"}
	f, g := flagtest.VariantFlag("f"), flagtest.Everyone()
	s := guidon.NewSnapshot(namespace, guidon.Revision{Number: 7, Stamp: 8}, []*guidon.Flag{f}, []*guidon.Segment{g})
	if s.Namespace() != namespace || s.Revision() != (guidon.Revision{Number: 7, Stamp: 8}) {
		t.Errorf("got %v at %v", s.Namespace(), s.Revision())
	}
	if s.Flag("f") != f || s.Flag("g") != nil {
		t.Errorf("flags: got %v and %v", s.Flag("f"), s.Flag("g"))
	}
	if s.Segment("everyone") != g || s.Segment("f") != nil {
		t.Errorf("segments: got %v and %v", s.Segment("everyone"), s.Segment("f"))
	}
}

// TestApply covers single deltas that are known to be delicate. TestApplyRandomly covers
// random ones.
func TestApply(t *testing.T) {
	flag := func(key string, revision int64) *guidon.Flag {
		return &guidon.Flag{Key: key, Name: key, Created: guidon.Position{Revision: revision}}
	}
	before := guidon.NewSnapshot(&guidon.Namespace{Key: "default", Name: "old"}, guidon.Revision{Number: 3},
		[]*guidon.Flag{flag("a", 1), flag("b", 2), flag("c", 3)}, nil)
	tests := []struct {
		name  string
		delta guidon.SnapshotDelta
		want  []string
	}{
		{"nothing", guidon.SnapshotDelta{}, []string{"a", "b", "c"}},
		{"changed keeps its position", guidon.SnapshotDelta{Flags: []*guidon.Flag{flag("b", 2)}}, []string{"a", "b", "c"}},
		{"created", guidon.SnapshotDelta{Flags: []*guidon.Flag{flag("e", 5), flag("d", 4)}}, []string{"a", "b", "c", "d", "e"}},
		{"deleted", guidon.SnapshotDelta{DeletedFlags: []string{"b"}}, []string{"a", "c"}},
		{"created again", guidon.SnapshotDelta{DeletedFlags: []string{"a"}, Flags: []*guidon.Flag{flag("a", 4)}}, []string{"b", "c", "a"}},
		{"created again, without the deletion", guidon.SnapshotDelta{Flags: []*guidon.Flag{flag("a", 4)}}, []string{"b", "c", "a"}},
		{"created and deleted in between", guidon.SnapshotDelta{DeletedFlags: []string{"x"}}, []string{"a", "b", "c"}},
		{"all deleted", guidon.SnapshotDelta{DeletedFlags: []string{"a", "b", "c"}}, nil},
		{
			"within one revision", // as created by an import
			guidon.SnapshotDelta{Flags: []*guidon.Flag{
				{Key: "e", Created: guidon.Position{Revision: 4, Sequence: 1}}, {Key: "d", Created: guidon.Position{Revision: 4}},
			}},
			[]string{"a", "b", "c", "d", "e"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.delta.Revision = guidon.Revision{Number: 9, Stamp: 1}
			after := before.Apply(tt.delta)
			if diff := gocmp.Diff(tt.want, flagKeys(after)); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
			for _, f := range tt.delta.Flags {
				if after.Flag(f.Key) != f {
					t.Errorf("flag %q is not the new one", f.Key)
				}
			}
			if got := after.Revision(); got != tt.delta.Revision {
				t.Errorf("revision: got %v", got)
			}
			if after.Namespace() != before.Namespace() {
				t.Errorf("namespace: got %v, want the old one", after.Namespace())
			}
			if diff := gocmp.Diff([]string{"a", "b", "c"}, flagKeys(before)); diff != "" {
				t.Errorf("the old snapshot changed (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("namespace", func(t *testing.T) {
		namespace := &guidon.Namespace{Key: "default", Name: "new"}
		if got := before.Apply(guidon.SnapshotDelta{Namespace: namespace}).Namespace(); got != namespace {
			t.Errorf("got %v, want the new one", got)
		}
	})
}

func flagKeys(s *guidon.Snapshot) []string {
	var keys []string
	for _, f := range s.Flags() {
		keys = append(keys, f.Key)
	}
	return keys
}

// world is the state of a namespace that changes at random, and the changes since the
// last call of takeDelta.
type world struct {
	random   *rand.Rand
	flagKeys int // how many different ones
	revision int64
	sequence int32
	flags    map[string]*guidon.Flag
	segments map[string]*guidon.Segment

	changed                       map[string]bool // keys of flags and segments
	deletedFlags, deletedSegments map[string]bool
}

func newWorld(seed uint64) *world {
	return &world{
		random: rand.New(rand.NewPCG(seed, 0)), flagKeys: 12, changed: map[string]bool{},
		flags: map[string]*guidon.Flag{}, deletedFlags: map[string]bool{},
		segments: map[string]*guidon.Segment{}, deletedSegments: map[string]bool{},
	}
}

// TestApplyRandomly compares Apply with NewSnapshot of the same state, over long
// sequences of changes. They create and delete segments that flags use.
func TestApplyRandomly(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			w := newWorld(seed)
			applied := w.snapshot()
			base, deltas := applied, []guidon.SnapshotDelta(nil) // deltas from base to applied
			for step := range 50 {
				for range w.random.IntN(4) + 1 {
					w.revision, w.sequence = w.revision+1, 0
					for range w.random.IntN(3) + 1 {
						w.change()
						w.sequence++
					}
				}
				before := describe(t, applied)
				delta := w.takeDelta()
				next := applied.Apply(delta)
				if after := describe(t, applied); !reflect.DeepEqual(before, after) {
					t.Fatalf("step %d changed the old snapshot (-before +after):\n%s", step, gocmp.Diff(before, after))
				}
				if want, got := describe(t, w.snapshot()), describe(t, next); !reflect.DeepEqual(want, got) {
					t.Fatalf("step %d: Apply differs from NewSnapshot (-new +applied):\n%s", step, gocmp.Diff(want, got))
				}
				at := instant(w.random.IntN(timesOfRules))
				if want, got := describe(t, w.snapshot().At(at)), describe(t, next.At(at)); !reflect.DeepEqual(want, got) {
					t.Fatalf("step %d: Apply differs from NewSnapshot at %v (-new +applied):\n%s", step, at, gocmp.Diff(want, got))
				}
				if want, got := describe(t, next.At(at)), describe(t, applied.Preview(instant(w.random.IntN(timesOfRules))).Apply(delta).At(at)); !reflect.DeepEqual(want, got) {
					t.Fatalf("step %d: a change of another epoch differs at %v (-want +got):\n%s", step, at, gocmp.Diff(want, got))
				}
				deltas = append(deltas, delta)
				if want, got := describe(t, next), describe(t, base.Apply(deltas...)); !reflect.DeepEqual(want, got) {
					t.Fatalf("step %d: %d deltas together differ from one after the other (-each +together):\n%s", step, len(deltas), gocmp.Diff(want, got))
				}
				if applied = next; w.random.IntN(8) == 0 {
					base, deltas = applied, nil
				}
			}
		})
	}
}

// change creates, replaces, deletes or creates again one flag or segment.
func (w *world) change() {
	at := guidon.Position{Revision: w.revision, Sequence: w.sequence}
	if w.random.IntN(2) == 0 {
		key := fmt.Sprintf("segment-%d", w.random.IntN(6))
		old := w.segments[key]
		if old != nil && w.random.IntN(3) == 0 {
			delete(w.segments, key)
			w.deletedSegments[key] = true
			return
		}
		g := w.randomSegment(key)
		g.Created = at
		if old != nil {
			g.Created = old.Created
		}
		w.segments[key], w.changed[key] = g, true
		return
	}
	key := fmt.Sprintf("flag-%d", w.random.IntN(w.flagKeys))
	old := w.flags[key]
	if old != nil && w.random.IntN(3) == 0 {
		delete(w.flags, key)
		w.deletedFlags[key] = true
		return
	}
	f := w.randomFlag(key)
	f.Created = at
	if old != nil {
		f.Created = old.Created
	}
	w.flags[key], w.changed[key] = f, true
}

func (w *world) randomSegment(key string) *guidon.Segment {
	var constraints []*guidon.Constraint
	for range w.random.IntN(3) {
		constraints = append(constraints, flagtest.Has(string(rune('a'+w.random.IntN(3)))))
	}
	return flagtest.Segment(key, guidon.MatchType(w.random.IntN(2)), constraints...)
}

// randomFlag returns a flag, of which each second one has a rule with a time.
func (w *world) randomFlag(key string) *guidon.Flag {
	f := w.timelessFlag(key)
	times := guidon.Conditions{From: instant(w.random.IntN(timesOfRules)), Until: instant(w.random.IntN(timesOfRules))}
	switch i := w.random.IntN(4); {
	case i > 1:
	case f.Type == guidon.VariantFlag:
		f.Rules[0].Conditions = times.OrNil()
	default:
		f.Rollouts[i].Conditions = times.OrNil()
	}
	return f
}

func (w *world) timelessFlag(key string) *guidon.Flag {
	var segments []string
	for range w.random.IntN(3) + 1 {
		segments = append(segments, fmt.Sprintf("segment-%d", w.random.IntN(6)))
	}
	if w.random.IntN(2) == 0 {
		return flagtest.BooleanFlag(key, w.random.IntN(2) == 0,
			flagtest.Threshold(float32(w.random.IntN(30)), true), flagtest.SegmentRollout(true, guidon.SegmentOperator(w.random.IntN(2)), segments...))
	}
	r := flagtest.Rule(flagtest.Shares{float32(w.random.IntN(60)), float32(w.random.IntN(60))}, segments...)
	r.SegmentOperator = guidon.SegmentOperator(w.random.IntN(2))
	return flagtest.VariantFlag(key, r)
}

// takeDelta returns the changes since the last call, as a store would. They may delete
// objects that the previous snapshot does not have, or that exist again.
func (w *world) takeDelta() guidon.SnapshotDelta {
	delta := guidon.SnapshotDelta{
		Namespace: w.namespace(), Revision: guidon.Revision{Number: w.revision},
		DeletedFlags: slices.Collect(maps.Keys(w.deletedFlags)), DeletedSegments: slices.Collect(maps.Keys(w.deletedSegments)),
	}
	for _, f := range w.flags {
		if w.changed[f.Key] {
			delta.Flags = append(delta.Flags, f)
		}
	}
	for _, g := range w.segments {
		if w.changed[g.Key] {
			delta.Segments = append(delta.Segments, g)
		}
	}
	clear(w.changed)
	clear(w.deletedFlags)
	clear(w.deletedSegments)
	return delta
}

func (w *world) namespace() *guidon.Namespace { return &guidon.Namespace{Key: "default"} }

// snapshot returns a new snapshot of the whole state.
func (w *world) snapshot() *guidon.Snapshot {
	flags, segments := slices.Collect(maps.Values(w.flags)), slices.Collect(maps.Values(w.segments))
	slices.SortFunc(flags, func(a, b *guidon.Flag) int { return compareCursors(a.Created, b.Created) })
	slices.SortFunc(segments, func(a, b *guidon.Segment) int { return compareCursors(a.Created, b.Created) })
	return guidon.NewSnapshot(w.namespace(), guidon.Revision{Number: w.revision}, flags, segments)
}

func compareCursors(a, b guidon.Position) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Sequence, b.Sequence))
}

// description is everything that a snapshot returns.
type description struct {
	Namespace *guidon.Namespace
	Revision  guidon.Revision
	Flags     []*guidon.Flag
	Segments  []*guidon.Segment
	Results   map[string]any
}

func describe(t *testing.T, s *guidon.Snapshot) description {
	t.Helper()
	d := description{
		Namespace: s.Namespace(), Revision: s.Revision(), Results: map[string]any{},
		Flags: append([]*guidon.Flag(nil), s.Flags()...), Segments: append([]*guidon.Segment(nil), s.Segments()...),
	}
	for _, g := range d.Segments {
		if s.Segment(g.Key) != g {
			t.Errorf("segment %q: the list and the lookup differ", g.Key)
		}
	}
	for key := range 6 {
		d.Results[fmt.Sprintf("has segment-%d", key)] = s.Segment(fmt.Sprintf("segment-%d", key)) != nil
	}
	for _, f := range d.Flags {
		if s.Flag(f.Key) != f {
			t.Errorf("flag %q: the list and the lookup differ", f.Key)
		}
	}
	for key := range 12 {
		d.Results[fmt.Sprintf("flag-%d", key)] = evaluateAll(s, fmt.Sprintf("flag-%d", key))
	}
	return d
}

// evaluateAll returns the results and errors of the flag for several entities.
func evaluateAll(s *guidon.Snapshot, key string) (results []any) {
	for _, context := range []map[string]string{nil, flagtest.Yes("a"), flagtest.Yes("b", "c"), flagtest.Yes("a", "b", "c")} {
		for _, id := range []string{"user-1", "user-2", "user-3"} {
			variant, err := s.Variant(key, id, context)
			results = append(results, variant, fmt.Sprint(err))
			boolean, err := s.Boolean(key, id, context)
			results = append(results, boolean, fmt.Sprint(err))
		}
	}
	return results
}
