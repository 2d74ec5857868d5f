package service_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// undoOf returns the request that undoes changes of the namespace shop.
func undoOf(first, last int64) service.PlanRequest {
	return service.PlanRequest{Namespace: "shop", Undo: &service.Undo{First: first, Last: last}, Mode: service.ImportUpdate}
}

// choose returns the request with one choice.
func choose(r service.PlanRequest, kind change.Kind, key, path string, side change.Side) service.PlanRequest {
	undo := *r.Undo
	undo.Choices = map[change.Object]change.Choices{{Kind: kind, Key: key}: {path: side}}
	r.Undo = &undo
	return r
}

// conflictsOf returns one line for each conflict.
func conflictsOf(p *service.Plan) []string {
	var out []string
	for _, o := range p.Conflicts {
		for _, c := range o.Conflicts {
			out = append(out, fmt.Sprintf("%s %s %s: before %s, changed to %s, now %s", o.Kind, o.Key, c.Path, c.Theirs, c.Base, c.Ours))
		}
	}
	return out
}

// TestUndo undoes a revision with changes of every kind. Undoing that again gives the
// original.
func TestUndo(t *testing.T) {
	s := erasOf(t)
	first, second := stateOf(viewAt(t, s, "shop@1")), stateOf(viewAt(t, s, "shop@2"))
	p := mustApply(t, s, undoOf(2, 2))
	want := []string{
		`update namespace shop: name "Store" → "Shop"; color teal → amber; ask before changes yes → no`, `update segment beta: constraint 1: value pro → beta`, "create segment staff: created",
		`update flag checkout: name "Pay" → "Checkout"; variant "one-page" added; rule 1: share of "classic" 50% → 100%`, "create flag banner: created",
		"delete flag later: deleted", "matches-everyone staff",
	}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(first, stateOf(view(t, s, "shop"))); diff != "" {
		t.Errorf("undone, with ids and times of creation (-want +got):\n%s", diff)
	}
	for _, record := range recordsOf(t, s, "shop") {
		if !strings.HasSuffix(record, "(undo of 2)") {
			t.Errorf("record without reason: %s", record)
		}
	}
	if again := mustPlan(t, s, undoOf(2, 2)); len(again.Changes) > 0 || again.Unchanged != 6 || again.Digest == "" {
		t.Errorf("undone again: %q, %d unchanged", lines(again), again.Unchanged)
	}
	mustApply(t, s, undoOf(3, 3))
	if diff := cmp.Diff(second, stateOf(view(t, s, "shop"))); diff != "" {
		t.Errorf("the undo undone (-want +got):\n%s", diff)
	}
	if both := mustPlan(t, s, undoOf(3, 4)); len(both.Changes) > 0 {
		t.Errorf("a range without effect: %q", lines(both))
	}
}

