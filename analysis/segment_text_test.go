package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

func TestDescribeConstraint(t *testing.T) {
	const text, number, boolean, date, entity = guidon.StringComparison, guidon.NumberComparison, guidon.BooleanComparison, guidon.DateTimeComparison, guidon.EntityIDComparison
	for _, test := range []struct {
		constraint *guidon.Constraint
		want       string
		values     []string
	}{
		{constraint(text, "country", "eq", "DE"), "country is DE", []string{"DE"}},
		{constraint(text, "country", "neq", ""), `country is not ""`, []string{""}},
		{constraint(text, "country", "isoneof", `["AT","DE"]`), "country is one of AT, DE", []string{"AT", "DE"}},
		{constraint(text, "country", "isnotoneof", `[]`), "country is not one of nothing", []string{}},
		{constraint(text, "city", "isoneof", `["Sofia, BG"]`), `city is one of "Sofia, BG"`, []string{"Sofia, BG"}},
		{constraint(text, "country", "isoneof", `x`), "country is one of x", nil},
		{constraint(text, "mail", "suffix", "@shop.example"), "mail ends with @shop.example", nil},
		{constraint(text, "mail", "prefix", " a"), `mail begins with " a"`, nil},
		{constraint(text, "mail", "contains", "a\tb"), `mail contains "a\tb"`, nil},
		{constraint(text, "mail", "notcontains", "a b"), "mail does not contain a b", nil},
		{constraint(text, "mail", "empty", "x"), "mail is empty", nil},
		{constraint(text, "mail", "notempty", ""), "mail is not empty", nil},
		{constraint(text, "my, own", "eq", strings.Repeat("x", 100)), `"my, own" is ` + strings.Repeat("x", 57) + "…", []string{strings.Repeat("x", 100)}},
		{constraint(text, "", "eq", "x"), `"" is x`, []string{"x"}},
		{constraint(text, "p", "isoneof", `["`+strings.Repeat(`aaaaaaaaaa","`, 20)+`b"]`), "p is one of " + strings.Repeat("aaaaaaaaaa, ", 6) + "…", append(strings.Split(strings.Repeat("aaaaaaaaaa ", 20), " ")[:20], "b")},
		{constraint(number, "age", "lt", "18"), "age is less than 18", nil},
		{constraint(number, "age", "lte", "18"), "age is at most 18", nil},
		{constraint(number, "age", "gt", "18"), "age is greater than 18", nil},
		{constraint(number, "age", "gte", "18"), "age is at least 18", nil},
		{constraint(number, "age", "eq", "18"), "age is 18", []string{"18"}},
		{constraint(number, "age", "isoneof", "[1,2.50]"), "age is one of 1, 2.5", []string{"1", "2.5"}},
		{constraint(number, "age", "present", ""), "age is set", nil},
		{constraint(boolean, "vip", "true", ""), "vip is true", nil},
		{constraint(boolean, "vip", "false", ""), "vip is false", nil},
		{constraint(boolean, "vip", "notpresent", ""), "vip is not set", nil},
		{constraint(date, "since", "lt", "2026-01-01"), "since is before 2026-01-01", nil},
		{constraint(date, "since", "lte", "2026-01-01"), "since is at or before 2026-01-01", nil},
		{constraint(date, "since", "gt", "2026-01-01"), "since is after 2026-01-01", nil},
		{constraint(date, "since", "gte", "2026-01-01"), "since is at or after 2026-01-01", nil},
		{constraint(entity, "whatever", "eq", "user-1"), "entity is user-1", []string{"user-1"}},
		{constraint(text, "p", "like", "v"), "p like v", nil},
		{constraint(guidon.VersionComparison, "app", "gte", "2.4"), "app is at least 2.4", nil},
		{constraint(guidon.VersionComparison, "app", "eq", "2.4"), "app is 2.4", []string{"2.4"}},
		{constraint(guidon.PatternComparison, "mail", "eq", `(?i)@example\.com$`), `mail matches (?i)@example\.com$`, nil},
		{constraint(guidon.ListComparison, "roles", "anyof", `["admin",1,true]`), "roles has any of admin, 1, true", []string{"admin", "1", "true"}},
		{constraint(guidon.ListComparison, "roles", "allof", `["admin","owner"]`), "roles has all of admin, owner", []string{"admin", "owner"}},
		{constraint(guidon.AddressComparison, "ip", "isoneof", `["192.0.2.0/24","::1"]`), "ip is in one of 192.0.2.0/24, ::1", []string{"::1"}},
		{negated(constraint(text, "country", "eq", "SE")), "not (country is SE)", []string{"SE"}},
		{negated(constraint(boolean, "vip", "true", "")), "not (vip is true)", nil},
	} {
		if got := analysis.DescribeConstraint(test.constraint); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
		if diff := cmp.Diff(test.values, analysis.ComparedValues(test.constraint)); diff != "" {
			t.Errorf("%s: values (-want +got):\n%s", test.want, diff)
		}
	}
}

