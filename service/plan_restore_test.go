package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// The namespace of the tests that restore: in each of three revisions.
var eras = []string{`namespace: {key: shop, name: Shop, color: amber}
flags:
- key: checkout
  name: Checkout
  variants: [{key: classic}, {key: one-page}]
  rules: [{segment: beta, distributions: [{variant: classic, rollout: 100}]}]
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: staff, value: true}}]}
segments:
- {key: beta, name: Beta, constraints: [{type: STRING_COMPARISON_TYPE, property: plan, operator: eq, value: beta}]}
- {key: staff, name: Staff}
`, `namespace: {key: shop, name: Store, color: teal, confirm_changes: true}
flags:
- key: checkout
  name: Pay
  variants: [{key: classic}]
  rules: [{segment: beta, distributions: [{variant: classic, rollout: 50}]}]
- {key: later, name: Later}
segments:
- {key: beta, name: Beta, constraints: [{type: STRING_COMPARISON_TYPE, property: plan, operator: eq, value: pro}]}
`}

// erasOf returns a service with the namespace shop, whose revision 2 is the current one.
func erasOf(t *testing.T) *service.Service {
	t.Helper()
	s := newService(t)
	for _, era := range eras {
		mustImport(t, s, era, service.ImportReplace)
	}
	return s
}

// stateOf returns the flags and segments of a state by key, without the times of changes.
func stateOf(v service.View) map[string]any {
	state := map[string]any{}
	for _, f := range v.Snapshot.Flags() {
		copied := *f
		copied.UpdatedAt, copied.Created = time.Time{}, guidon.Position{}
		state["flag "+f.Key] = copied
	}
	for _, g := range v.Snapshot.Segments() {
		copied := *g
		copied.UpdatedAt, copied.Created = time.Time{}, guidon.Position{}
		state["segment "+g.Key] = copied
	}
	n := *v.Snapshot.Namespace()
	n.UpdatedAt = time.Time{}
	state["namespace"] = n
	return state
}

