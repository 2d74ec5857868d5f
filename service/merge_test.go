package service_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

const merged = `
namespace: {key: default}
flags:
- {key: checkout, name: Checkout, description: Old, enabled: true, metadata: {owner: pay}, variants: [{key: classic}, {key: one-page}], rules: [
    {segment: {keys: [staff], operator: OR_SEGMENT_OPERATOR}, rank: 3, distributions: [{variant: one-page, rollout: 100}]},
    {segment: {keys: [guests], operator: OR_SEGMENT_OPERATOR}, rank: 7, distributions: [{variant: classic, rollout: 90}, {variant: one-page, rollout: 10}]}]}
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: guests, value: true}}]}
segments:
- {key: staff, name: Staff, match_type: ALL_MATCH_TYPE, constraints: [{type: STRING_COMPARISON_TYPE, property: group, operator: eq, value: staff}]}
- {key: guests, name: Guests, match_type: ALL_MATCH_TYPE}
`

// flagEdit changes the document of a flag; nil deletes the flag.
type flagEdit func(f *guidon.Flag)

func unchanged(*guidon.Flag) {}

func redescribed(text string) flagEdit {
	return func(f *guidon.Flag) { f.Description = text }
}

func named(text string) flagEdit { return func(f *guidon.Flag) { f.Name = text } }

// shared sets the shares of the second rule.
func shared(percent ...float32) flagEdit {
	return func(f *guidon.Flag) {
		f.Rules[1].Distributions = nil
		for i, p := range percent {
			f.Rules[1].Distributions = append(f.Rules[1].Distributions, &guidon.Distribution{VariantID: f.Variants[i].Key, Rollout: p})
		}
	}
}

func swapped(f *guidon.Flag) { f.Rules[0], f.Rules[1] = f.Rules[1], f.Rules[0] }

func ruleAdded(variant string) flagEdit {
	return func(f *guidon.Flag) {
		f.Variants = append(f.Variants, &guidon.Variant{Key: variant})
		f.Rules = append(f.Rules, &guidon.Rule{SegmentKeys: []string{"staff", "guests"}, Distributions: []*guidon.Distribution{{VariantID: variant, Rollout: 100}}})
	}
}

func both(edits ...flagEdit) flagEdit {
	return func(f *guidon.Flag) {
		for _, edit := range edits {
			edit(f)
		}
	}
}

// edits returns the flag checkout after an edit, or nil if that deletes it.
func edits(t *testing.T, s *service.Service, edit flagEdit) *guidon.Flag {
	t.Helper()
	if edit == nil {
		return nil
	}
	f := documentFlag(t, s, "checkout")
	edit(f)
	return f
}

// save saves an edit of the flag checkout as Ann.
func save(t *testing.T, s *service.Service, edit flagEdit) {
	t.Helper()
	w, put := ann, service.FlagEdit{Put: edits(t, s, edit)}
	if put.Put == nil {
		put.Delete = "checkout"
	}
	if _, _, err := s.Edit(t.Context(), w, "", service.Edits{Flags: []service.FlagEdit{put}}); err != nil {
		t.Fatal(err)
	}
}

