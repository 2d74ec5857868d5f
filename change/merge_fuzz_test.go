package change_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// seeds adds random seeds to the corpus, so that the tests without fuzzing check some
// objects too.
func seeds(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
}

// sameExceptTimes compares objects in full, but for times.
var sameExceptTimes = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(guidon.Flag{}, "CreatedAt", "UpdatedAt"),
	cmpopts.IgnoreFields(guidon.Variant{}, "CreatedAt", "UpdatedAt"),
	cmpopts.IgnoreFields(guidon.Rule{}, "CreatedAt", "UpdatedAt"),
	cmpopts.IgnoreFields(guidon.Distribution{}, "CreatedAt", "UpdatedAt"),
	cmpopts.IgnoreFields(guidon.Rollout{}, "CreatedAt", "UpdatedAt"),
	cmpopts.IgnoreFields(guidon.Segment{}, "CreatedAt", "UpdatedAt"),
	cmpopts.IgnoreFields(guidon.Constraint{}, "CreatedAt", "UpdatedAt"),
}

var times = regexp.MustCompile(`"(createdAt|updatedAt)":"[^"]*"`)

// timeless returns the JSON of the object without its times.
func timeless(object any) string {
	text, _ := json.Marshal(object)
	return times.ReplaceAllString(string(text), "")
}

func checkSame[T any](t *testing.T, what string, want, got *T) {
	t.Helper()
	if timeless(want) == timeless(got) {
		return // far quicker than cmp
	}
	if diff := cmp.Diff(want, got, sameExceptTimes); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// FuzzMergeFlag checks the laws of merging with random flags and changes of them.
func FuzzMergeFlag(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := flagtest.NewSource(seed)
		base := s.Flag("f")
		checkMerge(t, base, s.EditFlag(base), s.EditFlag(base), change.Merge, checkValid)
		// Other objects with the same key, in which even ids collide.
		checkMerge(t, base, s.Flag("f"), s.EditFlag(base), change.Merge, checkValid)
		x := s.EditFlag(s.EditFlag(base))
		checkMerge(t, base, x, s.EditFlag(x), change.Merge, checkValid)
		checkMerge(t, nil, x, base, change.Merge, checkValid)
	})
}

// FuzzMergeSegment is FuzzMergeFlag for segments.
func FuzzMergeSegment(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := flagtest.NewSource(seed)
		base := s.Segment("s")
		valid := func(*testing.T, *guidon.Segment) {}
		checkMerge(t, base, s.EditSegment(base), s.EditSegment(base), change.Merge, valid)
		checkMerge(t, base, s.Segment("s"), s.EditSegment(base), change.Merge, valid)
		checkMerge(t, nil, s.Segment("s"), base, change.Merge, valid)
	})
}

type mergeFunc[T any] func(base, ours, theirs *T, choices change.Choices) (change.Merged[T], error)

func checkMerge[T any](t *testing.T, base, x, y *T, merge mergeFunc[T], checkValid func(*testing.T, *T)) {
	t.Helper()
	clean := func(what string, want, base, ours, theirs *T) {
		t.Helper()
		merged, err := merge(base, ours, theirs, nil)
		if err != nil || len(merged.Conflicts) > 0 {
			t.Fatalf("%s: conflicts %+v, error %v", what, merged.Conflicts, err)
		}
		checkSame(t, what, want, merged.Object)
	}
	clean("equal sides", x, base, x, x)
	clean("equal sides without a base", x, nil, x, x)
	clean("deleted on both sides", nil, base, nil, nil)
	if base != nil {
		clean("only ours changed", x, base, x, base)
		clean("only theirs changed", x, base, base, x)
		clean("deleted by us", nil, base, nil, base)
		clean("deleted by them", nil, base, base, nil)
	}
	for _, versions := range [][2]*T{{x, y}, {x, nil}, {nil, y}} {
		checkConflicts(t, base, versions[0], versions[1], merge, checkValid)
	}
}

