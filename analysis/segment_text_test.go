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
	} {
		if got := analysis.DescribeConstraint(test.constraint); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
		if diff := cmp.Diff(test.values, analysis.ComparedValues(test.constraint)); diff != "" {
			t.Errorf("%s: values (-want +got):\n%s", test.want, diff)
		}
	}
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