// TestMergeKeepsRulesOfConditions: a rule with conditions of its own stays the same one if the edit puts another one
// before it.
func TestMergeKeepsRulesOfConditions(t *testing.T) {
	const conditions = `if: [{all: [{type: STRING_COMPARISON_TYPE, property: country, operator: eq, value: DE}]}], portion: {percentage: 10}`
	until := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, flag := range []string{
		`variants: [{key: a}], rules: [{` + conditions + `, distributions: [{variant: a, rollout: 100}]}]`,
		`type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, ` + conditions + `}]`,
	} {
		s := newService(t)
		mustImport(t, s, "version: guidon/1\nnamespace: {key: default}\nflags: [{key: checkout, name: Checkout, "+flag+"}]\n", service.ImportCreate)
		since := revision(t, s, "default")
		mine := edits(t, s, func(f *guidon.Flag) {
			other := change.Clone(f)
			f.Rules, f.Rollouts = append(other.Rules, f.Rules...), append(other.Rollouts, f.Rollouts...)
			for i, c := range f.EachConditions() {
				if c.Portion.Percentage = 20; i == 0 {
					c.Groups[0].Constraints[0].Value = "FR"
				}
			}
		})
		save(t, s, func(f *guidon.Flag) {
			for _, c := range f.EachConditions() {
				c.Until = until
			}
		})
		m, _, err := s.MergeFlag(t.Context(), service.Demand{}, service.MergeRequest[guidon.Flag]{Key: "checkout", Since: since, Mine: mine}, nil)
		if err != nil || len(m.Conflicts) > 0 {
			t.Fatalf("%+v, %v", m, err)
		}
		var got []string
		for _, c := range m.Merged.EachConditions() {
			got = append(got, fmt.Sprintf("%s %g%% %d", c.Groups[0].Constraints[0].Value, c.Portion.Percentage, c.Until.Year()))
		}
		if diff := cmp.Diff([]string{"FR 20% 1", "DE 20% 2030"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", flag, diff)
		}
	}
}

// mergedWords are the parts of a merge in a form that is easy to compare.
type mergedWords struct{ Conflicts, Mine, Theirs []string }

func mergeWords[T any](m *service.Merge[T]) (w mergedWords) {
	for _, c := range m.Conflicts {
		w.Conflicts = append(w.Conflicts, fmt.Sprintf("%s: %s, %s, %s", c.Name, c.Base, c.Ours, c.Theirs))
	}
	for _, d := range m.Mine {
		w.Mine = append(w.Mine, d.Summary)
	}
	for _, d := range m.Theirs {
		w.Theirs = append(w.Theirs, d.Summary)
	}
	return w
}

// mergeTest is an edit of the flag checkout beside one that was saved meanwhile.
type mergeTest struct {
	name         string
	mine, theirs flagEdit
	choices      change.Choices
	want         flagEdit // the merged flag
	words        mergedWords
}

var mergeTests = []mergeTest{
	{name: "nobody", mine: unchanged, theirs: unchanged, want: unchanged},
	{name: "only mine", mine: named("Mine"), theirs: unchanged, want: named("Mine"), words: mergedWords{Mine: []string{`name "Checkout" → "Mine"`}}},
	{
		name: "disjoint", mine: both(named("Mine"), shared(70, 30)), theirs: both(redescribed("Theirs"), swapped),
		want:  both(named("Mine"), redescribed("Theirs"), shared(70, 30), swapped),
		words: mergedWords{nil, []string{`name "Checkout" → "Mine"`, `rule 1: share of "classic" 90% → 70%`, `rule 1: share of "one-page" 10% → 30%`}, []string{`description "Old" → "Theirs"`, "rule 2 moved to 1"}},
	},
	{
		name: "the same field", mine: both(redescribed("Mine"), named("N")), theirs: redescribed("Theirs"), want: both(redescribed("Mine"), named("N")),
		words: mergedWords{[]string{`description: "Old", "Mine", "Theirs"`}, []string{`name "Checkout" → "N"`}, nil},
	},
	{
		name: "the same field, mine chosen", mine: redescribed("Mine"), theirs: redescribed("Theirs"), want: redescribed("Mine"),
		choices: change.Choices{"description": change.Ours}, words: mergedWords{Mine: []string{`description "Theirs" → "Mine"`}},
	},
	{
		name: "the same field, theirs chosen", mine: redescribed("Mine"), theirs: redescribed("Theirs"), want: redescribed("Theirs"),
		choices: change.Choices{"description": change.Theirs}, words: mergedWords{Theirs: []string{`description "Mine" → "Theirs"`}},
	},
	{
		name: "one of two conflicts resolved", mine: both(redescribed("Mine"), named("N")), theirs: both(redescribed("Theirs"), named("T")),
		want: both(redescribed("Theirs"), named("N")), choices: change.Choices{"description": change.Theirs},
		words: mergedWords{[]string{`name: "Checkout", "N", "T"`}, nil, []string{`description "Mine" → "Theirs"`}},
	},
	{
		name: "the shares of a rule", mine: shared(70, 30), theirs: shared(95, 5), want: shared(70, 30),
		words: mergedWords{Conflicts: []string{`rule 2: shares: [{"variant":"classic","rollout":90},{"variant":"one-page","rollout":10}], ` +
			`[{"variant":"classic","rollout":70},{"variant":"one-page","rollout":30}], [{"variant":"classic","rollout":95},{"variant":"one-page","rollout":5}]`}},
	},
	{
		name: "the order against an edit", mine: swapped, theirs: shared(95, 5), want: both(shared(95, 5), swapped),
		words: mergedWords{nil, []string{"rule 2 moved to 1"}, []string{`rule 1: share of "classic" 90% → 95%`, `rule 1: share of "one-page" 10% → 5%`}},
	},
	{name: "the same edit", mine: both(named("Same"), shared(50, 50)), theirs: both(named("Same"), shared(50, 50)), want: both(named("Same"), shared(50, 50))},
	{name: "the same rule added", mine: ruleAdded("new"), theirs: ruleAdded("new"), want: ruleAdded("new")},
	{
		name: "different rules added", mine: ruleAdded("mine"), theirs: ruleAdded("theirs"), want: both(ruleAdded("theirs"), ruleAdded("mine")),
		words: mergedWords{nil, []string{`variant "mine" added`, `rule 4 added (segments staff, guests, 100% "mine")`}, []string{`variant "theirs" added`, `rule 3 added (segments staff, guests, 100% "theirs")`}},
	},
	{name: "both deleted", mine: nil, theirs: nil, want: nil},
	{name: "only mine deletes", mine: nil, theirs: unchanged, want: nil, words: mergedWords{Mine: []string{"deleted"}}},
	{name: "only theirs deletes", mine: unchanged, theirs: nil, want: nil, words: mergedWords{Theirs: []string{"deleted"}}},
}

// TestMergeEdit: an edit meets one that was saved after it began.
func TestMergeEdit(t *testing.T) {
	for _, test := range mergeTests {
		t.Run(test.name, func(t *testing.T) {
			s := newService(t)
			mustImport(t, s, merged, service.ImportCreate)
			began := flag(t, s, "default", "checkout")
			mine, want := edits(t, s, test.mine), edits(t, s, test.want)
			save(t, s, test.theirs)
			m, state, err := s.MergeFlag(t.Context(), service.Demand{}, service.MergeRequest[guidon.Flag]{
				Key: "checkout", Since: 2, Mine: mine, Choices: test.choices,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, m.Merged); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.words, mergeWords(m)); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
			current := revision(t, s, "default")
			if m.Base != 2 || m.Current != current || state.Revision != current || state.Namespace != "default" || m.BaseMissing {
				t.Errorf("got the base %d, the current revision %d and the state %+v, want 2 and %d", m.Base, m.Current, state, current)
			}
			if changed := current > 2; changed != (m.Latest != nil) || changed && (m.Latest.Revision != current || m.Latest.Actor.Name != "Ann") {
				t.Errorf("got the latest change %+v", m.Latest)
			}
			if m.Merged == nil || test.theirs == nil {
				return
			}
			if _, _, err := s.ReplaceFlag(t.Context(), ann, "", "checkout", m.Merged, &m.Current); err != nil {
				t.Fatal(err)
			}
			for _, r := range began.Rules { // is still the same one
				if flag(t, s, "default", "checkout").Rule(r.ID) == nil {
					t.Errorf("no rule has the id %s any more", r.ID)
				}
			}
		})
	}
}

// TestMergeEditDeleted: a flag that one side deletes and the other changes is one conflict.
func TestMergeEditDeleted(t *testing.T) {
	for _, test := range []struct {
		name         string
		mine, theirs flagEdit
		side         change.Side
		want         flagEdit
	}{
		{"mine changes", named("Mine"), nil, "", named("Mine")},
		{"mine changes, mine chosen", named("Mine"), nil, change.Ours, named("Mine")},
		{"mine changes, theirs chosen", named("Mine"), nil, change.Theirs, nil},
		{"theirs changes", nil, named("Theirs"), "", nil},
		{"theirs changes, mine chosen", nil, named("Theirs"), change.Ours, nil},
		{"theirs changes, theirs chosen", nil, named("Theirs"), change.Theirs, named("Theirs")},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newService(t)
			mustImport(t, s, merged, service.ImportCreate)
			mine, want := edits(t, s, test.mine), edits(t, s, test.want)
			save(t, s, test.theirs)
			r := service.MergeRequest[guidon.Flag]{Key: "checkout", Since: 2, Mine: mine}
			if test.side != "" {
				r.Choices = change.Choices{change.Whole: test.side}
			}
			m, _, err := s.MergeFlag(t.Context(), service.Demand{}, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, m.Merged); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if got := len(m.Conflicts); (got == 0) != (test.side != "") || got > 0 && (m.Conflicts[0].Path != change.Whole || (m.Conflicts[0].Ours == nil) != (test.mine == nil)) {
				t.Errorf("got the conflicts %+v", m.Conflicts)
			}
		})
	}
}