// checkConflicts checks the conflicts of a merge, and what comes of resolving them.
func checkConflicts[T any](t *testing.T, base, ours, theirs *T, merge mergeFunc[T], checkValid func(*testing.T, *T)) {
	t.Helper()
	merged, err := merge(base, ours, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(merged.Conflicts) == 0 && merged.Object != nil {
		checkValid(t, merged.Object)
	}
	mirrored, err := merge(base, theirs, ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sorted(swapped(mirrored.Conflicts)), sorted(merged.Conflicts); !reflect.DeepEqual(got, want) {
		t.Errorf("the conflicts are not symmetric:\n%s", cmp.Diff(want, got))
	}
	for _, c := range merged.Conflicts {
		if c.Path == "" || string(c.Ours) == string(c.Theirs) {
			t.Errorf("not a conflict: %s, %s, %s, %s", c.Path, c.Base, c.Ours, c.Theirs)
		}
	}
	for _, side := range []change.Side{change.Ours, change.Theirs} {
		resolved, err := merge(base, ours, theirs, change.ResolveAll(merged.Conflicts, side))
		if err != nil || len(resolved.Conflicts) > 0 {
			t.Errorf("conflicts %+v resolved for %s: conflicts %+v, error %v", merged.Conflicts, side, resolved.Conflicts, err)
		} else if resolved.Object != nil {
			checkValid(t, resolved.Object)
		}
	}
	mixed := change.Choices{}
	for i, c := range merged.Conflicts {
		mixed[c.Path] = []change.Side{change.Ours, change.Theirs}[i%2]
	}
	resolved, err := merge(base, ours, theirs, mixed)
	if err != nil || len(resolved.Conflicts) > 0 {
		t.Errorf("conflicts %+v resolved: conflicts %+v, error %v", merged.Conflicts, resolved.Conflicts, err)
	} else if resolved.Object != nil {
		checkValid(t, resolved.Object)
	}
}

func sorted(conflicts []change.Conflict) []change.Conflict {
	out := slices.Clone(conflicts)
	slices.SortFunc(out, func(a, b change.Conflict) int { return strings.Compare(a.Path, b.Path) })
	for i := range out {
		out[i].Name = "" // has the position in base or else in ours
	}
	return out
}

func swapped(conflicts []change.Conflict) []change.Conflict {
	out := slices.Clone(conflicts)
	for i, c := range out {
		out[i].Ours, out[i].Theirs, out[i].Words.Ours, out[i].Words.Theirs = c.Theirs, c.Ours, c.Words.Theirs, c.Words.Ours
	}
	return out
}

// checkValid checks that the references in a flag are valid, its keys unique, and its
// rules and rollouts in the order of their ranks.
func checkValid(t *testing.T, f *guidon.Flag) {
	t.Helper()
	failed := func(format string, args ...any) {
		t.Helper()
		text, _ := json.Marshal(f)
		t.Errorf(format+": %s", append(args, text)...)
	}
	keys := map[string]bool{}
	ids := map[string]bool{}
	unique := func(seen map[string]bool, value string) {
		t.Helper()
		if seen[value] {
			failed("%q occurs twice", value)
		}
		seen[value] = true
	}
	for _, v := range f.Variants {
		unique(keys, v.Key)
		unique(ids, v.ID)
	}
	if f.DefaultVariantID != "" && f.DefaultVariant() == nil {
		failed("the default variant does not exist")
	}
	for i, r := range f.Rules {
		unique(ids, r.ID)
		if i > 0 && r.Rank < f.Rules[i-1].Rank || len(r.SegmentKeys) == 1 && r.SegmentOperator != guidon.OrSegments {
			failed("rule %d is not in its stored form", i)
		}
		for _, d := range r.Distributions {
			unique(ids, d.ID)
			if f.Variant(d.VariantID) == nil {
				failed("variant %q does not exist", d.VariantID)
			}
		}
	}
	for i, r := range f.Rollouts {
		unique(ids, r.ID)
		if i > 0 && r.Rank < f.Rollouts[i-1].Rank || (r.Segment == nil) == (r.Threshold == nil) {
			failed("rollout %d is not in its stored form", i)
		}
	}
}
