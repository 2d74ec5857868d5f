package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// bannerFlag returns a boolean flag.
func bannerFlag(key, name, metadata string, enabled bool, changed int, rollouts ...*guidon.Rollout) *guidon.Flag {
	f := flagtest.BooleanFlag(key, enabled, rollouts...)
	return described(f, name, metadata, changed)
}

func described(f *guidon.Flag, name, metadata string, changed int) *guidon.Flag {
	f.Name = name
	if metadata != "" {
		f.Metadata = json.RawMessage(metadata)
	}
	day := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	f.CreatedAt, f.UpdatedAt = day.AddDate(0, 0, -changed), day.AddDate(0, 0, changed)
	return f
}

// listedView returns a state with flags to list. In a bubble, it is the year 2000.
func listedView() service.View {
	staff := func(value bool) *guidon.Rollout {
		return flagtest.SegmentRollout(value, guidon.OrSegments, "staff")
	}
	flags := []*guidon.Flag{
		bannerFlag("banner", "Banner", `{"owner":"team-web","tags":["ui","Sale"],"review":"2001-01-01"}`, false, 3, staff(true)),
		bannerFlag("old-checkout", "Old checkout", `{"owner":"team-pay","tags":"ui, , ui","review":"1999-12-31"}`, true, 5),
		bannerFlag("sale", "Big sale", `{"owner":" Team-Web ","note":"gr\u00fcn"}`, false, 1, flagtest.Threshold(99.9, true)),
		bannerFlag("kill", "Kill switch", `{"owner":7,"tags":[1,"ui"],"review":"soon"}`, true, 9, flagtest.Threshold(50, true), staff(false), flagtest.SegmentRollout(true, guidon.AndSegments, "gone", "staff")),
		described(flagtest.WithDefault(flagtest.VariantFlag("form", flagtest.Rule(flagtest.Shares{50, 50}, "beta", "staff")), "A"), "Form", `{"owner":"team-pay"}`, 7),
		described(flagtest.Disabled(flagtest.WithDefault(flagtest.VariantFlag("zoo", flagtest.Rule(flagtest.Shares{100}, "beta")), "B")), "zoo", "", 2),
	}
	flags[5].Description = "Ärger mit Größen"
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "shop", Name: "Shop"}, guidon.Revision{Number: 1}, flags, []*guidon.Segment{
		flagtest.Segment("staff", guidon.MatchAll, flagtest.Has("staff")),
		flagtest.Segment("beta", guidon.MatchAll, flagtest.Has("beta")),
	})
	return service.View{Snapshot: s, State: service.State{Namespace: "shop", Revision: 1}}
}

func flagKeys(list []service.FlagSummary) string {
	keys := make([]string, len(list))
	for i, f := range list {
		keys[i] = f.Flag.Key
	}
	return strings.Join(keys, " ")
}