// TestMergeEditWithoutBase: if the state that an edit began from is no longer known, each
// difference is a conflict. Rules are the same by their content.
func TestMergeEditWithoutBase(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now)
	mustImport(t, s, merged, service.ImportCreate)
	mine := edits(t, s, both(redescribed("Mine"), shared(70, 30)))
	save(t, s, named("Second"))
	save(t, s, redescribed("Theirs"))
	if _, err := db.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 1000); err != nil {
		t.Fatal(err)
	}
	r := service.MergeRequest[guidon.Flag]{Key: "checkout", Since: 2, Mine: mine}
	m, _, err := s.MergeFlag(t.Context(), service.Demand{}, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := mergedWords{Conflicts: []string{
		`name: , "Checkout", "Second"`, `description: , "Mine", "Theirs"`,
		`rule 2: shares: , [{"variant":"classic","rollout":70},{"variant":"one-page","rollout":30}], [{"variant":"classic","rollout":90},{"variant":"one-page","rollout":10}]`,
	}}
	if diff := cmp.Diff(want, mergeWords(m)); diff != "" || !m.BaseMissing || m.Latest.Revision != 4 {
		t.Errorf("base missing: %t; latest: %+v; (-want +got):\n%s", m.BaseMissing, m.Latest, diff)
	}
	if diff := cmp.Diff(mine, m.Merged); diff != "" {
		t.Errorf("merged (-mine +got):\n%s", diff)
	}
	r.Since = 99 // before a backup was restored
	if m, _, err = s.MergeFlag(t.Context(), service.Demand{}, r, nil); err != nil || !m.BaseMissing || len(m.Conflicts) != 3 || m.Latest != nil {
		t.Errorf("a revision to come: got %+v, %v", m, err)
	}
	save(t, s, nil)
	if m, _, err = s.MergeFlag(t.Context(), service.Demand{}, r, nil); err != nil || len(m.Conflicts) != 1 || m.Conflicts[0].Path != change.Whole {
		t.Errorf("deleted: got %+v, %v", m, err)
	}
}

