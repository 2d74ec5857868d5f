package service_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

const edited = `
namespace: {key: default}
flags:
- {key: checkout, name: Checkout, enabled: true, variants: [{key: classic}, {key: one-page}], rules: [
    {segment: {keys: [staff], operator: OR_SEGMENT_OPERATOR}, distributions: [{variant: one-page, rollout: 100}]}]}
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: guests, value: true}}]}
- {key: menu, name: Menu, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: guests, value: true}}, {segment: {key: guests, value: false}}]}
segments:
- {key: staff, name: Staff, match_type: ALL_MATCH_TYPE, constraints: [{type: STRING_COMPARISON_TYPE, property: group, operator: eq, value: staff}]}
- {key: guests, name: Guests, match_type: ALL_MATCH_TYPE}
- {key: unused, name: Unused, match_type: ALL_MATCH_TYPE}
`

// ann is the author of a write.
var ann = service.Write{By: service.Caller{Actor: change.Actor{ID: "token:7", Name: "Ann"}}}

// changes returns the records after the revision, oldest first.
func changes(t *testing.T, s *service.Service, namespace string, after int64) []*change.Record {
	t.Helper()
	records, _, _, err := s.ListChanges(t.Context(), service.Demand{}, change.Search{Query: change.Query{Namespace: namespace, Limit: 100}}, "")
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(records)
	return slices.DeleteFunc(records, func(c *change.Record) bool { return c.Revision <= after })
}

// logged returns records in a form that is easy to compare.
func logged(records []*change.Record) []string {
	var lines []string
	for _, c := range records {
		lines = append(lines, fmt.Sprintf("%d.%d %s %s %s", c.Revision, c.Sequence, c.Action, c.Kind, c.Key))
	}
	return lines
}

// documentFlag returns a flag of the namespace in the form of a document.
func documentFlag(t *testing.T, s *service.Service, key string) *guidon.Flag {
	t.Helper()
	for _, f := range view(t, s, "default").Export(false).Document().Flags {
		if f.Key == key {
			return f
		}
	}
	t.Fatalf("no flag %q", key)
	return nil
}

