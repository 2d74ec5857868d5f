package service_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// mustPlan returns the plan for the request.
func mustPlan(t *testing.T, s *service.Service, r service.PlanRequest) *service.Plan {
	t.Helper()
	p, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, r, nil)
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	return p
}

// expectedOf returns what Apply needs to carry out the plan.
func expectedOf(p *service.Plan) service.ExpectedPlan {
	e := service.ExpectedPlan{Digest: p.Digest}
	for _, c := range p.Changes {
		e.Changes = append(e.Changes, &service.ExpectedChange{Kind: c.Kind, Key: c.Key, Digest: c.Digest})
	}
	return e
}

// mustApply plans the request and applies the plan.
func mustApply(t *testing.T, s *service.Service, r service.PlanRequest) *service.Plan {
	t.Helper()
	p, _, err := s.Apply(t.Context(), service.Write{}, service.Demand{}, r, expectedOf(mustPlan(t, s, r)), nil)
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return p
}

// lines returns one line for each change and warning of the plan.
func lines(p *service.Plan) []string {
	var out []string
	for _, c := range p.Changes {
		line := fmt.Sprintf("%s %s %s: %s", c.Action, c.Kind, c.Key, c.Summary())
		if c.Required {
			line = "required: " + line
		}
		out = append(out, line)
	}
	for _, w := range p.Warnings {
		out = append(out, string(w.Kind)+" "+w.Key)
	}
	return out
}

// TestPlanIsImport: applying the plan of a document leads to the same state as importing it,
// with the same records and ids, in every mode.
func TestPlanIsImport(t *testing.T) {
	edited := strings.NewReplacer("percentage: 25", "percentage: 50", "name: Colour", "name: Color",
		"- {key: blue}\n", "- {key: green}\n  - {key: blue}\n", "name: Shop", "name: Store").Replace(shop) + "- {key: new, name: New}\n"
	other := "namespace: shop\nflags: [{key: old, name: Old}]\nsegments: [{key: odd, name: Odd}]"
	for _, mode := range []service.ImportMode{service.ImportCreate, service.ImportSkipExisting, service.ImportUpdate, service.ImportReplace} {
		t.Run(mode.String(), func(t *testing.T) {
			planned, imported := newService(t), newService(t)
			for _, s := range []*service.Service{planned, imported} {
				if mustImport(t, s, other, service.ImportCreate); mode != service.ImportCreate {
					mustImport(t, s, shop, service.ImportCreate)
				}
			}
			r := service.PlanRequest{Namespace: "shop", Document: parse(t, edited), Mode: mode}
			mustPlan(t, planned, r)
			if got := revision(t, planned, "shop"); got != revision(t, imported, "shop") {
				t.Errorf("planning changed the namespace to revision %d", got)
			}
			p := mustApply(t, planned, r)
			result := mustImport(t, imported, edited, mode)
			var got []string
			for _, c := range p.Changes {
				got = append(got, fmt.Sprintf("%s %s %s", c.Action, c.Kind, c.Key))
			}
			if diff := cmp.Diff(summary(result), got); diff != "" {
				t.Errorf("changes (-import +plan):\n%s", diff)
			}
			if diff := cmp.Diff(exported(t, imported, "shop"), exported(t, planned, "shop")); diff != "" {
				t.Errorf("state (-import +plan):\n%s", diff)
			}
			if p.Unchanged != result.Unchanged || !slices.Equal(p.Skipped, result.Skipped) || p.Revision != result.Revision {
				t.Errorf("got %d unchanged, %v skipped, revision %d; want %d, %v, %d", p.Unchanged, p.Skipped, p.Revision, result.Unchanged, result.Skipped, result.Revision)
			}
			if diff := cmp.Diff(recordsOf(t, imported, "shop"), recordsOf(t, planned, "shop")); diff != "" {
				t.Errorf("records (-import +plan):\n%s", diff)
			}
		})
	}
}

