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

const shop = `namespace: {key: shop, name: Shop}
flags:
- key: colour
  name: Colour
  type: VARIANT_FLAG_TYPE
  enabled: true
  metadata: {owner: us}
  variants:
  - {key: red, default: true, attachment: {hex: f00}}
  - {key: blue}
  rules:
  - {segment: staff, distributions: [{variant: red, rollout: 100}]}
  - {segment: {keys: [staff, guests], operator: AND_SEGMENT_OPERATOR}, distributions: [{variant: red, rollout: 50}, {variant: blue, rollout: 50}]}
- key: toggle
  name: Toggle
  type: BOOLEAN_FLAG_TYPE
  rollouts:
  - {segment: {key: staff, value: true}}
  - {threshold: {percentage: 25, value: true}}
segments:
- key: staff
  name: Staff
  match_type: ANY_MATCH_TYPE
  constraints:
  - {type: STRING_COMPARISON_TYPE, property: email, operator: suffix, value: "@example.com", description: mail}
  - {type: BOOLEAN_COMPARISON_TYPE, property: staff, operator: "true"}
- {key: guests, name: Guests, match_type: ALL_MATCH_TYPE}
`

func TestImportCreates(t *testing.T) {
	s := newService(t)
	result := mustImport(t, s, shop, service.ImportCreate)
	want := []string{
		"create namespace shop", "create segment staff", "create segment guests", "create flag colour", "create flag toggle",
	}
	if diff := cmp.Diff(want, summary(result)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if got := revision(t, s, "shop"); result.Revision != got || got != 1 {
		t.Errorf("result says revision %d, namespace is at %d, want 1", result.Revision, got)
	}
	got := view(t, s, "shop").Export(false).Document()
	if diff := cmp.Diff(parse(t, shop), got); diff != "" {
		t.Errorf("exported (-want +got):\n%s", diff)
	}
	f := flag(t, s, "shop", "colour")
	if f.Rules[0].Rank != 1 || f.Rules[1].Rank != 2 || f.DefaultVariant().Key != "red" {
		t.Errorf("ranks %d and %d, default %v", f.Rules[0].Rank, f.Rules[1].Rank, f.DefaultVariant())
	}
	changes, _, _, err := s.ListChanges(t.Context(), service.Demand{}, change.Search{Query: change.Query{Namespace: "shop"}}, "")
	if err != nil || len(changes) != 5 {
		t.Errorf("got %d change records, %v; want 5", len(changes), err)
	}
}

// TestImportCreateConflict: the first object that exists fails the whole import
// (contract 13.4).
func TestImportCreateConflict(t *testing.T) {
	s := newService(t)
	mustImport(t, s, "namespace: shop\nsegments: [{key: guests, name: Guests}]", service.ImportCreate)
	for _, test := range []struct{ text, want string }{
		{shop, `segment "shop/guests" is not unique`},
		{"namespace: shop\nflags: [{key: new, name: New}]\nsegments: [{key: guests, name: Guests}]", `segment "shop/guests" is not unique`},
	} {
		before := exported(t, s, "shop")
		d := parse(t, test.text)
		_, _, err := s.Import(t.Context(), service.Write{}, "shop", d, service.ImportCreate, false)
		if err == nil || err.Error() != test.want || !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("got %v, want %s", err, test.want)
		}
		if diff := cmp.Diff(before, exported(t, s, "shop")); diff != "" {
			t.Errorf("something was stored (-before +after):\n%s", diff)
		}
	}
	if got := revision(t, s, "shop"); got != 1 {
		t.Errorf("got revision %d, want 1", got)
	}
}