// TestReplace replaces whole objects, which keep the ids of their parts.
func TestReplace(t *testing.T) {
	s := newService(t)
	mustImport(t, s, edited, service.ImportCreate)
	start := revision(t, s, "default")
	before, segmentBefore := flag(t, s, "default", "checkout"), view(t, s, "default").Snapshot.Segment("staff")

	want := documentFlag(t, s, "checkout")
	want.Key, want.Name = "", "New checkout"
	want.Rules[0].Distributions[0].Rollout = 50
	want.Rules[0].Distributions = append(want.Rules[0].Distributions, &guidon.Distribution{VariantID: "classic", Rollout: 50})
	want.Variants = append([]*guidon.Variant{{Key: "fast"}}, want.Variants...)
	result, at, err := s.ReplaceFlag(t.Context(), ann, "", "checkout", want, &start)
	if err != nil || at != start+1 || result.Revision != at || want.Key != "" {
		t.Fatalf("ReplaceFlag: got %+v, revision %d, %v", result, at, err)
	}
	after := flag(t, s, "default", "checkout")
	if after.Name != "New checkout" || len(after.Variants) != 3 || after.Variants[1].ID != before.Variants[0].ID || after.Variants[2].ID != before.Variants[1].ID {
		t.Errorf("got the variants %+v of %q", after.Variants, after.Name)
	}
	if r, old := after.Rules[0], before.Rules[0]; r.ID != old.ID || len(r.Distributions) != 2 || r.Distributions[0].ID != old.Distributions[0].ID || !r.CreatedAt.Equal(old.CreatedAt) {
		t.Errorf("got the rule %+v, want one with the ids of %+v", r, old)
	}

	segment := &guidon.Segment{Key: "staff", Name: "All staff", MatchType: guidon.MatchAny, Constraints: []*guidon.Constraint{
		{Type: guidon.StringComparison, Property: "group", Operator: "eq", Value: "employee"}}}
	if _, _, err := s.ReplaceSegment(t.Context(), ann, "", "staff", segment, &start); err != nil {
		t.Fatal(err)
	}
	g := view(t, s, "default").Snapshot.Segment("staff")
	if g.Name != "All staff" || g.Constraints[0].Value != "employee" || g.Constraints[0].ID != segmentBefore.Constraints[0].ID {
		t.Errorf("got the segment %+v with %+v", g, g.Constraints[0])
	}

	// Objects that are as requested are not written, even if others have changed. New ones are created.
	same, at, err := s.ReplaceFlag(t.Context(), ann, "", "banner", documentFlag(t, s, "banner"), &start)
	if diff := cmp.Diff(&service.WriteResult{Namespace: "default", Revision: start + 2, Unchanged: 1}, same); diff != "" || err != nil || at != start+2 {
		t.Errorf("unchanged: revision %d, %v (-want +got):\n%s", at, err, diff)
	}
	created, _, err := s.ReplaceFlag(t.Context(), ann, "", "new", &guidon.Flag{Name: "New"}, &start)
	if diff := cmp.Diff(&service.WriteResult{Namespace: "default", Revision: start + 3, Changes: []*service.ObjectChange{{Kind: "flag", Key: "new", Action: "create"}}}, created); diff != "" || err != nil {
		t.Errorf("created: %v (-want +got):\n%s", err, diff)
	}
	wantLog := []string{
		fmt.Sprintf("%d.0 update flag checkout", start+1), fmt.Sprintf("%d.0 update segment staff", start+2), fmt.Sprintf("%d.0 create flag new", start+3),
	}
	if diff := cmp.Diff(wantLog, logged(changes(t, s, "default", start))); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// newEdited returns a service whose default namespace is at revision 9, and has objects
// that changed at different revisions.
func newEdited(t *testing.T) *service.Service {
	t.Helper()
	s := newService(t)
	create := func(key string) error {
		_, _, err := s.CreateFlag(t.Context(), ann, "", guidon.Flag{Key: key, Name: key})
		return err
	}
	remove := func(w service.Write, key string) error {
		_, err := s.DeleteFlag(t.Context(), w, "", key)
		return err
	}
	err := errors.Join(create("kept"), create("changed"), create("deleted"), create("again")) // 2 to 5
	_, _, variantErr := s.CreateVariant(t.Context(), ann, "", service.VariantInput{FlagKey: "changed", Key: "v"})
	err = errors.Join(err, variantErr, remove(service.Write{}, "deleted"), remove(ann, "again"), create("again")) // 6 to 9
	if got := revision(t, s, "default"); err != nil || got != 9 {
		t.Fatalf("got revision %d, %v", got, err)
	}
	return s
}

var timePattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// problem returns the error as text, without times.
func problem(err error) string {
	if err == nil {
		return ""
	}
	return timePattern.ReplaceAllString(err.Error(), "TIME")
}

// TestUnlessChangedSince: what changed after the revision is not replaced, and the error
// says who changed it last. Changes of other objects do not matter.
func TestUnlessChangedSince(t *testing.T) {
	for _, test := range []struct {
		key   string
		since int64
		code  guidon.Code
		want  string // the error, or empty
	}{
		{"kept", 1, guidon.FailedPrecondition, `flag "default/kept" was created in revision 2 by Ann (token:7) at TIME, after revision 1`},
		{"kept", 2, 0, ""},
		{"kept", 9, 0, ""},
		{"changed", 3, guidon.FailedPrecondition, `flag "default/changed" was changed in revision 6 by Ann (token:7) at TIME, after revision 3`},
		{"changed", 5, guidon.FailedPrecondition, `flag "default/changed" was changed in revision 6 by Ann (token:7) at TIME, after revision 5`},
		{"changed", 6, 0, ""},
		{"deleted", 6, guidon.FailedPrecondition, `flag "default/deleted" was deleted in revision 7 by anonymous at TIME, after revision 6`},
		{"deleted", 7, 0, ""},
		{"again", 5, guidon.FailedPrecondition, `flag "default/again" was created in revision 9 by Ann (token:7) at TIME, after revision 5`},
		{"again", 8, guidon.FailedPrecondition, `flag "default/again" was created in revision 9 by Ann (token:7) at TIME, after revision 8`},
		{"again", 9, 0, ""},
		{"never", 0, 0, ""},
		{"never", 10, guidon.FailedPrecondition, `flag "default/never": the namespace is at revision 9, before 10`},
		{"never", -1, guidon.InvalidArgument, "flag: invalid field unlessChangedSince: must not be negative"},
	} {
		t.Run(fmt.Sprintf("%s since %d", test.key, test.since), func(t *testing.T) {
			s := newEdited(t)
			before := exported(t, s, "default")
			_, at, err := s.ReplaceFlag(t.Context(), ann, "", test.key, &guidon.Flag{Name: "Replaced"}, &test.since)
			if problem(err) != test.want || err != nil && !errors.Is(err, test.code) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if test.want == "" {
				if got := flag(t, s, "default", test.key).Name; got != "Replaced" || at != 10 {
					t.Errorf("got the name %q at revision %d", got, at)
				}
				return
			}
			if diff := cmp.Diff(before, exported(t, s, "default")); diff != "" || at != 9 || revision(t, s, "default") != 9 {
				t.Errorf("changed at revision %d (-before +after):\n%s", at, diff)
			}
		})
	}
}

// TestUnlessChangedOneWins: of editors who start from the same revision, one saves.
func TestUnlessChangedOneWins(t *testing.T) {
	s := newEdited(t)
	since := int64(9)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, _, errs[i] = s.ReplaceFlag(t.Context(), ann, "", "kept", &guidon.Flag{Name: fmt.Sprint("Editor ", i)}, &since)
		})
	}
	wg.Wait()
	winners := 0
	for i, err := range errs {
		switch {
		case err == nil:
			winners++
			if got := flag(t, s, "default", "kept").Name; got != fmt.Sprint("Editor ", i) {
				t.Errorf("got the name %q, want that of editor %d", got, i)
			}
		case !errors.Is(err, guidon.FailedPrecondition):
			t.Errorf("editor %d: %v", i, err)
		}
	}
	if got := revision(t, s, "default"); winners != 1 || got != 10 {
		t.Errorf("got %d winners and revision %d, want 1 and 10", winners, got)
	}
}