// viewAt returns the state that the reference names.
func viewAt(t *testing.T, s *service.Service, reference string) service.View {
	t.Helper()
	ref, err := service.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.ViewAt(t.Context(), ref, service.Demand{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRestore(t *testing.T) {
	tests := []struct {
		name string
		r    service.PlanRequest
		want []string
	}{
		{"a flag with a segment that others changed", service.PlanRequest{Flags: []string{"checkout"}, Mode: service.ImportUpdate},
			[]string{`update flag checkout: name "Pay" → "Checkout"; variant "one-page" added; rule 1: share of "classic" 50% → 100%`}},
		{"a deleted flag with its deleted segment", service.PlanRequest{Flags: []string{"banner"}, Mode: service.ImportUpdate},
			[]string{"required: create segment staff: created", "create flag banner: created", "matches-everyone staff"}},
		{"a segment", service.PlanRequest{Segments: []string{"beta"}, Mode: service.ImportUpdate},
			[]string{`update segment beta: constraint 1: value pro → beta`, "segment-shared beta"}},
		{"what was deleted", service.PlanRequest{Mode: service.ImportSkipExisting},
			[]string{"create segment staff: created", "create flag banner: created", "matches-everyone staff"}},
		{"everything that was", service.PlanRequest{Mode: service.ImportUpdate}, []string{
			`update namespace shop: name "Store" → "Shop"; color teal → amber; ask before changes yes → no`, `update segment beta: constraint 1: value pro → beta`, "create segment staff: created",
			`update flag checkout: name "Pay" → "Checkout"; variant "one-page" added; rule 1: share of "classic" 50% → 100%`, "create flag banner: created",
			"matches-everyone staff",
		}},
		{"the namespace", service.PlanRequest{Mode: service.ImportReplace}, []string{
			`update namespace shop: name "Store" → "Shop"; color teal → amber; ask before changes yes → no`, `update segment beta: constraint 1: value pro → beta`, "create segment staff: created",
			`update flag checkout: name "Pay" → "Checkout"; variant "one-page" added; rule 1: share of "classic" 50% → 100%`, "create flag banner: created",
			"delete flag later: deleted", "matches-everyone staff",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := erasOf(t)
			was, is := stateOf(viewAt(t, s, "shop@1")), stateOf(view(t, s, "shop"))
			tt.r.Namespace, tt.r.Source = "shop", "shop@1"
			p := mustApply(t, s, tt.r)
			if diff := cmp.Diff(tt.want, lines(p)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if p.Source != "shop" || p.SourceRevision != 1 || p.Revision != 3 {
				t.Errorf("got revision %d from %s@%d", p.Revision, p.Source, p.SourceRevision)
			}
			want := is
			for _, c := range p.Changes {
				name := strings.TrimPrefix(fmt.Sprintf("%s %s", c.Kind, c.Key), "namespace ")
				if c.Kind == change.KindNamespace {
					name = "namespace"
				}
				if want[name] = was[name]; was[name] == nil {
					delete(want, name)
				}
			}
			if diff := cmp.Diff(want, stateOf(view(t, s, "shop"))); diff != "" {
				t.Errorf("state, with ids and times of creation (-want +got):\n%s", diff)
			}
			for _, record := range recordsOf(t, s, "shop") {
				if !strings.HasSuffix(record, "(restore to 1)") {
					t.Errorf("record without reason: %s", record)
				}
			}
			if again := mustPlan(t, s, tt.r); len(again.Changes) > 0 {
				t.Errorf("planned again: %q", lines(again))
			}
		})
	}
}

// TestRestoreKeeps: existing flags keep what the request says, but not deleted ones.
func TestRestoreKeeps(t *testing.T) {
	s := erasOf(t)
	p := mustApply(t, s, service.PlanRequest{Namespace: "shop", Source: "shop@1", Flags: []string{"checkout", "banner"}, Mode: service.ImportUpdate, Keep: service.Keep{Rules: true}})
	want := []string{"required: create segment staff: created", `update flag checkout: name "Pay" → "Checkout"; variant "one-page" added`, "create flag banner: created", "matches-everyone staff"}
	if diff := cmp.Diff(want, lines(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRestoreDeletedNamespace: a namespace comes back as it was, at the next revision. An
// editor cannot do that.
func TestRestoreDeletedNamespace(t *testing.T) {
	s := erasOf(t)
	want := stateOf(viewAt(t, s, "shop@2"))
	if _, err := s.DeleteNamespace(t.Context(), service.Write{}, "shop", true); err != nil {
		t.Fatal(err)
	}
	part := service.PlanRequest{Namespace: "shop", Source: "shop@2", Flags: []string{"later"}, Mode: service.ImportUpdate}
	if _, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, part, nil); !errors.Is(err, guidon.NotFound) {
		t.Errorf("a flag of it: got %v, want NotFound", err)
	}
	r := service.PlanRequest{Namespace: "shop", Source: "shop@2", Mode: service.ImportReplace}
	editor := service.Caller{Authentication: &service.Authentication{Role: service.RoleEditor}}
	if _, _, err := s.Apply(t.Context(), service.Write{By: editor}, service.Demand{}, r, expectedOf(mustPlan(t, s, r)), nil); !errors.Is(err, guidon.PermissionDenied) {
		t.Errorf("as an editor: got %v, want PermissionDenied", err)
	}
	if p := mustApply(t, s, r); p.Revision != 4 {
		t.Errorf("got revision %d, want 4", p.Revision)
	}
	if diff := cmp.Diff(want, stateOf(view(t, s, "shop"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPromotePastState brings an earlier state of one namespace into another.
func TestPromotePastState(t *testing.T) {
	s := erasOf(t)
	mustImport(t, s, "namespace: till\nflags: [{key: checkout, name: Till}]", service.ImportCreate)
	r := service.PlanRequest{Namespace: "till", Source: "shop@1", Flags: []string{"checkout"}, Mode: service.ImportUpdate}
	p := mustApply(t, s, r)
	if d := change.Compare(viewAt(t, s, "shop@1").Snapshot.Flag("checkout"), flag(t, s, "till", "checkout")); len(d) > 0 || p.SourceRevision != 1 {
		t.Errorf("got %s, from revision %d", change.Summarize(d), p.SourceRevision)
	}
	if got := recordsOf(t, s, "till")[0]; !strings.HasSuffix(got, "(promotion from shop@1)") {
		t.Errorf("got the record %s", got)
	}
}

func TestRestoreErrors(t *testing.T) {
	tests := []struct {
		name   string
		source string
		flags  []string
		code   guidon.Code
		want   string
	}{
		{"the current state", "shop", nil, guidon.InvalidArgument, "invalid field sourceNamespaceKey: must not be the target, unless it refers to an earlier state"},
		{"no reference", "shop@x", nil, guidon.InvalidArgument, `invalid reference "shop@x": after "@" must be a revision, such as 412, or a time in RFC 3339, such as 2026-11-20T14:03:00Z`},
		{"the future", "shop@7", nil, guidon.NotFound, `namespace "shop" has no revision 7 yet; the current one is 2`},
		{"a flag that did not exist", "shop@1", []string{"later"}, guidon.InvalidArgument, `flag "later" not found in namespace "shop@1"`},
		{"no such namespace", "none@1", nil, guidon.NotFound, `namespace "none" not found`},
	}
	s := erasOf(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := service.PlanRequest{Namespace: "shop", Source: tt.source, Flags: tt.flags, Mode: service.ImportUpdate}
			_, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, r, nil)
			if err == nil || err.Error() != tt.want || !errors.Is(err, tt.code) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	full := errors.New("no memory")
	r := service.PlanRequest{Namespace: "shop", Source: "shop@1", Mode: service.ImportUpdate}
	small := func(context.Context, int64) error { return full }
	if _, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, service.PlanRequest{Namespace: "shop", Undo: &service.Undo{First: 1, Last: 1}, Mode: service.ImportUpdate}, small); !errors.Is(err, full) {
		t.Errorf("undo without memory: got %v", err)
	}
	if _, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, r, small); err != nil { // it is small enough
		t.Errorf("a small state: got %v", err)
	}
}