// recordsOf returns one line for each record of the newest revision.
func recordsOf(t *testing.T, s *service.Service, namespace string) []string {
	t.Helper()
	records, _, _, err := s.ListChanges(t.Context(), service.Demand{}, change.Search{Query: change.Query{Namespace: namespace}}, "")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range records {
		if r.Revision == records[0].Revision {
			out = append(out, fmt.Sprintf("%d %s %s %s: %s (%s)", r.Sequence, r.Action, r.Kind, r.Key, r.Summary(), r.Reason))
		}
	}
	return out
}

// TestPlanKeepsIDs: parts of an object that continue to exist keep their ids.
func TestPlanKeepsIDs(t *testing.T) {
	s := newService(t)
	mustImport(t, s, shop, service.ImportCreate)
	before := flag(t, s, "shop", "colour")
	mustApply(t, s, service.PlanRequest{Namespace: "shop", Document: parse(t, strings.Replace(shop, "rollout: 100", "rollout: 99", 1)), Mode: service.ImportUpdate})
	after := flag(t, s, "shop", "colour")
	if before.Rules[0].ID != after.Rules[0].ID || before.Rules[0].Distributions[0].ID != after.Rules[0].Distributions[0].ID ||
		before.DefaultVariantID != after.DefaultVariantID {
		t.Error("ids have changed")
	}
	if got := after.Rules[0].Distributions[0].Rollout; got != 99 {
		t.Errorf("got %v %%, want 99", got)
	}
}

// TestPlanOfUnchanged: a plan without changes uses no revision.
func TestPlanOfUnchanged(t *testing.T) {
	s := newService(t)
	mustImport(t, s, shop, service.ImportCreate)
	p := mustApply(t, s, service.PlanRequest{Namespace: "shop", Document: parse(t, shop), Mode: service.ImportReplace})
	if len(p.Changes) != 0 || p.Unchanged != 4 || p.Revision != 1 || revision(t, s, "shop") != 1 {
		t.Errorf("got %d changes, %d unchanged, revision %d", len(p.Changes), p.Unchanged, p.Revision)
	}
}

const staging = `namespace: {key: staging, name: Staging}
flags:
- key: checkout
  name: Checkout
  type: VARIANT_FLAG_TYPE
  enabled: true
  variants: [{key: classic}, {key: fast}]
  rules:
  - {segment: beta, distributions: [{variant: classic, rollout: 20}, {variant: fast, rollout: 80}]}
  - {segment: staff, distributions: [{variant: fast, rollout: 100}]}
- key: banner
  name: Banner
  type: BOOLEAN_FLAG_TYPE
  enabled: true
  rollouts:
  - {segment: {key: staff, value: true}}
  - {threshold: {percentage: 70, value: true}}
- {key: other, name: Other}
- {key: uses-beta, name: Uses beta, type: BOOLEAN_FLAG_TYPE, enabled: true}
segments:
- key: beta
  name: Beta
  constraints: [{type: STRING_COMPARISON_TYPE, property: plan, operator: eq, value: pro}]
- {key: staff, name: Staff}
- {key: unused, name: Unused}
`

const production = `namespace: {key: production, name: Production}
flags:
- key: checkout
  name: Checkout
  type: VARIANT_FLAG_TYPE
  variants: [{key: classic}, {key: fast}]
  rules:
  - {segment: beta, distributions: [{variant: fast, rollout: 5}, {variant: classic, rollout: 95}]}
- key: banner
  name: Banner
  type: BOOLEAN_FLAG_TYPE
  rollouts:
  - {threshold: {percentage: 10, value: true}}
- key: uses-beta
  name: Uses beta
  type: BOOLEAN_FLAG_TYPE
  rollouts: [{segment: {key: beta, value: true}}]
segments:
- key: beta
  name: Beta
  constraints: [{type: STRING_COMPARISON_TYPE, property: plan, operator: eq, value: team}]
`