func TestReplaceErrors(t *testing.T) {
	s := newService(t)
	mustImport(t, s, edited, service.ImportCreate)
	old := int64(1)
	for _, test := range []struct {
		name, namespace, key string
		flag                 guidon.Flag
		w                    service.Write
		code                 guidon.Code
		want                 string
	}{
		{"no key", "", "", guidon.Flag{}, ann, guidon.InvalidArgument, "invalid field key: must not be empty"},
		{"another key", "", "menu", guidon.Flag{Key: "banner"}, ann, guidon.InvalidArgument, `invalid field key: the edited object has the key "banner" instead of "menu"`},
		{"no namespace", "none", "menu", guidon.Flag{Name: "Menu"}, ann, guidon.NotFound, `namespace "none" not found`},
		{"If-Match", "", "menu", guidon.Flag{Name: "Menu"}, service.Write{IfMatch: &old}, guidon.FailedPrecondition, `namespace "default" is at revision 2, not 1`},
		{"message", "", "menu", guidon.Flag{Name: "Menu"}, service.Write{Message: "a\nb"}, guidon.InvalidArgument, "invalid field message: must not contain line breaks or other control characters"},
		{
			"several problems", "", "menu", guidon.Flag{Rules: []*guidon.Rule{
				{SegmentKeys: []string{"none"}, Distributions: []*guidon.Distribution{{VariantID: "v", Rollout: 101}}}}}, ann, guidon.InvalidArgument,
			"flag: invalid field name: must not be empty\nflag: rules[0]: segment \"none\" not found\n" +
				"flag: rules[0]: distributions[0]: invalid field rollout: must be less than or equal to '100'\nflag: rules[0]: distributions[0]: finding variant: v; flag: menu",
		},
	} {
		_, _, err := s.ReplaceFlag(t.Context(), test.w, test.namespace, test.key, &test.flag, nil)
		if problem(err) != test.want || !errors.Is(err, test.code) {
			t.Errorf("%s: got %v, want %v: %s", test.name, err, test.code, test.want)
		}
	}
	_, _, err := s.ReplaceSegment(t.Context(), ann, "", "staff", &guidon.Segment{MatchType: 9}, nil)
	if want := "segment: invalid field name: must not be empty\nsegment: invalid field matchType: is not a known value"; problem(err) != want {
		t.Errorf("segment: got %v, want %s", err, want)
	}
	if got := revision(t, s, "default"); got != 2 {
		t.Errorf("got revision %d, want 2", got)
	}
}

// TestReplaceException: the segments of exceptions are known, and must exist.
func TestReplaceException(t *testing.T) {
	s := newService(t)
	mustImport(t, s, edited, service.ImportCreate)
	except := func(key string) guidon.Conditions {
		return guidon.Conditions{Everyone: true, ExceptSegmentKeys: []string{key}}
	}
	for _, f := range []func(c guidon.Conditions) *guidon.Flag{
		func(c guidon.Conditions) *guidon.Flag {
			return &guidon.Flag{Name: "New", Rules: []*guidon.Rule{{CodeDefault: true, Conditions: c.OrNil()}}}
		},
		func(c guidon.Conditions) *guidon.Flag {
			return &guidon.Flag{Name: "New", Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{
				{Segment: &guidon.RolloutSegment{Value: true}, Conditions: c.OrNil()},
			}}
		},
	} {
		if _, _, err := s.ReplaceFlag(t.Context(), ann, "", "new-"+f(guidon.Conditions{}).Type.String(), f(except("staff")), nil); err != nil {
			t.Errorf("an exception that exists: %v", err)
		}
		if _, _, err := s.ReplaceFlag(t.Context(), ann, "", "other", f(except("nobody")), nil); !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("an exception that does not exist: %v", err)
		}
	}
}