func TestImportSkipsExisting(t *testing.T) {
	s := newService(t)
	mustImport(t, s, "namespace: shop\nflags: [{key: colour, name: Old, variants: [{key: x}]}]\nsegments: [{key: staff, name: Old}]", service.ImportCreate)
	result := mustImport(t, s, shop, service.ImportSkipExisting)
	if diff := cmp.Diff([]string{"create segment guests", "create flag toggle"}, summary(result)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"segment/staff", "flag/colour"}, result.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if f := flag(t, s, "shop", "colour"); f.Name != "Old" || len(f.Variants) != 1 || len(f.Rules) != 0 {
		t.Errorf("flag was modified: %+v", f)
	}
	if n := view(t, s, "shop").Snapshot.Namespace(); n.Name != "shop" {
		t.Errorf("namespace was modified: %+v", n)
	}
}

// TestImportUnchanged: importing the same document again writes nothing and uses no
// revision.
func TestImportUnchanged(t *testing.T) {
	for _, mode := range []service.ImportMode{service.ImportSkipExisting, service.ImportUpdate, service.ImportReplace} {
		s := newService(t)
		mustImport(t, s, shop, service.ImportCreate)
		before := flag(t, s, "shop", "colour")
		result := mustImport(t, s, shop, mode)
		if len(result.Changes) != 0 || result.Revision != 1 || revision(t, s, "shop") != 1 {
			t.Errorf("%v: got %v at revision %d, want nothing at 1", mode, summary(result), result.Revision)
		}
		if want := 4; mode != service.ImportSkipExisting && result.Unchanged != want {
			t.Errorf("%v: got %d unchanged, want %d", mode, result.Unchanged, want)
		}
		again := flag(t, s, "shop", "colour")
		if diff := cmp.Diff(before, again); diff != "" {
			t.Errorf("%v: the flag was modified:\n%s", mode, diff)
		}
	}
}