// environments returns a service with the namespaces staging and production.
func environments(t *testing.T) *service.Service {
	t.Helper()
	s := newService(t)
	mustImport(t, s, staging, service.ImportCreate)
	mustImport(t, s, production, service.ImportCreate)
	return s
}

// TestPromotionKeepsOff: a flag that keeps its switch stays turned off, so that turning it on restores it; and it stays
// on if the flag that is promoted is turned off.
func TestPromotionKeepsOff(t *testing.T) {
	for _, keep := range []service.Keep{{Enabled: true}, {Enabled: true, Percentages: true}, {Enabled: true, Rules: true}} {
		for _, key := range []string{"checkout", "banner"} {
			for _, off := range []string{"production", "staging"} {
				t.Run(fmt.Sprintf("%+v %s off in %s", keep, key, off), func(t *testing.T) {
					s := environments(t)
					if _, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "production", key, true, nil); err != nil {
						t.Fatal(err)
					}
					r := service.PlanRequest{Namespace: "production", Source: "staging", Flags: []string{key}, Mode: service.ImportUpdate, Keep: keep}
					if _, _, err := s.TurnFlagOff(t.Context(), service.Write{}, off, key, nil); err != nil {
						t.Fatal(err)
					}
					mustApply(t, s, r)
					if got := service.TurnedOff(flag(t, s, "production", key)); got != (off == "production") {
						t.Errorf("turned off: %t", got)
					}
					if _, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "production", key, false, nil); err != nil {
						t.Error(err)
					}
					f := flag(t, s, "production", key)
					if !f.Enabled || service.TurnedOff(f) || slices.ContainsFunc(f.Rollouts, func(r *guidon.Rollout) bool { return r.Description == service.OffDescription }) {
						t.Errorf("turned on: %+v", f)
					}
				})
			}
		}
	}
}

// TestPromotionOfOff: off for everyone is not a share that a flag keeps, nor one that it hands on.
func TestPromotionOfOff(t *testing.T) {
	for _, off := range []string{"staging", "production"} {
		s := newService(t)
		for key, percentage := range map[string]string{"staging": "20", "production": "30"} {
			mustImport(t, s, `namespace: {key: `+key+`, name: `+key+`}
flags:
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, enabled: true, rollouts: [{threshold: {percentage: `+percentage+`, value: false}}]}
`, service.ImportCreate)
		}
		if _, _, err := s.TurnFlagOff(t.Context(), service.Write{}, off, "banner", nil); err != nil {
			t.Fatal(err)
		}
		mustApply(t, s, service.PlanRequest{
			Namespace: "production", Source: "staging", Mode: service.ImportUpdate, Keep: service.Keep{Percentages: true},
		})
		f := flag(t, s, "production", "banner")
		if got := service.TurnedOff(f); got != (off == "staging") {
			t.Errorf("off in %s: turned off: %t", off, got)
		}
		if got := f.Rollouts[len(f.Rollouts)-1].Threshold.Percentage; got != 30 {
			t.Errorf("off in %s: the share is %g%%, want the target's 30%%", off, got)
		}
	}
}