// TestFlagSummaries covers filters, terms, orders and pages.
func TestFlagSummaries(t *testing.T) {
	type query = service.FlagQuery
	const all = "banner sale form kill old-checkout zoo"
	bubble.Test(t, func(t *testing.T) {
		v := listedView()
		for _, test := range []struct {
			query query
			want  string
			total int
		}{
			{query{}, all, 6},
			{query{Text: "  \t "}, all, 6},
			{query{Text: "CHECK"}, "old-checkout", 1},
			{query{Text: "a e"}, "banner sale form kill old-checkout", 5},
			{query{Text: "grün"}, "sale", 1},
			{query{Text: "GRÜN"}, "sale", 1},
			{query{Text: "u00fc"}, "", 0},
			{query{Text: "ärger größen"}, "zoo", 1},
			{query{Text: "ÖSS"}, "", 0},
			{query{Text: `"big sale"`}, "sale", 1},
			{query{Text: `"sale big"`}, "", 0},
			{query{Text: `"big sale`}, "sale", 1},
			{query{Text: "owner:team-web"}, "banner sale", 2},
			{query{Text: `OWNER:"TEAM-pay" check`}, "old-checkout", 1},
			{query{Text: "owner:team-web owner:team-pay"}, "banner sale form old-checkout", 4},
			{query{Text: `owner:""`}, "kill zoo", 2},
			{query{Text: "owner:"}, all, 6},
			{query{Text: "tag:UI"}, "banner kill old-checkout", 3},
			{query{Text: "tag:sale tag:ui"}, "banner kill old-checkout", 3},
			{query{Text: "tag:s"}, "", 0},
			{query{Text: "is:on"}, "sale form old-checkout", 3},
			{query{Text: "is:off"}, "zoo", 1},
			{query{Text: "is:partly"}, "banner kill", 2},
			{query{Text: "is:partly is:off"}, "banner kill zoo", 3},
			{query{Text: "is:unused"}, "sale old-checkout zoo", 3},
			{query{Text: "is:overdue"}, "old-checkout", 1},
			{query{Text: "is:snoozed"}, "banner", 1},
			{query{Text: "is:snoozed is:overdue"}, "banner old-checkout", 2},
			{query{Text: "is:on is:unused"}, "sale old-checkout", 2},
			{query{Text: "is:great"}, "", 0},
			{query{Text: "type:variant"}, "form zoo", 2},
			{query{Text: "type:Boolean sale"}, "banner sale", 2},
			{query{Text: "type:text"}, "", 0},
			{query{Text: "segment:staff"}, "banner form kill", 3},
			{query{Text: "segment:gone"}, "kill", 1},
			{query{Text: "key:OLD"}, "old-checkout", 1},
			{query{Text: "key:checkout"}, "", 0},
			{query{Text: "note:x"}, "", 0},
			{query{Text: `note":"g`}, "", 0},
			{query{States: []analysis.FlagState{analysis.OffState}}, "zoo", 1},
			{query{Types: []guidon.FlagType{guidon.BooleanFlag}}, "banner sale kill old-checkout", 4},
			{query{Owners: []string{"Team-pay"}, Tags: []string{"ui"}}, "old-checkout", 1},
			{query{Owners: []string{""}, Types: []guidon.FlagType{guidon.VariantFlag}}, "zoo", 1},
			{query{Segments: []string{"beta", "gone"}, Text: "is:on"}, "form", 1},
			{query{Sort: service.FlagsByName, Descending: true}, "zoo old-checkout kill form sale banner", 6},
			{query{Sort: service.FlagsByKey}, "banner form kill old-checkout sale zoo", 6},
			{query{Sort: service.FlagsByChange}, "sale zoo banner old-checkout form kill", 6},
			{query{Sort: service.FlagsByCreation}, "kill form old-checkout banner zoo sale", 6},
			{query{Window: service.Window{Limit: 2}}, "banner sale", 6},
			{query{Window: service.Window{Limit: 2, Offset: 5}}, "zoo", 6},
			{query{Window: service.Window{Limit: 200, Offset: 6}}, "", 6},
		} {
			got, err := v.FlagSummaries(test.query)
			if err != nil {
				t.Fatal(err)
			}
			if have := flagKeys(got.Flags); have != test.want || got.Total != test.total || got.All != 6 {
				t.Errorf("%+v: got %q, %d of %d, want %q, %d", test.query, have, got.Total, got.All, test.want, test.total)
			}
		}
	})
}

