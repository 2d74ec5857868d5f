package service_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagrand"
	"github.com/guidonhq/guidon/service"
)

// editModel is what a namespace must contain after edits, by key.
type editModel struct {
	source   *flagrand.Source
	random   *rand.Rand
	revision int64
	flags    map[string]*guidon.Flag
	segments map[string]*guidon.Segment
	changed  map[string]int64 // the last change of "flag/<key>" or "segment/<key>"
}

// TestEditRandomly compares random edits with a model: what they change, when they fail
// and with which code.
func TestEditRandomly(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newService(t)
			m := &editModel{
				source: flagrand.New(seed), random: rand.New(rand.NewPCG(seed, 2)), revision: 1, // #nosec G404 -- repeatable
				flags: map[string]*guidon.Flag{}, segments: map[string]*guidon.Segment{}, changed: map[string]int64{},
			}
			outcomes := map[guidon.Code]int{}
			for range 60 {
				next, edits := m.edit()
				if len(edits.Flags)+len(edits.Segments) == 0 {
					continue
				}
				want := m.code(next, edits)
				_, revision, err := s.Edit(t.Context(), ann, "", edits)
				if (err == nil) != (want == success) || guidon.CodeOf(err) != want {
					t.Fatalf("got %v, want %v", err, want)
				}
				outcomes[want]++
				if want == success {
					m = next
				}
				if revision != m.revision {
					t.Fatalf("got revision %d, want %d: %v", revision, m.revision, err)
				}
				m.check(t, s)
			}
			if outcomes[success] < 5 || outcomes[guidon.FailedPrecondition] == 0 || outcomes[guidon.InvalidArgument] == 0 {
				t.Errorf("got the outcomes %v, want all kinds", outcomes)
			}
		})
	}
}

// success is the code of a nil error.
const success = guidon.Internal

// edit returns random edits, and the model after them.
func (m *editModel) edit() (*editModel, service.Edits) {
	next := *m
	next.flags, next.segments, next.changed = maps.Clone(m.flags), maps.Clone(m.segments), maps.Clone(m.changed)
	var edits service.Edits
	for _, i := range m.random.Perm(6)[:m.random.IntN(4)] {
		key := fmt.Sprint("flag-", i)
		edit := service.FlagEdit{UnlessChangedSince: m.since()}
		if have := m.flags[key]; m.random.IntN(4) == 0 {
			edit.Delete = key
			next.record("flag/"+key, have != nil)
			delete(next.flags, key)
		} else {
			want := m.source.Flag(key)
			if have != nil {
				want = m.source.EditFlag(have)
			}
			edit.Put = service.DocumentFlagOf(want)
			next.record("flag/"+key, have == nil || !cmp.Equal(service.DocumentFlagOf(have), edit.Put))
			next.flags[key] = want
		}
		edits.Flags = append(edits.Flags, edit)
	}
	for _, i := range m.random.Perm(len(flagrand.SegmentKeys))[:m.random.IntN(4)] {
		key := flagrand.SegmentKeys[i]
		edit := service.SegmentEdit{UnlessChangedSince: m.since()}
		if have := m.segments[key]; m.random.IntN(4) == 0 {
			edit.Delete = key
			next.record("segment/"+key, have != nil)
			delete(next.segments, key)
		} else {
			want := m.source.Segment(key)
			if have != nil && m.random.IntN(3) > 0 {
				want = have
			}
			edit.Put = service.DocumentSegmentOf(want)
			next.record("segment/"+key, have == nil || !cmp.Equal(service.DocumentSegmentOf(have), edit.Put))
			next.segments[key] = want
		}
		edits.Segments = append(edits.Segments, edit)
	}
	for _, at := range next.changed {
		next.revision = max(next.revision, at)
	}
	return &next, edits
}

// since returns a random condition, or nil.
func (m *editModel) since() *int64 {
	if m.random.IntN(3) > 0 {
		return nil
	}
	since := m.revision - m.random.Int64N(min(m.revision, 4))
	return &since
}

// record records an edit of the object, which may change nothing. The revision must still
// be that before the edits.
func (m *editModel) record(object string, changes bool) {
	if changes {
		m.changed[object] = m.revision + 1
	}
}

// code returns the code with which the edits must fail, or success.
func (m *editModel) code(next *editModel, edits service.Edits) guidon.Code {
	for _, f := range next.flags {
		for key := range f.SegmentKeys() {
			if next.segments[key] == nil {
				return guidon.InvalidArgument
			}
		}
	}
	for _, e := range edits.Flags {
		key := e.Delete
		if e.Put != nil {
			key = e.Put.Key
		}
		if m.conflicts("flag/"+key, e.UnlessChangedSince) {
			return guidon.FailedPrecondition
		}
	}
	for _, e := range edits.Segments {
		key := e.Delete
		if e.Put != nil {
			key = e.Put.Key
		}
		if m.conflicts("segment/"+key, e.UnlessChangedSince) {
			return guidon.FailedPrecondition
		}
	}
	return success
}

func (m *editModel) conflicts(object string, since *int64) bool {
	return since != nil && m.changed[object] > *since
}

// check compares the namespace with the model.
func (m *editModel) check(t *testing.T, s *service.Service) {
	t.Helper()
	got := view(t, s, "default").Export(true).Document()
	want := &service.Document{Namespace: got.Namespace}
	for _, key := range slices.Sorted(maps.Keys(m.flags)) {
		want.Flags = append(want.Flags, service.DocumentFlagOf(m.flags[key]))
	}
	for _, key := range slices.Sorted(maps.Keys(m.segments)) {
		want.Segments = append(want.Segments, service.DocumentSegmentOf(m.segments[key]))
	}
	for _, f := range want.Flags { // the export sorts them too
		slices.SortFunc(f.Variants, func(a, b *service.DocumentVariant) int { return strings.Compare(a.Key, b.Key) })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("the namespace is not that of the model (-want +got):\n%s", diff)
	}
}