// TestMergeEditSegment merges edits of a segment.
func TestMergeEditSegment(t *testing.T) {
	s := newService(t)
	mustImport(t, s, merged, service.ImportCreate)
	staff := func() *guidon.Segment {
		return service.NewDocumentSegment(view(t, s, "default").Snapshot.Segment("staff"))
	}
	mine := staff()
	mine.Constraints[0].Value = "mine"
	mine.Constraints = append(mine.Constraints, &guidon.Constraint{Type: guidon.StringComparison, Property: "country", Operator: "EQ", Value: "de"})
	theirs := staff()
	theirs.Constraints[0].Value, theirs.MatchType = "theirs", guidon.MatchAny
	theirs.Constraints = append(theirs.Constraints, &guidon.Constraint{Type: guidon.StringComparison, Property: "country", Operator: "eq", Value: "de"})
	if _, _, err := s.ReplaceSegment(t.Context(), ann, "", "staff", theirs, nil); err != nil {
		t.Fatal(err)
	}
	m, _, err := s.MergeSegment(t.Context(), service.Demand{}, service.MergeRequest[guidon.Segment]{Key: "staff", Since: 2, Mine: mine}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := mergedWords{Conflicts: []string{`constraint 1: value: "staff", "mine", "theirs"`}, Theirs: []string{"constraints that must match all → any"}}
	if diff := cmp.Diff(want, mergeWords(m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := m.Merged; got.MatchType != guidon.MatchAny || len(got.Constraints) != 2 || got.Constraints[0].Value != "mine" {
		t.Errorf("got %+v", got)
	}
}

func TestMergeEditErrors(t *testing.T) {
	s := newService(t)
	mustImport(t, s, merged, service.ImportCreate)
	merge := func(change func(r *service.MergeRequest[guidon.Flag])) error {
		r := service.MergeRequest[guidon.Flag]{Key: "checkout", Since: 2, Mine: documentFlag(t, s, "checkout")}
		change(&r)
		_, _, err := s.MergeFlag(t.Context(), service.Demand{}, r, nil)
		return err
	}
	for _, test := range []struct {
		change func(r *service.MergeRequest[guidon.Flag])
		code   guidon.Code
		want   string
	}{
		{func(r *service.MergeRequest[guidon.Flag]) { r.Key = "" }, guidon.InvalidArgument, "invalid field key: must not be empty"},
		{func(r *service.MergeRequest[guidon.Flag]) { r.Key, r.Mine = "", nil }, guidon.InvalidArgument, "invalid field key: must not be empty"},
		{func(r *service.MergeRequest[guidon.Flag]) { r.Key = "banner" }, guidon.InvalidArgument, `invalid field key: the edited object has the key "checkout" instead of "banner"`},
		{func(r *service.MergeRequest[guidon.Flag]) { r.Since = -1 }, guidon.InvalidArgument, "invalid field since: must not be negative"},
		{func(r *service.MergeRequest[guidon.Flag]) { r.Mine.Name = "" }, guidon.InvalidArgument, "flag: invalid field name: must not be empty"},
		{func(r *service.MergeRequest[guidon.Flag]) { r.Choices = change.Choices{"name": change.Ours} }, guidon.InvalidArgument, "invalid choice for name: there is no such conflict"},
		{func(r *service.MergeRequest[guidon.Flag]) { r.Namespace = "none" }, guidon.NotFound, `namespace "none" not found`},
		{func(r *service.MergeRequest[guidon.Flag]) { r.Namespace = "default@1" }, guidon.InvalidArgument, service.ErrReference("default@1").Error()},
		{func(r *service.MergeRequest[guidon.Flag]) { r.Mine.Rules[0].SegmentKeys = []string{"gone"} }, 0, ""},
	} {
		if err := merge(test.change); problem(err) != test.want || err != nil && guidon.CodeOf(err) != test.code {
			t.Errorf("got %v, want %v: %s", err, test.code, test.want)
		}
	}
}