// TestFlagsWithAdditions: needs:guidon/1 selects the flags that Flipt cannot read.
func TestFlagsWithAdditions(t *testing.T) {
	negated := flagtest.Has("beta")
	negated.Negate = true
	version := &guidon.Constraint{Type: guidon.VersionComparison, Property: "app", Operator: guidon.OpGTE, Value: "2.4"}
	on := func(key, segment string) *guidon.Flag {
		return flagtest.BooleanFlag(key, false, flagtest.SegmentRollout(true, guidon.OrSegments, segment))
	}
	v := service.View{Snapshot: guidon.NewSnapshot(&guidon.Namespace{Key: "shop"}, guidon.Revision{Number: 1},
		[]*guidon.Flag{on("a", "plain"), on("b", "negated"), on("c", "version"), on("d", "gone")},
		[]*guidon.Segment{
			flagtest.Segment("plain", guidon.MatchAll, flagtest.Has("x")), flagtest.Segment("negated", guidon.MatchAll, negated),
			flagtest.Segment("version", guidon.MatchAll, version),
		})}
	for text, want := range map[string]string{"needs:guidon/1": "b c", "needs:guidon/2": "", "needs:": "a b c d", "needs:guidon/1 segment:version": "c"} {
		list, err := v.FlagSummaries(service.FlagQuery{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if got := flagKeys(list.Flags); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if err := service.CheckTerms("needs:flipt"); err == nil || err.Error() != `invalid term "needs:flipt": needs: has the values guidon/1` {
		t.Errorf("got %v", err)
	}
}

// TestCutTerms: the rest of a query without terms selects the same as before.
func TestCutTerms(t *testing.T) {
	for text, want := range map[string][]string{
		"is:favorite":                 {"", "is:favorite"},
		" a  IS:Favorite is:mine b":   {"a b", "is:favorite", "is:mine"},
		`is:"mine" owner:"a b" "c d"`: {`owner:"a b" "c d"`, "is:mine"},
		`"is:mine"`:                   {`"is:mine"`},
		`owner:"" is:mine`:            {`owner:""`, "is:mine"},
		`x"is:mine is:mine "y is:z`:   {`x"is:mine "y is:z"`, "is:mine"},
		" is:on  is:favorites ":       {" is:on  is:favorites "},
		`"unfinished`:                 {`"unfinished`},
		"":                            {""},
	} {
		rest, cut := service.CutTerms(text, "is:favorite", "is:mine")
		if diff := cmp.Diff(want, append([]string{rest}, cut...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestFlagFacets: each facet counts without its own filter.
func TestFlagFacets(t *testing.T) {
	v := listedView()
	for _, test := range []struct {
		query service.FlagQuery
		want  string
	}{
		{service.FlagQuery{}, "off 1, on 3, partly 2; variant 2, boolean 4; owners :2 team-pay:2 Team-Web:1 team-web:1; tags ui:3 Sale:1; segments staff:3 beta:2 gone:1"},
		{service.FlagQuery{Text: "is:partly"}, "off 1, on 3, partly 2; variant 0, boolean 2; owners :1 team-web:1; tags ui:2 Sale:1; segments staff:2 gone:1"},
		{service.FlagQuery{Text: "is:partly type:variant"}, "off 1, on 1, partly 0; variant 0, boolean 2; owners; tags; segments"},
		{service.FlagQuery{Tags: []string{"ui"}, Owners: []string{"team-web"}}, "off 0, on 0, partly 1; variant 0, boolean 1; owners :1 team-pay:1 team-web:1; tags Sale:1 ui:1; segments staff:1"},
		{service.FlagQuery{Text: "old"}, "off 0, on 1, partly 0; variant 0, boolean 1; owners team-pay:1; tags ui:1; segments"},
		{service.FlagQuery{Text: "nothing"}, "off 0, on 0, partly 0; variant 0, boolean 0; owners; tags; segments"},
	} {
		list, err := v.FlagSummaries(test.query)
		if err != nil {
			t.Fatal(err)
		}
		f := list.Facets
		got := fmt.Sprintf("off %d, on %d, partly %d; variant %d, boolean %d; owners%s; tags%s; segments%s", f.States[0], f.States[1], f.States[2], f.Types[0], f.Types[1],
			facetText(f.Owners), facetText(f.Tags), facetText(f.Segments))
		if got != test.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", test.query, got, test.want)
		}
	}
}

func facetText(f service.FacetCounts) (text string) {
	for _, c := range f.Counts {
		text += fmt.Sprintf(" %s:%d", c.Value, c.Count)
	}
	if f.More > 0 {
		text += fmt.Sprintf(" and %d", f.More)
	}
	return text
}

// TestMostFrequent: a facet has the 20 most frequent values.
func TestMostFrequent(t *testing.T) {
	var flags []*guidon.Flag
	for i := range 25 {
		for j := range i + 1 {
			flags = append(flags, bannerFlag(fmt.Sprintf("f-%d-%d", i, j), "F", fmt.Sprintf(`{"owner":"o%02d"}`, i), true, 0))
		}
	}
	v := service.View{Snapshot: guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{}, flags, nil)}
	list, err := v.FlagSummaries(service.FlagQuery{})
	if err != nil {
		t.Fatal(err)
	}
	owners := list.Facets.Owners
	if len(owners.Counts) != 20 || owners.More != 5 || owners.Counts[0] != (service.FacetCount{Value: "o24", Count: 25}) || owners.Counts[19] != (service.FacetCount{Value: "o05", Count: 6}) {
		t.Errorf("got %+v", owners)
	}
}

// TestFlagSummary covers what is said of a flag.
func TestFlagSummary(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		list, err := listedView().FlagSummaries(service.FlagQuery{Sort: service.FlagsByKey})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range list.Flags {
			got = append(got, fmt.Sprintf("%s: owner %q tags %q review %q %t, first %v of %d", f.Flag.Key, f.Owner, f.Tags, f.Review, f.ReviewPassed, f.FirstSegment, f.Segments))
		}
		want := []string{
			`banner: owner "team-web" tags ["ui" "Sale"] review "2001-01-01" false, first {staff staff} of 1`,
			`form: owner "team-pay" tags [] review "" false, first {beta beta} of 2`,
			`kill: owner "" tags ["ui"] review "" false, first {staff staff} of 2`,
			`old-checkout: owner "team-pay" tags ["ui"] review "1999-12-31" true, first { } of 0`,
			`sale: owner "Team-Web" tags [] review "" false, first { } of 0`,
			`zoo: owner "" tags [] review "" false, first {beta beta} of 1`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestReviewDates covers which dates have passed at the beginning of the year 2000 in UTC.
func TestReviewDates(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			review  string
			want    string
			overdue bool
		}{
			{"1999-12-31", "1999-12-31", true},
			{"2000-01-01", "2000-01-01", false},
			{"2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z", true},
			{"2000-01-01T00:00:01Z", "2000-01-01T00:00:01Z", false},
			{"2000-01-01T00:30:00+01:00", "2000-01-01T00:30:00+01:00", true},
			{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", true},
			{"2000-13-01", "", false},
			{"1.1.1999", "", false},
			{"1999-01-01T00:00:00." + strings.Repeat("0", 50) + "Z", "", false},
		} {
			f := bannerFlag("f", "F", `{"review":"`+test.review+`"}`, true, 0)
			list, err := service.View{Snapshot: flagtest.SnapshotOf(f)}.FlagSummaries(service.FlagQuery{})
			if err != nil {
				t.Fatal(err)
			}
			if got := list.Flags[0]; got.Review != test.want || got.ReviewPassed != test.overdue {
				t.Errorf("%s: got %q, %t", test.review, got.Review, got.ReviewPassed)
			}
		}
	})
}

func TestSuggestions(t *testing.T) {
	v := listedView()
	for _, test := range []struct{ query, want string }{
		{"bannner", "banner"},
		{"chekout", "old-checkout"},
		{"old chekcout", "old-checkout"},
		{"OLD-CHEKOUT", "old-checkout"},
		{"kil swich", "kill"},
		{"frm", "form"},
		{"xx", ""},
		{"completely different", ""},
		{"banner", ""}, // is found
		{"bannner owner:x", "banner"},
		{strings.Repeat("banner", 10), ""},
	} {
		list, err := v.FlagSummaries(service.FlagQuery{Text: test.query})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range list.Suggestions {
			got = append(got, f.Key)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %v, want %s", test.query, got, test.want)
		}
	}
}

// TestUnusedFlags covers the reasons, their words, and what is left out.
func TestUnusedFlags(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		v := listedView()
		snoozed := bannerFlag("later", "Later", `{"review":"2000-01-02"}`, true, 4)
		v.Snapshot = v.Snapshot.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{snoozed}})
		for _, test := range []struct {
			query service.UnusedQuery
			total int
			want  []string
		}{
			{service.UnusedQuery{}, 3, []string{
				"sale: everybody gets true; rule 1 has 99.9%, which takes everybody who gets there",
				"zoo: everybody gets B, because the flag is not enabled",
				"old-checkout: everybody gets true; the review date 1999-12-31 has passed",
			}},
			{service.UnusedQuery{Reasons: []service.UnusedKind{service.UnusedReviewPassed}}, 1, []string{"old-checkout: everybody gets true; the review date 1999-12-31 has passed"}},
			{service.UnusedQuery{Window: service.Window{Offset: 1, Limit: 1}}, 3, []string{"zoo: everybody gets B, because the flag is not enabled"}},
		} {
			list, err := v.UnusedFlags(t.Context(), test.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range list.Flags {
				text := f.Flag.Key + ": " + f.Reasons[0].Text
				for _, r := range f.Reasons[1:] {
					text += "; " + r.Text
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || list.Total != test.total {
				t.Errorf("%+v: total %d (-want +got):\n%s", test.query, list.Total, diff)
			}
		}
		if list, _ := v.UnusedFlags(t.Context(), service.UnusedQuery{}); list.Snoozed != 1 {
			t.Errorf("got %d snoozed, want 1", list.Snoozed)
		}
		if got, want := v.CatalogCounts(), (service.CatalogCounts{Flags: 7, Segments: 2, Unused: 3}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := v.Overdue(); got != 1 {
			t.Errorf("got %d overdue, want 1", got)
		}
		time.Sleep(48 * time.Hour) // later comes out of its sleep
		if got := v.CatalogCounts().Unused; got != 4 {
			t.Errorf("got %d unused two days later, want 4", got)
		}
	})
}

// TestSegmentSummaries covers words, orders and pages.
func TestSegmentSummaries(t *testing.T) {
	v := listedView()
	for _, test := range []struct {
		query service.SegmentQuery
		want  string
		total int
	}{
		{service.SegmentQuery{}, "beta(2, beta is yes) staff(3, staff is yes)", 2},
		{service.SegmentQuery{Descending: true}, "staff(3, staff is yes) beta(2, beta is yes)", 2},
		{service.SegmentQuery{Sort: service.SegmentsByUse}, "beta(2, beta is yes) staff(3, staff is yes)", 2},
		{service.SegmentQuery{Sort: service.SegmentsByChange}, "beta(2, beta is yes) staff(3, staff is yes)", 2},
		{service.SegmentQuery{Text: "YES sta"}, "staff(3, staff is yes)", 1},
		{service.SegmentQuery{Text: "owner:x"}, "", 0},
		{service.SegmentQuery{Window: service.Window{Offset: 1}}, "staff(3, staff is yes)", 2},
	} {
		list, err := v.SegmentSummaries(test.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range list.Segments {
			got = append(got, fmt.Sprintf("%s(%d, %s)", g.Segment.Key, g.Flags, g.Conditions))
		}
		if strings.Join(got, " ") != test.want || list.Total != test.total || list.All != 2 {
			t.Errorf("%+v: got %v, %d of %d", test.query, got, list.Total, list.All)
		}
	}
}

// TestProperties covers types, values and their limits.
func TestProperties(t *testing.T) {
	long := strings.Repeat("x", 241)
	of := func(kind guidon.ComparisonType, property, operator, value string) *guidon.Constraint {
		return &guidon.Constraint{Type: kind, Property: property, Operator: operator, Value: value}
	}
	var numbers []string
	for i := range 60 {
		numbers = append(numbers, fmt.Sprint(i))
	}
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{}, nil, []*guidon.Segment{
		flagtest.Segment("a", guidon.MatchAll,
			of(guidon.StringComparison, "country", "eq", "DE"), of(guidon.StringComparison, "country", "isoneof", `["AT","DE",""]`),
			of(guidon.NumberComparison, "country", "present", ""), of(guidon.EntityIDComparison, "ignored", "eq", "user-1")),
		flagtest.Segment("b", guidon.MatchAll,
			of(guidon.StringComparison, "city", "neq", long), of(guidon.StringComparison, "city", "prefix", "B"),
			of(guidon.NumberComparison, "Count", "isoneof", "["+strings.Join(numbers, ",")+"]")),
	})
	v := service.View{Snapshot: s}
	for _, test := range []struct {
		query service.PropertyQuery
		total int
		want  []string
	}{
		{service.PropertyQuery{}, 4, []string{
			"country [{STRING_COMPARISON_TYPE 2} {NUMBER_COMPARISON_TYPE 1}] 2 [DE AT] false", "city [{STRING_COMPARISON_TYPE 2}] 0 [] true",
			" [{ENTITY_ID_COMPARISON_TYPE 1}] 1 [user-1] false", "Count [{NUMBER_COMPARISON_TYPE 1}] 50 [0 1] true",
		}},
		{service.PropertyQuery{Prefix: "co"}, 2, []string{"country [{STRING_COMPARISON_TYPE 2} {NUMBER_COMPARISON_TYPE 1}] 2 [DE AT] false", "Count [{NUMBER_COMPARISON_TYPE 1}] 50 [0 1] true"}},
		{service.PropertyQuery{Prefix: "C", Limit: 1}, 3, []string{"country [{STRING_COMPARISON_TYPE 2} {NUMBER_COMPARISON_TYPE 1}] 2 [DE AT] false"}},
		{service.PropertyQuery{Prefix: "x"}, 0, nil},
	} {
		list, total, err := v.Properties(test.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			got = append(got, fmt.Sprintf("%s %v %d %v %t", p.Name, p.Types, len(p.Values), p.Values[:min(2, len(p.Values))], p.More))
		}
		if diff := cmp.Diff(test.want, got); diff != "" || total != test.total {
			t.Errorf("%+v: total %d (-want +got):\n%s", test.query, total, diff)
		}
	}
}

// TestCatalogErrors: what is refused names the field, and the rule.
func TestCatalogErrors(t *testing.T) {
	v := listedView()
	flags := func(q service.FlagQuery) error { _, err := v.FlagSummaries(q); return err }
	segments := func(q service.SegmentQuery) error { _, err := v.SegmentSummaries(q); return err }
	unused := func(q service.UnusedQuery) error { _, err := v.UnusedFlags(t.Context(), q); return err }
	for _, test := range []struct {
		err  error
		want string
	}{
		{flags(service.FlagQuery{States: []analysis.FlagState{3}}), "invalid field states: must be known states"},
		{flags(service.FlagQuery{Types: []guidon.FlagType{2}}), "invalid field types: must be known types"},
		{flags(service.FlagQuery{Owners: make([]string, 101)}), "invalid field owners: must not have more than 100 values"},
		{flags(service.FlagQuery{Segments: make([]string, 101)}), "invalid field segments: must not have more than 100 values"},
		{flags(service.FlagQuery{Keys: make([]string, 1001)}), "invalid field keys: must not have more than 1000 values"},
		{flags(service.FlagQuery{Sort: 4}), "invalid field sort: must be a known order"},
		{flags(service.FlagQuery{Text: "\xff"}), "invalid field query: must be valid UTF-8"},
		{segments(service.SegmentQuery{Sort: 4}), "invalid field sort: must be a known order"},
		{segments(service.SegmentQuery{Window: service.Window{Offset: -1}}), "invalid field offset: must be greater than or equal to '0'"},
		{unused(service.UnusedQuery{Reasons: []service.UnusedKind{6}}), "invalid field reasons: must be known reasons"},
		{unused(service.UnusedQuery{Reasons: make([]service.UnusedKind, 101)}), "invalid field reasons: must not have more than 100 values"},
	} {
		flagtest.CheckError(t, test.err, guidon.InvalidArgument, test.want)
	}
}

// TestCatalogOfChanges: after a change, lists show the new state, and share what has not
// changed.
func TestCatalogOfChanges(t *testing.T) {
	v := listedView()
	keys := func(text string) string {
		t.Helper()
		list, err := v.FlagSummaries(service.FlagQuery{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return flagKeys(list.Flags)
	}
	if got := keys("is:on"); got != "sale form old-checkout" {
		t.Errorf("got %s", got)
	}
	everyone := flagtest.Segment("staff", guidon.MatchAll) // without constraints
	v.Snapshot = v.Snapshot.Apply(guidon.SnapshotDelta{Segments: []*guidon.Segment{everyone}, DeletedFlags: []string{"sale"}})
	if got := keys("is:on"); got != "banner form old-checkout" {
		t.Errorf("after a change of the segment: got %s", got)
	}
}