// TestImportUnchangedSpelling: another spelling is not a change. Examples are ranks with
// gaps if the document has only the order, escapes in JSON, operators in another case,
// and instants in another time zone.
func TestImportUnchangedSpelling(t *testing.T) {
	s, ctx := newService(t), t.Context()
	mustImport(t, s, "namespace: shop\nsegments: [{key: a, name: A}]\nflags: [{key: f, name: F}]", service.ImportCreate)
	for _, rank := range []int32{3, 7} {
		if _, _, err := s.CreateRule(ctx, service.Write{}, "shop", service.RuleInput{FlagKey: "f", SegmentKey: "a", Rule: guidon.Rule{Rank: rank}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.CreateVariant(ctx, service.Write{}, "shop", service.VariantInput{FlagKey: "f", Key: "v", Attachment: `{"a" : "caf\u00e9"}`}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.CreateConstraint(ctx, service.Write{}, "shop", service.ConstraintInput{SegmentKey: "a", Type: guidon.DateTimeComparison, Property: "p", Operator: "EQ", Value: "2026-01-02T01:00:00+01:00"}); err != nil {
		t.Fatal(err)
	}
	before := revision(t, s, "shop")
	const same = `namespace: shop
flags: [{key: f, name: F, variants: [{key: v, attachment: {a: café}}], rules: [{segment: a}, {segment: {keys: [a, a]}}]}]
segments: [{key: a, name: A, constraints: [{type: DATETIME_COMPARISON_TYPE, property: p, operator: Eq, value: "2026-01-02T00:00:00Z"}]}]`
	result := mustImport(t, s, same, service.ImportUpdate)
	if len(result.Changes) != 0 || result.Revision != before {
		t.Errorf("got %v at revision %d, want nothing at %d", summary(result), result.Revision, before)
	}
	// A rank in the document must match.
	result = mustImport(t, s, strings.Replace(same, "{segment: a}", "{segment: a, rank: 1}", 1), service.ImportUpdate)
	if diff := cmp.Diff([]string{"update flag f"}, summary(result)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if f := flag(t, s, "shop", "f"); f.Rules[0].Rank != 1 || f.Rules[1].Rank != 2 {
		t.Errorf("got %+v; want ranks 1 and 2", f)
	}
}

func TestImportUpdates(t *testing.T) {
	s := newService(t)
	mustImport(t, s, shop, service.ImportCreate)
	mustImport(t, s, "namespace: shop\nflags: [{key: other, name: Other}]", service.ImportCreate)
	before := flagAndSegment(t, s)

	const changed = `namespace: {key: shop, name: The shop, description: Sells}
flags:
- key: colour
  name: Colour!
  type: VARIANT_FLAG_TYPE
  variants:
  - {key: green}
  - {key: blue, default: true}
  rules:
  - {segment: {keys: [staff, guests], operator: AND_SEGMENT_OPERATOR}, distributions: [{variant: blue, rollout: 25}, {variant: green, rollout: 75}]}
  - {segment: guests}
segments:
- key: staff
  name: Staff
  match_type: ANY_MATCH_TYPE
  constraints:
  - {type: BOOLEAN_COMPARISON_TYPE, property: staff, operator: "true"}
  - {type: STRING_COMPARISON_TYPE, property: email, operator: suffix, value: "@example.org", description: mail}
  - {type: ENTITY_ID_COMPARISON_TYPE, property: entityId, operator: eq, value: root}
- {key: guests, name: Guests, match_type: ALL_MATCH_TYPE}
`
	result := mustImport(t, s, changed, service.ImportUpdate)
	want := []string{"update namespace shop", "update segment staff", "update flag colour"}
	if diff := cmp.Diff(want, summary(result)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if result.Unchanged != 1 {
		t.Errorf("got %d unchanged, want 1", result.Unchanged)
	}
	after := flagAndSegment(t, s)
	got := view(t, s, "shop").Export(false).Document()
	wantDocument := parse(t, changed)
	if diff := cmp.Diff([]any{wantDocument.Flags[0], wantDocument.Segments, wantDocument.Namespace}, []any{got.Flags[0], got.Segments, got.Namespace}); diff != "" {
		t.Errorf("exported (-want +got):\n%s", diff)
	}
	if len(got.Flags) != 3 {
		t.Errorf("got %d flags, want the other two to stay", len(got.Flags))
	}
	checkIdentities(t, before, after)
}

type pairOf struct {
	flag    *guidon.Flag
	segment *guidon.Segment
}

func flagAndSegment(t *testing.T, s *service.Service) pairOf {
	t.Helper()
	f := flag(t, s, "shop", "colour")
	g, err := view(t, s, "shop").Segment("staff")
	if err != nil {
		t.Fatal(err)
	}
	return pairOf{f, g}
}

// checkIdentities checks which children keep their ids in TestImportUpdates.
func checkIdentities(t *testing.T, before, after pairOf) {
	t.Helper()
	type identity struct {
		ID      string
		Created time.Time
	}
	variant := func(p pairOf, key string) identity {
		v := p.flag.VariantByKey(key)
		return identity{v.ID, v.CreatedAt}
	}
	rule := func(p pairOf, i int) identity { return identity{p.flag.Rules[i].ID, p.flag.Rules[i].CreatedAt} }
	share := func(p pairOf, r, i int) identity {
		d := p.flag.Rules[r].Distributions[i]
		return identity{d.ID, d.CreatedAt}
	}
	constraint := func(p pairOf, i int) identity {
		c := p.segment.Constraints[i]
		return identity{c.ID, c.CreatedAt}
	}
	for _, test := range []struct {
		what      string
		got, want identity
	}{
		{"a variant is matched by its key", variant(after, "blue"), variant(before, "blue")},
		{"a rule is matched by its segments", rule(after, 0), rule(before, 1)},
		{"a distribution is matched by its variant", share(after, 0, 0), share(before, 1, 1)},
		{"the remaining rule is matched by position", rule(after, 1), rule(before, 0)},
		{"an equal constraint is matched at any position", constraint(after, 0), constraint(before, 1)},
		{"a changed constraint is matched by its property", constraint(after, 1), constraint(before, 0)},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %v, want %v", test.what, test.got, test.want)
		}
	}
	if !after.flag.CreatedAt.Equal(before.flag.CreatedAt) || !after.flag.UpdatedAt.After(before.flag.UpdatedAt) {
		t.Errorf("flag: created %v then %v, updated %v then %v", before.flag.CreatedAt, after.flag.CreatedAt, before.flag.UpdatedAt, after.flag.UpdatedAt)
	}
	if got, want := after.segment.Constraints[0].UpdatedAt, before.segment.Constraints[1].UpdatedAt; !got.Equal(want) {
		t.Errorf("an equal constraint was updated at %v", got)
	}
	if after.flag.DefaultVariantID != before.flag.VariantByKey("blue").ID {
		t.Errorf("default variant is %q", after.flag.DefaultVariantID)
	}
}

// TestImportKeepsKindOfRollout: a rollout never changes its kind (contract 4.5), so one
// of the other kind is a new rollout.
func TestImportKeepsKindOfRollout(t *testing.T) {
	s := newService(t)
	mustImport(t, s, shop, service.ImportCreate)
	before := flag(t, s, "shop", "toggle")
	mustImport(t, s, `namespace: shop
flags: [{key: toggle, name: Toggle, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 30}}, {threshold: {percentage: 40}}]}]`, service.ImportUpdate)
	after := flag(t, s, "shop", "toggle")
	if after.Rollouts[0].ID != before.Rollouts[1].ID {
		t.Error("the first threshold does not have the id of the old one")
	}
	if after.Rollouts[1].ID == before.Rollouts[0].ID {
		t.Error("the segment rollout became a threshold")
	}
}

func TestImportReplaces(t *testing.T) {
	s := newService(t)
	mustImport(t, s, shop, service.ImportCreate)
	const less = "namespace: shop\nflags: [{key: toggle, name: Toggle, type: BOOLEAN_FLAG_TYPE}]\nsegments: [{key: guests, name: Guests}]"
	result := mustImport(t, s, less, service.ImportReplace)
	if diff := cmp.Diff([]string{"update flag toggle", "delete flag colour", "delete segment staff"}, summary(result)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for _, c := range result.Changes {
		if (c.After == nil) != (c.Action == change.ActionDelete) || c.Before == nil {
			t.Errorf("%s %s: before %v, after %v", c.Action, c.Key, c.Before, c.After)
		}
	}
	if d := view(t, s, "shop").Export(false).Document(); len(d.Flags) != 1 || len(d.Segments) != 1 {
		t.Errorf("got %+v; want one flag and one segment", d)
	}
	// Rules cannot refer to a segment that this import deletes.
	_, _, err := s.Import(t.Context(), service.Write{}, "shop", parse(t, `namespace: shop
flags: [{key: new, name: New, rules: [{segment: guests}]}]`), service.ImportReplace, false)
	if want := `flags[0] "new": rules[0]: segment "guests" not found`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestImportSettings: a document changes only the settings of a namespace that it has.
func TestImportSettings(t *testing.T) {
	s := newService(t)
	for _, step := range []struct {
		name, namespace string
		color           guidon.Color
		confirm         bool
		changes         int
	}{
		{"create", "{key: shop, color: amber, confirm_changes: true}", guidon.Amber, true, 1},
		{"the same", "{key: shop, color: amber, confirm_changes: true}", guidon.Amber, true, 0},
		{"an older document", "{key: shop, name: shop}", guidon.Amber, true, 0},
		{"empty values", `{key: shop, color: "", confirm_changes: ~}`, guidon.Amber, true, 0},
		{"another color", "{key: shop, color: teal}", guidon.Teal, true, 1},
		{"no confirmation", "{key: shop, confirm_changes: false}", guidon.Teal, false, 1},
	} {
		result := mustImport(t, s, "namespace: "+step.namespace, service.ImportUpdate)
		if n := view(t, s, "shop").Snapshot.Namespace(); n.Color != step.color || n.ConfirmChanges != step.confirm || len(result.Changes) != step.changes {
			t.Errorf("%s: got color %q, confirm changes %t after %d changes; want %q, %t after %d",
				step.name, n.Color, n.ConfirmChanges, len(result.Changes), step.color, step.confirm, step.changes)
		}
	}
}

// TestImportDefaultNamespace: an import neither creates nor modifies the default
// namespace (contract 13.2).
func TestImportDefaultNamespace(t *testing.T) {
	s := newService(t)
	result := mustImport(t, s, "namespace: {key: default, name: Mine, description: All mine}\nflags: [{key: f, name: F}]", service.ImportUpdate)
	if diff := cmp.Diff([]string{"create flag f"}, summary(result)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if n := view(t, s, "").Snapshot.Namespace(); n.Name != "Default" {
		t.Errorf("got %+v", n)
	}
	if _, err := s.DeleteNamespace(t.Context(), service.Write{}, "default", true); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Import(t.Context(), service.Write{}, "", parse(t, "flags: [{key: f, name: F}]"), service.ImportCreate, false)
	if want := `namespace "default" not found`; err == nil || err.Error() != want || !errors.Is(err, guidon.NotFound) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestImportDryRun(t *testing.T) {
	s := newService(t)
	mustImport(t, s, "namespace: shop\nflags: [{key: toggle, name: Old}]", service.ImportCreate)
	before := exported(t, s, "shop")
	d := parse(t, shop)
	dry, _, err := s.Import(t.Context(), service.Write{}, "shop", d, service.ImportUpdate, true)
	if err != nil {
		t.Fatal(err)
	}
	if !dry.DryRun || dry.Revision != 1 {
		t.Errorf("got dry run %t at revision %d, want true at 1", dry.DryRun, dry.Revision)
	}
	if diff := cmp.Diff(before, exported(t, s, "shop")); diff != "" {
		t.Errorf("something was stored:\n%s", diff)
	}
	if _, _, err := s.Import(t.Context(), service.Write{}, "elsewhere", &service.Document{}, service.ImportUpdate, true); err != nil {
		t.Errorf("dry run into a new namespace: %v", err)
	}
	wantNoNamespace(t, s, "elsewhere")
	real, _, err := s.Import(t.Context(), service.Write{}, "shop", d, service.ImportUpdate, false)
	if err != nil {
		t.Fatal(err)
	}
	dry.DryRun, dry.Revision = false, real.Revision
	if diff := cmp.Diff(dry, real); diff != "" {
		t.Errorf("the dry run had another result (-dry +real):\n%s", diff)
	}
}

// TestImportAtomic: a document whose last flag cannot be stored changes nothing.
func TestImportAtomic(t *testing.T) {
	s := newService(t)
	mustImport(t, s, shop, service.ImportCreate)
	before := exported(t, s, "shop")
	huge := `"` + strings.Repeat("x", 1000*1024-2) + `"`
	for name, last := range map[string]*guidon.Flag{
		"invalid":   {Key: "last", Name: "Last", Rules: []*guidon.Rule{{}}},
		"too large": {Key: "last", Name: "Last", Variants: variants(huge, 20)},
	} {
		t.Run(name, func(t *testing.T) {
			for namespace, mode := range map[string]service.ImportMode{"shop": service.ImportReplace, "new": service.ImportCreate} {
				d := &service.Document{
					Segments: []*guidon.Segment{{Key: "first", Name: "First"}},
					Flags:    []*guidon.Flag{{Key: "first", Name: "First"}, last},
				}
				if _, _, err := s.Import(t.Context(), service.Write{}, namespace, d, mode, false); err == nil {
					t.Errorf("%s: no error", namespace)
				}
			}
			if diff := cmp.Diff(before, exported(t, s, "shop")); diff != "" {
				t.Errorf("something was stored:\n%s", diff)
			}
			wantNoNamespace(t, s, "new")
			if got := revision(t, s, "shop"); got != 1 {
				t.Errorf("got revision %d, want 1", got)
			}
		})
	}
}

func variants(attachment string, count int) []*guidon.Variant {
	var out []*guidon.Variant
	for i := range count {
		out = append(out, &guidon.Variant{Key: fmt.Sprint(i), Attachment: attachment})
	}
	return out
}

func TestImportRejects(t *testing.T) {
	s := newService(t)

	for _, test := range []struct {
		name, namespace string
		document        *service.Document
		mode            service.ImportMode
		want            string
	}{
		{"a document of another namespace", "a", &service.Document{Namespace: service.DocumentNamespace{Key: "b"}}, service.ImportCreate,
			`document of namespace "b" cannot be imported into namespace "a"`},
		{"an unknown mode", "a", &service.Document{}, 9, "invalid field mode: is not a known value"},
		{"an invalid namespace key", "a b", &service.Document{}, service.ImportCreate, "namespace: invalid field key: contains invalid characters"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := s.Import(t.Context(), service.Write{}, test.namespace, test.document, test.mode, false)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	stale := int64(99)
	if _, _, err := s.Import(t.Context(), service.Write{IfMatch: &stale}, "default", &service.Document{}, service.ImportCreate, false); !errors.Is(err, guidon.FailedPrecondition) {
		t.Errorf("stale If-Match: got %v, want FailedPrecondition", err)
	}
}

// TestImportUsesStoredSegments: a rule may refer to a segment of the namespace.
func TestImportUsesStoredSegments(t *testing.T) {
	s := newService(t)
	mustImport(t, s, "segments: [{key: a, name: A}]", service.ImportCreate)
	d := parse(t, "flags: [{key: f, name: F, rules: [{segment: a}]}]")
	if err := d.Validate(); err == nil {
		t.Error("Validate: no error for a segment that the document lacks")
	}
	if _, _, err := s.Import(t.Context(), service.Write{}, "", d, service.ImportCreate, false); err != nil {
		t.Errorf("Import: %v", err)
	}
}

func TestExport(t *testing.T) {
	s := newService(t)
	mustImport(t, s, `namespace: shop
flags: [{key: b, name: B, variants: [{key: y}, {key: x}]}, {key: a, name: A}, {key: B, name: B}]
segments: [{key: d, name: D}, {key: c, name: C}]`, service.ImportCreate)
	keys := func(sorted bool) []string {
		d := view(t, s, "shop").Export(sorted).Document()
		var out []string
		for _, f := range d.Flags {
			out = append(out, f.Key)
			for _, v := range f.Variants {
				out = append(out, f.Key+"/"+v.Key)
			}
		}
		for _, g := range d.Segments {
			out = append(out, g.Key)
		}
		return out
	}
	if diff := cmp.Diff([]string{"b", "b/y", "b/x", "a", "B", "d", "c"}, keys(false)); diff != "" {
		t.Errorf("creation order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"B", "a", "b", "b/x", "b/y", "c", "d"}, keys(true)); diff != "" {
		t.Errorf("sorted by key (-want +got):\n%s", diff)
	}
	wantNoNamespace(t, s, "nowhere")
}

// retryingStore is a store whose updates are rolled back once and run again, as after a
// transient error of the database.
type retryingStore struct{ service.Store }

func (s retryingStore) Update(ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error) (int64, error) {
	again := errors.New("again")
	revision, err := s.Store.Update(ctx, namespace, w, func(ctx context.Context, tx service.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return again
	})
	if !errors.Is(err, again) {
		return revision, err
	}
	return s.Store.Update(ctx, namespace, w, fn)
}

// TestImportRetry: the result of a retried import has nothing of the first attempt.
func TestImportRetry(t *testing.T) {
	s := service.NewService(retryingStore{newStore(t)}, time.Now)
	result := mustImport(t, s, shop, service.ImportCreate)
	if got, want := len(result.Changes), 5; got != want || result.Revision != 1 {
		t.Errorf("got %d changes at revision %d, want %d at 1", got, result.Revision, want)
	}
}