// TestPromotionKeepsSharesOfConditions: a rule with conditions of its own keeps its shares, also if the source has
// another one before it.
func TestPromotionKeepsSharesOfConditions(t *testing.T) {
	const country = `if: [{all: [{type: STRING_COMPARISON_TYPE, property: country, operator: eq, value: %s}]}]`
	const rule = `{` + country + `, distributions: [{variant: a, rollout: %d}, {variant: b, rollout: %d}]}`
	const rollout = `{segment: {value: true}, ` + country + `, portion: {percentage: %d}}`
	flags := func(rules, rollouts string) string {
		return `
flags:
- {key: theme, name: Theme, variants: [{key: a}, {key: b}], rules: [` + rules + `]}
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, rollouts: [` + rollouts + `]}
`
	}
	s := newService(t)
	mustImport(t, s, "version: guidon/1\nnamespace: production"+flags(
		fmt.Sprintf(rule, "DE", 10, 90)+", {everyone: true, distributions: [{variant: a, rollout: 1}, {variant: b, rollout: 99}]}",
		fmt.Sprintf(rollout, "DE", 10)+", {segment: {value: true}, everyone: true, portion: {percentage: 1}}"), service.ImportCreate)
	mustImport(t, s, "version: guidon/1\nnamespace: staging"+flags(
		fmt.Sprintf(rule, "FR", 50, 50)+", "+fmt.Sprintf(rule, "DE", 60, 40)+
			", {everyone: true, distributions: [{variant: a, rollout: 70}, {variant: b, rollout: 30}]}",
		fmt.Sprintf(rollout, "FR", 50)+", "+fmt.Sprintf(rollout, "DE", 60)+", {segment: {value: true}, everyone: true, portion: {percentage: 70}}"),
		service.ImportCreate)
	mustApply(t, s, service.PlanRequest{
		Namespace: "production", Source: "staging", Mode: service.ImportUpdate, Keep: service.Keep{Percentages: true},
	})
	var got []float32
	for _, r := range flag(t, s, "production", "theme").Rules {
		got = append(got, r.Distributions[0].Rollout)
	}
	for _, r := range flag(t, s, "production", "banner").Rollouts {
		got = append(got, r.Portion.Percentage)
	}
	if diff := cmp.Diff([]float32{50, 10, 1, 50, 10, 1}, got); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

// TestRestoreKeepsOff: a flag that was and is off is no change, whatever the order of its metadata.
func TestRestoreKeepsOff(t *testing.T) {
	s := newService(t)
	mustImport(t, s, `namespace: shop
flags:
- {key: theme, name: Theme, metadata: {guidon.turnedOff: true, owner: web}}
- {key: banner, name: Banner, enabled: true}
`, service.ImportCreate)
	mustImport(t, s, "namespace: shop\nflags: [{key: banner, name: Other, enabled: true}]\n", service.ImportUpdate)
	then := fmt.Sprintf("shop@%d", revision(t, s, "shop")-1)
	mustApply(t, s, service.PlanRequest{Namespace: "shop", Source: then, Mode: service.ImportReplace, Keep: service.Keep{Enabled: true}})
	got := []string{string(flag(t, s, "shop", "theme").Metadata), flag(t, s, "shop", "banner").Name}
	if diff := cmp.Diff([]string{`{"guidon.turnedOff":true,"owner":"web"}`, "Banner"}, got); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}

// TestPromotionReportsProblems: what a flag of the document has that is not valid is reported, whatever the target keeps.
func TestPromotionReportsProblems(t *testing.T) {
	many := make([]guidon.Requirement, service.MaxRequirements+1)
	for i := range many {
		many[i].FlagKey = fmt.Sprint("f", i)
	}
	for _, keep := range []service.Keep{{}, {Enabled: true}, {Percentages: true}, {Rules: true}} {
		for want, change := range map[string]func(f *guidon.Flag){
			"requires: must not contain more than 10 flags":     func(f *guidon.Flag) { f.Requires = many },
			`variants[1] "fast": invalid field attachment`:      func(f *guidon.Flag) { f.Variants[1].Attachment = "{" },
			`rules[0]: invalid field segmentKey or segmentKeys`: func(f *guidon.Flag) { f.Rules[0].SegmentKeys = nil },
		} {
			s := environments(t)
			f := service.NewDocumentFlag(flag(t, s, "staging", "checkout"))
			change(f)
			_, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, service.PlanRequest{
				Namespace: "production", Document: &service.Document{Flags: []*guidon.Flag{f}}, Flags: []string{f.Key}, Mode: service.ImportUpdate, Keep: keep,
			}, nil)
			if wantCode(t, want, err, guidon.InvalidArgument); err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: got %v, want %s", keep, err, want)
			}
		}
	}
}