// TestDemandWords: what must be otherwise is said of the comparison, negated or not.
func TestDemandWords(t *testing.T) {
	country := constraint(guidon.StringComparison, "country", "isoneof", `["AT","DE"]`)
	for _, test := range []struct {
		constraint *guidon.Constraint
		holds      bool
		want       string
	}{
		{country, true, "were one of AT, DE"},
		{country, false, "were none of AT, DE"},
		{negated(country), true, "were none of AT, DE"},
		{negated(country), false, "were one of AT, DE"},
		{constraint(guidon.PatternComparison, "mail", "eq", "^a"), true, "matched the pattern ^a"},
		{constraint(guidon.PatternComparison, "mail", "eq", "^a"), false, "did not match the pattern ^a"},
		{constraint(guidon.AddressComparison, "ip", "isoneof", `["::1"]`), false, "were in none of ::1"},
		{constraint(guidon.ListComparison, "roles", "anyof", `["a","b"]`), true, "had any of a, b"},
		{constraint(guidon.DateTimeComparison, "since", "lt", "2026-01-01"), false, "were not before 2026-01-01"},
		{constraint(guidon.BooleanComparison, "vip", "true", ""), true, "were true"},
	} {
		if got := analysis.DemandWords(test.constraint, test.holds); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func negated(c *guidon.Constraint) *guidon.Constraint {
	other := *c
	other.Negate = true
	return &other
}

func TestDescribeSegment(t *testing.T) {
	is := func(values ...string) (list []*guidon.Constraint) {
		for i, value := range values {
			list = append(list, constraint(guidon.StringComparison, fmt.Sprint("p", i), "eq", value))
		}
		return list
	}
	for _, test := range []struct {
		segment *guidon.Segment
		limit   int
		want    string
	}{
		{flagtest.Everyone(), 240, "everyone"},
		{flagtest.Segment("g", guidon.MatchAny, is("a")...), 240, "p0 is a"},
		{flagtest.Segment("g", guidon.MatchAll, is("a", "b")...), 240, "all of 2: p0 is a, p1 is b"},
		{flagtest.Segment("g", guidon.MatchAny, is("a", "b", "c")...), 240, "any of 3: p0 is a, p1 is b, p2 is c"},
		{flagtest.Segment("g", guidon.MatchAny, is("a", "b", "c")...), 35, "any of 3: p0 is a, p1 is b, p2 is c"},
		{flagtest.Segment("g", guidon.MatchAny, is("a", "b", "c")...), 34, "any of 3: p0 is a, p1 is b, …"},
		{flagtest.Segment("g", guidon.MatchAny, is("a", "b", "c")...), 23, "any of 3: p0 is a, …"},
		{flagtest.Segment("g", guidon.MatchAny, is("aaaaaaaaaaaaaaa", "b")...), 24, "any of 2: p0 is …, …"},
		{flagtest.Segment("g", guidon.MatchAll, is("aaaaaaaaaaaaaaa")...), 12, "p0 is aaa…"},
	} {
		if got := analysis.DescribeSegment(test.segment, test.limit); got != test.want || len(got) > test.limit {
			t.Errorf("limit %d: got %d bytes %q, want %q", test.limit, len(got), got, test.want)
		}
	}
}