// TestUndoDeletionKeepsOrder: what an undo or a restore brings back is where it was in lists
// and exports.
func TestUndoDeletionKeepsOrder(t *testing.T) {
	s := newService(t)
	mustImport(t, s, `
namespace: {key: shop, name: Shop}
flags: [{key: a, name: A}, {key: b, name: B}, {key: c, name: C, rules: [{segment: s}]}]
segments: [{key: s, name: S}, {key: t, name: T}]
`, service.ImportCreate)
	before, since := exported(t, s, "shop"), revision(t, s, "shop")
	for name, request := range map[string]func(last int64) service.PlanRequest{
		"undo": func(last int64) service.PlanRequest { return undoOf(last-1, last) },
		"restore": func(int64) service.PlanRequest {
			return service.PlanRequest{Namespace: "shop", Source: fmt.Sprint("shop@", since), Mode: service.ImportUpdate}
		},
	} {
		for _, key := range []string{"a", "c"} {
			if _, err := s.DeleteFlag(t.Context(), service.Write{}, "shop", key); err != nil {
				t.Fatal(err)
			}
		}
		mustApply(t, s, request(revision(t, s, "shop")))
		if diff := cmp.Diff(before, exported(t, s, "shop")); diff != "" {
			t.Errorf("after the %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestUndoSelected undoes the changes of some objects.
func TestUndoSelected(t *testing.T) {
	s := erasOf(t)
	r := undoOf(2, 2)
	r.Flags, r.Segments = []string{"later"}, []string{"staff"}
	want := []string{"create segment staff: created", "delete flag later: deleted", "matches-everyone staff"}
	if diff := cmp.Diff(want, lines(mustApply(t, s, r))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUndoKeepsLaterChanges: parts that were changed since are conflicts, until each of them
// is resolved. Other parts are undone, and later changes stay.
func TestUndoKeepsLaterChanges(t *testing.T) {
	s := newService(t)
	mustImport(t, s, "namespace: shop\nflags: [{key: banner, name: One, type: BOOLEAN_FLAG_TYPE}]", service.ImportCreate)
	mustImport(t, s, "namespace: shop\nflags: [{key: banner, name: Two, type: BOOLEAN_FLAG_TYPE, enabled: true}]", service.ImportUpdate)
	mustImport(t, s, "namespace: shop\nflags: [{key: banner, name: Three, type: BOOLEAN_FLAG_TYPE, enabled: true, description: New}]", service.ImportUpdate)
	p := mustPlan(t, s, undoOf(2, 2))
	if diff := cmp.Diff([]string{`flag banner name: before "One", changed to "Two", now "Three"`}, conflictsOf(p)); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"update flag banner: default value on → off", "goes-off banner"}, lines(p)); diff != "" || p.Digest != "" {
		t.Errorf("plan with digest %q (-want +got):\n%s", p.Digest, diff)
	}
	_, _, err := s.Apply(t.Context(), service.Write{}, service.Demand{}, undoOf(2, 2), service.ExpectedPlan{Digest: "x"}, nil)
	const refused = `nothing was changed: what was changed again must be resolved: flag "banner": name: before "One", changed to "Two", now "Three"`
	if !errors.Is(err, guidon.FailedPrecondition) || err.Error() != refused || revision(t, s, "shop") != 3 {
		t.Errorf("got  %v\nwant %s", err, refused)
	}
	for side, want := range map[change.Side]string{change.Ours: "Three", change.Theirs: "One"} {
		before := revision(t, s, "shop")
		mustApply(t, s, choose(undoOf(2, 2), change.KindFlag, "banner", "name", side))
		if f := flag(t, s, "shop", "banner"); f.Name != want || f.Enabled || f.Description != "New" {
			t.Errorf("%s: got %+v", side, f)
		}
		mustApply(t, s, undoOf(before+1, before+1))
	}
}

// TestUndoBreaksRules: parts that are valid by themselves, and were changed apart from each other, are
// refused if they are not valid together.
func TestUndoBreaksRules(t *testing.T) {
	const groups = "if: [{all: [{type: STRING_COMPARISON_TYPE, property: p, operator: eq, value: a}]}], "
	boolean := func(rollout string) string {
		return "version: guidon/1\nnamespace: shop\nsegments: [{key: s, name: S}]\nflags: [{key: f, name: F, type: BOOLEAN_FLAG_TYPE, rollouts: [{" + rollout + "}]}]"
	}
	variant := func(rule string) string {
		return "version: guidon/1\nnamespace: shop\nflags: [{key: f, name: F, variants: [{key: a}], rules: [{everyone: true" + rule + "}]}]"
	}
	const half = "threshold: {percentage: 50, value: true}"
	for name, test := range map[string]struct{ before, undone, now, want string }{
		"times": {
			boolean("from: 2090-01-05T00:00:00Z, " + half), boolean(half), boolean("until: 2090-01-02T00:00:00Z, " + half),
			`flag "shop/f": rollouts[0]: invalid field until: must be after from`,
		},
		"everyone": {
			boolean("segment: {key: s, value: true}"), boolean(groups + "segment: {value: true}"), boolean("everyone: true, segment: {value: true}"),
			`flag "shop/f": rollouts[0]: invalid field everyone: cannot be combined with segments or conditions`,
		},
		"share": {
			boolean("threshold: {percentage: 90, value: true}"), boolean(half), boolean("threshold: {percentage: 50, start: 50, value: true}"),
			`flag "shop/f": rollouts[0]: invalid field threshold: start and percentage must be within [0, 100] together`,
		},
		"code default": {
			variant(", distributions: [{variant: a, rollout: 100}]"), variant(""), variant(", code_default: true"),
			`flag "shop/f": rules[0]: invalid field code_default: cannot be combined with distributions`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			for _, document := range []string{test.before, test.undone, test.now} {
				mustImport(t, s, document, service.ImportUpdate)
			}
			_, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, undoOf(2, 2), nil)
			if !errors.Is(err, guidon.InvalidArgument) || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestUndoReferences: what would leave a flag without its segment is refused, with all of
// the problems.
func TestUndoReferences(t *testing.T) {
	s := newService(t)
	mustImport(t, s, "namespace: shop\nsegments: [{key: a, name: A}, {key: b, name: B}]", service.ImportCreate)
	mustImport(t, s, "namespace: shop\nflags: [{key: f, name: F, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {keys: [a, b], value: true}}]}, {key: g, name: G, rules: [{segment: a}]}]", service.ImportUpdate)
	r := undoOf(1, 1)
	_, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, undoOf(1, 1), nil)
	if err == nil || !strings.Contains(err.Error(), `cannot undo the creation of namespace "shop": delete it`) {
		t.Errorf("the first revision: got %v", err)
	}
	r.Segments = []string{"a", "b"}
	_, _, err = s.Plan(t.Context(), service.Caller{}, service.Demand{}, r, nil)
	want := "segment \"shop/a\" is in use by flag \"f\" (rule 1), flag \"g\" (rule 1)\nsegment \"shop/b\" is in use by flag \"f\" (rule 1)"
	if err == nil || err.Error() != want || !errors.Is(err, guidon.InvalidArgument) {
		t.Errorf("got %v\nwant %s", err, want)
	}
	mustApply(t, s, undoOf(2, 2))
	mustApply(t, s, r)
	back := undoOf(3, 3)
	_, _, err = s.Plan(t.Context(), service.Caller{}, service.Demand{}, back, nil)
	want = "flag \"shop/f\": segment \"shop/a\" no longer exists; undo its deletion too\nflag \"shop/f\": segment \"shop/b\" no longer exists; undo its deletion too\nflag \"shop/g\": segment \"shop/a\" no longer exists; undo its deletion too"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	mustApply(t, s, undoOf(3, 4))
	if got := len(view(t, s, "shop").Snapshot.Flags()); got != 2 {
		t.Errorf("got %d flags", got)
	}
}

// TestUndoDeletionOfNamespace brings a deleted namespace back.
func TestUndoDeletionOfNamespace(t *testing.T) {
	s := erasOf(t)
	want := stateOf(view(t, s, "shop"))
	if _, err := s.DeleteNamespace(t.Context(), service.Write{}, "shop", true); err != nil {
		t.Fatal(err)
	}
	mustApply(t, s, undoOf(3, 3))
	if diff := cmp.Diff(want, stateOf(view(t, s, "shop"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUndoEarlierDeletionOfNamespace: what was in a namespace does not come back without it,
// whether that was the same when it was deleted again, or the conflict is resolved so.
func TestUndoEarlierDeletionOfNamespace(t *testing.T) {
	for _, name := range []string{"Shop", "Store"} {
		s := newService(t)
		for _, text := range []string{"namespace: {key: shop, name: Shop}\nflags: [{key: banner, name: Banner}]", "namespace: {key: shop, name: " + name + "}"} {
			mustImport(t, s, text, service.ImportCreate)
			if _, err := s.DeleteNamespace(t.Context(), service.Write{}, "shop", true); err != nil {
				t.Fatal(err)
			}
		}
		r := undoOf(2, 3)
		if name != "Shop" {
			r = choose(r, change.KindNamespace, "shop", ".", change.Ours)
		}
		_, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, r, nil)
		const want = `namespace "shop" no longer exists; undo its last deletion too`
		if err == nil || err.Error() != want || !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
		mustApply(t, s, undoOf(2, 4))
		flag(t, s, "shop", "banner")
	}
}

func TestUndoErrors(t *testing.T) {
	with := func(r service.PlanRequest, change func(r *service.PlanRequest)) service.PlanRequest {
		change(&r)
		return r
	}
	tests := []struct {
		name string
		r    service.PlanRequest
		code guidon.Code
		want string
	}{
		{"no revision", undoOf(0, 0), guidon.InvalidArgument, "invalid field undo.firstRevision: must be positive"},
		{"backwards", undoOf(2, 1), guidon.InvalidArgument, "invalid field undo.lastRevision: must not be less than firstRevision"},
		{"too many", undoOf(1, 10_001), guidon.InvalidArgument, "invalid field undo.lastRevision: must not be more than 9999 revisions after firstRevision"},
		{"the future", undoOf(2, 3), guidon.NotFound, `namespace "shop" has no revision 3 yet; the current one is 2`},
		{"a mode", with(undoOf(2, 2), func(r *service.PlanRequest) { r.Mode = service.ImportReplace }), guidon.InvalidArgument, "invalid field mode: must be the default to undo changes"},
		{"without segments", with(undoOf(2, 2), func(r *service.PlanRequest) { r.WithoutSegments = true }), guidon.InvalidArgument, "invalid field withoutSegments: must not be set to undo changes"},
		{"what flags keep", with(undoOf(2, 2), func(r *service.PlanRequest) { r.Keep.Rules = true }), guidon.InvalidArgument, "invalid field keep: must be empty to undo changes"},
		{"another source", with(undoOf(2, 2), func(r *service.PlanRequest) { r.Source = "default" }), guidon.InvalidArgument, "invalid field document, sourceNamespaceKey or undo: only one can be present"},
		{"what was not changed", with(undoOf(2, 2), func(r *service.PlanRequest) { r.Flags, r.Segments = []string{"none"}, []string{"none"} }), guidon.InvalidArgument,
			"flag \"none\" was not changed in revision 2\nsegment \"none\" was not changed in revision 2"},
		{"no conflict", choose(undoOf(2, 2), change.KindFlag, "checkout", "name", change.Ours), guidon.InvalidArgument, `flag "checkout": invalid choice for name: there is no such conflict`},
		{"another flag", choose(undoOf(2, 2), change.KindFlag, "none", "name", change.Ours), guidon.InvalidArgument, `invalid choice for flag "none": these changes are not about it`},
		{"another namespace", with(undoOf(1, 1), func(r *service.PlanRequest) { r.Namespace = "none" }), guidon.NotFound, `namespace "none" not found`},
	}
	s := erasOf(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, tt.r, nil)
			if err == nil || err.Error() != tt.want || !errors.Is(err, tt.code) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}