// TestPromotionOfOffTwice: a flag that is off for everyone also by its own rules keeps both, so that turning it on
// restores what it was.
func TestPromotionOfOffTwice(t *testing.T) {
	s := newService(t)
	for _, key := range []string{"staging", "production"} {
		mustImport(t, s, `namespace: {key: `+key+`, name: `+key+`}
flags:
- key: banner
  name: Banner
  type: BOOLEAN_FLAG_TYPE
  rollouts:
  - {description: Off for everyone, threshold: {percentage: 100, value: false}}
  - {threshold: {percentage: 100, value: false}}
`, service.ImportCreate)
	}
	p := mustPlan(t, s, service.PlanRequest{
		Namespace: "production", Source: "staging", Mode: service.ImportUpdate, Keep: service.Keep{Enabled: true, Rules: true},
	})
	if len(p.Changes) > 0 {
		t.Errorf("got %q, want no changes", lines(p))
	}
}

func TestPromotion(t *testing.T) {
	enabled := "state off → on"
	tests := []struct {
		name string
		r    service.PlanRequest
		want []string
	}{
		{"one flag", service.PlanRequest{Flags: []string{"checkout"}}, []string{
			`required: update segment beta: constraint 1: value team → pro`,
			"required: create segment staff: created",
			"update flag checkout: " + enabled + `; rule 1: share of "classic" moved to 1; rule 1: share of "classic" 95% → 20%; rule 1: share of "fast" 5% → 80%; rule 2 added (segments staff, 100% "fast")`,
			"segment-shared beta",
			"matches-everyone staff",
		}},
		{"keep the switch and percentages", service.PlanRequest{Flags: []string{"checkout", "banner"}, Keep: service.Keep{Enabled: true, Percentages: true}}, []string{
			`required: update segment beta: constraint 1: value team → pro`,
			"required: create segment staff: created",
			`update flag checkout: rule 2 added (segments staff, 100% "fast")`,
			"update flag banner: rule 1 added (segments staff: on)",
			"segment-shared beta",
			"matches-everyone staff",
		}},
		{"keep rules", service.PlanRequest{Flags: []string{"checkout", "banner"}, Keep: service.Keep{Rules: true}}, []string{
			`required: update segment beta: constraint 1: value team → pro`,
			"update flag checkout: " + enabled,
			"update flag banner: default value off → on",
			"segment-shared beta",
		}},
		{"keep rules for a segment that only they use", service.PlanRequest{Flags: []string{"uses-beta"}, Keep: service.Keep{Rules: true}}, []string{
			"update flag uses-beta: default value off → on",
		}},
		{"without segments", service.PlanRequest{Flags: []string{"other"}, Segments: []string{"unused"}, WithoutSegments: true}, []string{
			"create segment unused: created",
			"create flag other: created",
			"matches-everyone unused",
		}},
		{"a segment", service.PlanRequest{Segments: []string{"beta"}}, []string{
			`update segment beta: constraint 1: value team → pro`,
			"segment-shared beta",
		}},
		{"existing ones stay", service.PlanRequest{Flags: []string{"checkout", "other"}, Mode: service.ImportSkipExisting}, []string{
			"required: create segment staff: created",
			"create flag other: created",
			"matches-everyone staff",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := environments(t)
			tt.r.Namespace, tt.r.Source = "production", "staging"
			if tt.r.Mode == service.ImportCreate {
				tt.r.Mode = service.ImportUpdate
			}
			p := mustPlan(t, s, tt.r)
			got := lines(p)
			if diff := cmp.Diff(withoutShares(tt.want), withoutShares(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			done := mustApply(t, s, tt.r)
			if done.Revision != 2 || done.SourceRevision != 1 {
				t.Errorf("got revision %d from %d, want 2 from 1", done.Revision, done.SourceRevision)
			}
			for _, record := range recordsOf(t, s, "production") {
				if !strings.Contains(record, "(promotion from staging@1)") {
					t.Errorf("record without reason: %s", record)
				}
			}
			if again := mustPlan(t, s, tt.r); len(again.Changes) > 0 {
				t.Errorf("planned again: %q", lines(again))
			}
			if n := view(t, s, "production").Snapshot.Namespace(); n.Name != "Production" {
				t.Errorf("the target is now called %q", n.Name)
			}
		})
	}
}

// withoutShares leaves out how shares change, beyond that they do.
func withoutShares(lines []string) []string {
	out := slices.Clone(lines)
	for i, line := range out {
		out[i], _, _ = strings.Cut(line, "; rule 1: share")
	}
	return out
}

// TestPromoteNamespace makes one namespace equal to another, except for its name.
func TestPromoteNamespace(t *testing.T) {
	s := environments(t)
	mustApply(t, s, service.PlanRequest{Namespace: "production", Source: "staging", Mode: service.ImportReplace})
	c := change.Outline(change.ObjectsOf(view(t, s, "staging").Snapshot), change.ObjectsOf(view(t, s, "production").Snapshot))
	if len(c.Flags)+len(c.Segments) > 0 {
		t.Errorf("%d flags and %d segments differ", len(c.Flags), len(c.Segments))
	}
	differences := change.Compare(c.Namespace.Before, c.Namespace.After)
	if got, want := change.Summarize(differences), `name "Staging" → "Production"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPlanErrors(t *testing.T) {
	viewer := func(namespaces ...string) service.Caller {
		return service.Caller{Authentication: &service.Authentication{Role: service.RoleViewer, Namespaces: namespaces}}
	}
	all := viewer("*")
	tests := []struct {
		name string
		by   service.Caller
		r    service.PlanRequest
		code guidon.Code
		want string
	}{
		{"no source", all, service.PlanRequest{}, guidon.InvalidArgument, "invalid field document, sourceNamespaceKey or undo: must not be empty"},
		{"two sources", all, service.PlanRequest{Document: &service.Document{}, Source: "staging"}, guidon.InvalidArgument, "invalid field document, sourceNamespaceKey or undo: only one can be present"},
		{"itself", all, service.PlanRequest{Source: "production"}, guidon.InvalidArgument, "invalid field sourceNamespaceKey: must not be the target, unless it refers to an earlier state"},
		{"unknown mode", all, service.PlanRequest{Source: "staging", Mode: 9}, guidon.InvalidArgument, "invalid field mode: is not a known value"},
		{"replace by a part", all, service.PlanRequest{Source: "staging", Flags: []string{"other"}, Mode: service.ImportReplace}, guidon.InvalidArgument, "invalid field mode: everything else would be deleted; to replace, select the whole source"},
		{"too many flags", all, service.PlanRequest{Source: "staging", Flags: make([]string, 1001)}, guidon.InvalidArgument, "invalid field flagKeys: must not contain more than 1000 elements"},
		{"another namespace's document", all, service.PlanRequest{Document: parse(t, staging)}, guidon.InvalidArgument, `document of namespace "staging" cannot be planned for namespace "production"`},
		{"no such source", all, service.PlanRequest{Source: "nowhere"}, guidon.NotFound, `namespace "nowhere" not found`},
		{"no such target", all, service.PlanRequest{Namespace: "nowhere", Source: "staging"}, guidon.NotFound, `namespace "nowhere" not found`},
		{"a source that the caller may not read", viewer("production"), service.PlanRequest{Source: "staging"}, guidon.PermissionDenied, `permission denied: needs viewer on namespace "staging"`},
		{"and that does not exist", viewer("production"), service.PlanRequest{Source: "nowhere"}, guidon.PermissionDenied, `permission denied: needs viewer on namespace "nowhere"`},
		{"nor in the past", viewer("production"), service.PlanRequest{Source: "staging@3"}, guidon.PermissionDenied, `permission denied: needs viewer on namespace "staging"`},
		{"all problems at once", all, service.PlanRequest{Source: "staging", Flags: []string{"checkout", "gone", "gone"}, Segments: []string{"lost"}, WithoutSegments: true, Mode: service.ImportCreate}, guidon.InvalidArgument,
			"flag \"gone\" not found in namespace \"staging\"\nsegment \"lost\" not found in namespace \"staging\"\n" +
				"flags[0] \"checkout\": rules[1]: segment \"staff\" not found\nflag \"production/checkout\" is not unique"},
		{"problems of a document", all, service.PlanRequest{Document: parse(t, "namespace: production\nflags: [{key: a b, name: x}, {key: c, name: \"\"}]")}, guidon.InvalidArgument,
			"flags[0] \"a b\": invalid field key: contains invalid characters\nflags[1] \"c\": invalid field name: must not be empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := environments(t)
			if tt.r.Namespace == "" {
				tt.r.Namespace = "production"
			}
			_, _, err := s.Plan(t.Context(), tt.by, service.Demand{}, tt.r, nil)
			if err == nil || err.Error() != tt.want || !errors.Is(err, tt.code) {
				t.Errorf("plan: got %v, want %s", err, tt.want)
			}
			_, _, err = s.Apply(t.Context(), service.Write{By: tt.by}, service.Demand{}, tt.r, service.ExpectedPlan{Digest: "x"}, nil)
			if err == nil || err.Error() != tt.want || !errors.Is(err, tt.code) {
				t.Errorf("apply: got %v, want %s", err, tt.want)
			}
			if got := revision(t, s, "production"); got != 1 {
				t.Errorf("the namespace is now at revision %d", got)
			}
		})
	}
	s := environments(t)
	_, _, err := s.Apply(t.Context(), service.Write{}, service.Demand{}, service.PlanRequest{Namespace: "production", Source: "staging"}, service.ExpectedPlan{}, nil)
	if err == nil || err.Error() != "invalid field digest: must not be empty" {
		t.Errorf("without digest: got %v", err)
	}
}

// TestApplyNeedsAdmin: an editor cannot create a namespace, or change its name.
func TestApplyNeedsAdmin(t *testing.T) {
	s := environments(t)
	editor := service.Write{By: service.Caller{Authentication: &service.Authentication{Role: service.RoleEditor}}}
	for _, text := range []string{"namespace: new", "namespace: {key: production, name: Live}"} {
		r := service.PlanRequest{Document: parse(t, text), Mode: service.ImportUpdate}
		r.Namespace = r.Document.Namespace.Key
		p := mustPlan(t, s, r)
		if _, _, err := s.Apply(t.Context(), editor, service.Demand{}, r, expectedOf(p), nil); !errors.Is(err, guidon.PermissionDenied) {
			t.Errorf("%s: got %v, want PermissionDenied", text, err)
		}
		mustApply(t, s, r)
	}
}

// TestApplyRefuses: a plan that would be different is not applied, and the error says what
// is different. What the plan says nothing about may change.
func TestApplyRefuses(t *testing.T) {
	refused := "nothing was changed: the plan is no longer the same: "
	tests := []struct {
		name      string
		namespace string
		text      string // imported between plan and apply
		want      string
	}{
		{"an unrelated flag of the target", "production", "flags: [{key: unrelated, name: New}]", ""},
		{"the description of an unrelated flag", "production", "flags: [{key: banner, name: Renamed, type: BOOLEAN_FLAG_TYPE}]", ""},
		{"an unrelated flag of the source", "staging", "flags: [{key: unrelated, name: New}]", ""},
		{"the flag in the target", "production", "flags: [{key: other, name: Other}]", `flag "other" would no longer change`},
		{"another version of it", "production", "flags: [{key: other, name: Different}]", `now update flag "other": name "Different" → "Other"`},
		{"the flag in the source", "staging", "flags: [{key: other, name: Other, enabled: true}]", `now create flag "other"`},
		{"the segment", "production", "segments: [{key: beta, name: Beta}]", `now update segment "beta": constraint 1 added (plan is pro)`},
		{"a user of the segment", "production", "flags: [{key: second, name: S, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: beta, value: true}}]}]",
			"the changes are the same, but not the warnings, or the objects that stay as they are"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := environments(t)
			r := service.PlanRequest{Namespace: "production", Source: "staging", Mode: service.ImportUpdate, Flags: []string{"other"}, Segments: []string{"beta"}}
			p := mustPlan(t, s, r)
			mustImport(t, s, "namespace: "+tt.namespace+"\n"+tt.text, service.ImportUpdate)
			before := exported(t, s, "production")
			now, got, err := s.Apply(t.Context(), service.Write{}, service.Demand{}, r, expectedOf(p), nil)
			if tt.want == "" {
				if err != nil || got != revision(t, s, "production") || len(now.Changes) != 2 {
					t.Errorf("got %v, want success", err)
				}
				return
			}
			if !errors.Is(err, guidon.FailedPrecondition) || err.Error() != refused+tt.want {
				t.Errorf("got %v\nwant %s", err, refused+tt.want)
			}
			if now == nil || now.Digest == p.Digest {
				t.Error("the error comes without the plan as it is now")
			}
			if diff := cmp.Diff(before, exported(t, s, "production")); diff != "" {
				t.Errorf("something was changed (-before +after):\n%s", diff)
			}
		})
	}
	s := environments(t)
	r := service.PlanRequest{Namespace: "production", Source: "staging", Mode: service.ImportUpdate, Flags: []string{"other"}}
	_, _, err := s.Apply(t.Context(), service.Write{}, service.Demand{}, r, service.ExpectedPlan{Digest: "wrong"}, nil)
	if want := refused + `now create flag "other"`; err == nil || err.Error() != want {
		t.Errorf("wrong digest: got %v, want %s", err, want)
	}
}

// TestPlanServerOnly: a plan warns of the flags that client-side SDKs lose by it, and only then.
func TestPlanServerOnly(t *testing.T) {
	const before = "version: guidon/1\nnamespace: default\n" +
		"flags: [{key: f, name: F, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: s, value: true}}]}, {key: g, name: G, type: BOOLEAN_FLAG_TYPE}]\n" +
		"segments: [{key: s, name: S, constraints: [{type: STRING_COMPARISON_TYPE, property: p, operator: eq, value: a}]}]"
	negated := strings.Replace(before, "value: a}", "value: a, not: true}", 1)
	s := newService(t)
	mustImport(t, s, before, service.ImportCreate)
	plan := func(document string) []string {
		t.Helper()
		p, _, err := s.Plan(t.Context(), service.Caller{}, service.Demand{}, service.PlanRequest{Document: parse(t, document), Mode: service.ImportUpdate}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var warnings []string
		for _, w := range p.Warnings {
			if w.Kind == change.WarnServerOnly {
				warnings = append(warnings, w.Text)
			}
		}
		return warnings
	}
	want := []string{`client-side SDKs no longer get flag "f": rule 1 negates a constraint`}
	if diff := cmp.Diff(want, plan(negated)); diff != "" {
		t.Errorf("negating (-want +got):\n%s", diff)
	}
	later := strings.Replace(before, "rollouts: [", "rollouts: [{segment: {value: true}, everyone: true, portion: "+
		"{percentage: 100, ramp: {start: 2099-12-01T09:00:00Z, steps: [{percentage: 50, for: 1h}]}}}, ", 1)
	want = []string{`client-side SDKs no longer get flag "f": from 1 December 2099 09:00 UTC, rule 1 is for a portion`}
	if diff := cmp.Diff(want, plan(later)); diff != "" {
		t.Errorf("a ramp to come (-want +got):\n%s", diff)
	}
	mustImport(t, s, later, service.ImportUpdate)
	if got := plan(strings.Replace(later, "name: F,", "name: New,", 1)); got != nil {
		t.Errorf("the ramp again: got %q, want no warning", got)
	}
	mustImport(t, s, negated, service.ImportUpdate)
	for name, document := range map[string]string{"again": strings.Replace(negated, "name: F,", "name: New,", 1), "no longer": before} {
		if got := plan(document); got != nil {
			t.Errorf("%s: got %q, want no warning", name, got)
		}
	}
}
