package guidon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// missing represents a context without the property.
const missing = "\x00missing"

// TestConstraint covers the rules and samples of contract 7.2.
func TestConstraint(t *testing.T) {
	const (
		text   = guidon.StringComparison
		number = guidon.NumberComparison
		truth  = guidon.BooleanComparison
		date   = guidon.DateTimeComparison
		id     = guidon.EntityIDComparison

		version = guidon.VersionComparison
		pattern = guidon.PatternComparison
		list    = guidon.ListComparison
		address = guidon.AddressComparison
	)
	tests := []struct {
		comparison      guidon.ComparisonType
		operator, value string
		v               string
		want            bool
	}{
		// Left column of the sample table.
		{text, "eq", "bar", "bar", true},
		{text, "eq", "bar", "Bar", false},
		{text, "eq", "bar", " bar", false},
		{text, "neq", "bar", missing, false},
		{text, "neq", "bar", "baz", true},
		{text, "empty", "", missing, true},
		{text, "empty", "", "   ", true},
		{text, "notempty", "", "   ", false},
		{text, "prefix", "ab", "  abc", true},
		{text, "prefix", " ab", " abc", false},
		{text, "suffix", "yz", "xyz ", true},
		{text, "contains", "b c", "ab cd", true},
		{text, "notcontains", "x", missing, false},
		{text, "isoneof", `["a","b"]`, "b", true},
		{text, "isnotoneof", `["a"]`, missing, false},
		{text, "isnotoneof", `not json`, "z", false},
		{id, "eq", "u1", "u1", true},
		{id, "neq", "u1", "", false},
		// Right column.
		{number, "eq", "5", "5.0", true},
		{number, "eq", "5", " 5", false},
		{number, "neq", "5", "abc", false},
		{number, "neq", "5", missing, false},
		{number, "lt", "10", "9.99", true},
		{number, "gte", "10", "1e1", true},
		{number, "gt", "5", "Inf", true},
		{number, "neq", "5", "NaN", true},
		{number, "present", "", "abc", true},
		{number, "notpresent", "", "  ", true},
		{number, "isoneof", "[1, 2.5]", "2.50", true},
		{number, "isnotoneof", "[1]", "x", false},
		{truth, "true", "", "T", true},
		{truth, "true", "", "yes", false},
		{truth, "false", "", "0", true},
		{truth, "false", "", missing, false},
		{date, "eq", "2024-01-01", "2024-01-01T01:00:00+01:00", true},
		{date, "lt", "2024-01-01T00:00:00Z", "2023-12-31", true},

		// Only these operators trim, and they trim Unicode white space.
		{text, "empty", "", "\u2003\u00a0", true},
		{text, "notempty", "", "\u2003x", true},
		{text, "notempty", "", missing, false},
		{text, "prefix", "ab", "\u3000abc", true},
		{text, "suffix", "yz ", "xyz ", false},
		{text, "eq", "bar", "bar ", false},
		{text, "contains", "ab ", "ab ", true},
		// Values are compared as bytes, without normalization (contract 7.1).
		{text, "eq", "\u00e9", "e\u0301", false},
		{text, "contains", "b", "ABC", false},
		{text, "contains", "zz", "abc", false},
		{text, "notcontains", "zz", "abc", true},
		{text, "notcontains", "b", "abc", false},
		{text, "prefix", "b", "abc", false},
		{text, "suffix", "b", "abc", false},
		// A missing value matches none of the other operators.
		{text, "eq", "", missing, false},
		{text, "prefix", "", missing, false},
		{text, "contains", "", missing, false},
		{text, "isoneof", `[""]`, missing, false},
		// Lists.
		{text, "isoneof", `["a","b"]`, "c", false},
		{text, "isnotoneof", `["a","b"]`, "c", true},
		{text, "isnotoneof", `["a","b"]`, "a", false},
		{text, "isoneof", `["a"]`, " a", false},
		{text, "isoneof", `[]`, "a", false},
		{text, "isnotoneof", `[]`, "a", true},
		{text, "isoneof", `[1]`, "1", false}, // not a list of strings
		{text, "isnotoneof", `[1]`, "2", false},
		{text, "isnotoneof", `null`, "a", true}, // as []
		{number, "isoneof", `[1,null]`, "0", true},
		// Operators of other types.
		{text, "lt", "b", "a", false},
		{text, "present", "", "a", false},
		{text, "true", "", "true", false},
		{text, "", "a", "a", false},

		{id, "eq", "u1", "u2", false},
		{id, "neq", "u1", "u2", true},
		{id, "contains", "@example.com", "alice@example.com", true},
		{id, "notcontains", "@example.com", "alice@example.org", true},
		{id, "isoneof", `["u1","u2"]`, "u2", true},
		{id, "isnotoneof", `["u1","u2"]`, "u2", false},
		{id, "isnotoneof", `["u1","u2"]`, "u3", true},

		// Spellings of numbers.
		{number, "eq", "5", "+5", true},
		{number, "eq", "16", "0x1p4", true},
		{number, "eq", "16", "0x_10p0", true},
		{number, "eq", "10", "1_0", true},
		{number, "eq", "10", "1__0", false},
		{number, "eq", "5", "5 ", false},
		{number, "gt", "5", "1e999", false}, // out of range
		{number, "neq", "5", "1e999", false},
		{number, "lt", "0", "-inf", true},
		{number, "eq", "NaN", "NaN", false},
		{number, "neq", "NaN", "NaN", true},
		{number, "lt", "5", "NaN", false},
		{number, "gte", "5", "NaN", false},
		{number, "eq", "0", "-0", true},
		{number, "eq", "five", "5", false}, // the constraint does not parse
		{number, "neq", "five", "5", false},
		{number, "eq", "", "0", false},
		{number, "eq", " 5", "5", false},
		{number, "neq", "5", "6", true},
		{number, "neq", "5", "5", false},
		{number, "lt", "5", "5", false},
		{number, "lte", "5", "5", true},
		{number, "lte", "5", "5.1", false},
		{number, "gt", "5", "5", false},
		{number, "gt", "5", "5.1", true},
		{number, "gte", "5", "5", true},
		{number, "gte", "5", "4.9", false},
		{number, "present", "", missing, false},
		{number, "present", "", "  ", false},
		{number, "notpresent", "", missing, true},
		{number, "notpresent", "", "0", false},
		{number, "isoneof", "[1, 2.5]", "3", false},
		{number, "isnotoneof", "[1, 2.5]", "3", true},
		{number, "isnotoneof", "[1, 2.5]", "1.0", false},
		{number, "isnotoneof", "[1]", "NaN", true},
		{number, "isnotoneof", "[1]", missing, false},
		{number, "isoneof", `["1"]`, "1", false}, // not a list of numbers
		{number, "isnotoneof", `["1"]`, "2", false},
		{number, "isnotoneof", "1", "2", false},
		{number, "prefix", "1", "12", false},
		{number, "true", "", "1", false},

		{truth, "true", "", "1", true},
		{truth, "true", "", "t", true},
		{truth, "true", "", "TRUE", true},
		{truth, "true", "", "true", true},
		{truth, "true", "", "True", true},
		{truth, "true", "", "tRUE", false},
		{truth, "true", "", " true", false},
		{truth, "true", "", "0", false},
		{truth, "true", "", missing, false},
		{truth, "false", "", "f", true},
		{truth, "false", "", "F", true},
		{truth, "false", "", "FALSE", true},
		{truth, "false", "", "false", true},
		{truth, "false", "", "False", true},
		{truth, "false", "", "no", false},
		{truth, "false", "", "1", false},
		{truth, "present", "", "whatever", true},
		{truth, "present", "", missing, false},
		{truth, "notpresent", "", " \t", true},
		{truth, "notpresent", "", "true", false},
		{truth, "eq", "true", "true", false},

		{date, "eq", "2024-01-01T00:00:00Z", "2024-01-01", true},
		{date, "eq", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00.000000001Z", false},
		{date, "neq", "2024-01-01", "2024-01-02", true},
		{date, "neq", "2024-01-01", "2024-01-01T00:00:00Z", false},
		{date, "neq", "2024-01-01", "soon", false},
		{date, "neq", "2024-01-01", missing, false},
		{date, "neq", "soon", "2024-01-01", false},
		{date, "lt", "2024-01-01", "2024-01-01", false},
		{date, "lte", "2024-01-01", "2024-01-01", true},
		{date, "lte", "2024-01-01", "2024-01-01T00:00:01Z", false},
		{date, "gt", "2024-01-01", "2024-01-01", false},
		{date, "gt", "2024-01-01", "2024-01-01T00:00:00.5Z", true},
		{date, "gte", "2024-01-01", "2023-12-31T23:00:00-01:00", true},
		{date, "gte", "2024-01-01", "2023-12-31T23:59:59Z", false},
		{date, "gt", "2024-01-01", "2024-01-02t00:00:00z", false}, // T and Z are upper case
		{date, "gt", "2024-01-01", " 2024-01-02", false},
		{date, "gt", "2024-01-01", "2024-02-30", false}, // no such day
		{date, "gt", "2024-01-01", "1735689600", false},
		{date, "isoneof", `["2024-01-01"]`, "2024-01-01", false},
		{date, "isoneof", "2024-01-01", "2024-01-01", false},
		{date, "isnotoneof", "2024-01-01", "2025-01-01", false},
		{date, "present", "", "soon", true},
		{date, "present", "", missing, false},
		{date, "notpresent", "", " ", true},
		{date, "notpresent", "", "2024-01-01", false},
		{date, "contains", "2024", "2024-01-01", false},

		{version, "eq", "2.4", "v2.4.0+build.7", true},
		{version, "eq", "2.4", "2.4.0-rc.1", false},
		{version, "eq", "2.4", "soon", false},
		{version, "neq", "2.4", "2.4.1", true},
		{version, "neq", "2.4", "soon", false},
		{version, "neq", "2.4", missing, false},
		{version, "lt", "2.10", "2.9.9", true},
		{version, "lt", "2.10", "2.10.0-beta", true},
		{version, "lte", "2.10", "2.10", true},
		{version, "gt", "2.10.0-alpha", "2.10.0-alpha.1", true},
		{version, "gte", "2.10", "2.9", false},
		{version, "gte", "2.10", "2.10.0.1", false},
		{version, "gte", "not a version", "2", false},
		{version, "present", "", "soon", true},
		{version, "notpresent", "", missing, true},

		{pattern, "eq", `@example\.com$`, "a@example.com", true},
		{pattern, "eq", `@example\.com$`, "a@EXAMPLE.com", false},
		{pattern, "eq", `(?i)@example\.com$`, "a@EXAMPLE.com", true},
		{pattern, "eq", `^$`, missing, false},
		{pattern, "eq", `(`, "(", false},
		{pattern, "eq", `.`, strings.Repeat("x", guidon.MaxPatternProperty), true},
		{pattern, "eq", `.`, strings.Repeat("x", guidon.MaxPatternProperty+1), false},

		{list, "anyof", `["admin","owner"]`, `["user", "owner"]`, true},
		{list, "anyof", `["admin","owner"]`, `["user"]`, false},
		{list, "anyof", `["admin","owner"]`, "owner", true},
		{list, "anyof", `["admin","owner"]`, `["owner"`, false},
		{list, "anyof", `["[\"owner\""]`, `["owner"`, true}, // no array, so a list of itself
		{list, "anyof", `[2.50, true]`, `["2.50"]`, true},
		{list, "anyof", `[2.50, true]`, `[2.5]`, false},
		{list, "anyof", `["true"]`, `[true]`, true},
		{list, "anyof", `["a"]`, `[["a"], {"a":"a"}, null]`, false},
		{list, "anyof", `["a"]`, `[]`, false},
		{list, "anyof", `[]`, `["a"]`, false},
		{list, "anyof", `[null]`, `["a"]`, false},
		{list, "anyof", `null`, "null", false},
		{list, "allof", `["a","b","a"]`, ` ["c","b","a"]`, true},
		{list, "allof", `["a","b"]`, `["a","a"]`, false},
		{list, "allof", `["a"]`, "a", true},
		{list, "allof", `[]`, "[]", true},
		{list, "allof", `[]`, missing, false},
		{list, "present", "", "[]", true},
		{list, "notpresent", "", missing, true},

		{address, "isoneof", `["192.0.2.0/24","2001:db8::/32"]`, "192.0.2.7", true},
		{address, "isoneof", `["192.0.2.0/24","2001:db8::/32"]`, "::ffff:192.0.2.7", true},
		{address, "isoneof", `["192.0.2.0/24","2001:db8::/32"]`, "::FFFF:C000:0207", true},
		{address, "isoneof", `["192.0.2.0/24","2001:db8::/32"]`, "192.0.3.7", false},
		{address, "isoneof", `["192.0.2.0/24","2001:db8::/32"]`, "2001:DB8:0::1", true},
		{address, "isoneof", `["192.0.2.0/24","2001:db8::/32"]`, "2001:db8::1%eth0", false},
		{address, "isoneof", `["::ffff:192.0.2.0/120"]`, "192.0.2.255", true},
		{address, "isoneof", `["192.0.2.9/24"]`, "192.0.2.1", true},
		{address, "isoneof", `["::/0"]`, "192.0.2.1", false},
		{address, "isoneof", `["192.0.2.1"]`, "192.0.2.1", true},
		{address, "isoneof", `["192.0.2.1"]`, "192.0.2.01", false},
		{address, "isoneof", `["fe80::1%eth0"]`, "fe80::1", false},
		{address, "isoneof", `["192.0.2.1"]`, missing, false},
	}
	covered := map[string]bool{}
	for _, tt := range tests {
		covered[fmt.Sprint(tt.comparison, tt.operator)] = true
		name := strings.ReplaceAll(fmt.Sprintf("%s %s %q of %q", tt.comparison, tt.operator, tt.value, tt.v), "/", "|")
		t.Run(name, func(t *testing.T) {
			context, entityID := map[string]string{"p": tt.v}, "someone"
			switch {
			case tt.comparison == id:
				context, entityID = map[string]string{"entityId": "of the context, ignored"}, tt.v
			case tt.v == missing:
				context = nil
			}
			property := "p"
			if tt.comparison == id {
				property = "entityId"
			}
			for _, negate := range []bool{false, true} {
				s := flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, flagtest.SegmentRollout(true, guidon.OrSegments, "s")),
					flagtest.Segment("s", guidon.MatchAll, &guidon.Constraint{
						Type: tt.comparison, Property: property, Operator: tt.operator, Value: tt.value, Negate: negate,
					}))
				got, err := s.Boolean("f", entityID, context)
				if err != nil {
					t.Fatal(err)
				}
				if got.Enabled == negate == tt.want {
					t.Errorf("negated %t: got %t", negate, got.Enabled)
				}
			}
		})
	}
	for _, o := range guidon.Operators() {
		for _, comparison := range o.Types {
			if !covered[fmt.Sprint(comparison, o.Name)] {
				t.Errorf("operator %s of %s has no case", o.Name, comparison)
			}
		}
	}
}

// TestMissingIsEmpty: a missing property is the same as one with an empty value
// (contract 7.2).
func TestMissingIsEmpty(t *testing.T) {
	for _, comparison := range guidon.ComparisonTypes() {
		if comparison == guidon.EntityIDComparison {
			continue
		}
		for _, operator := range flagtest.Operators() {
			s := flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, flagtest.SegmentRollout(true, guidon.OrSegments, "s")),
				flagtest.Segment("s", guidon.MatchAll, &guidon.Constraint{Type: comparison, Property: "p", Operator: operator, Value: "[]"}))
			var got [3]bool
			for i, context := range []map[string]string{nil, {"q": "x"}, {"p": ""}} {
				result, err := s.Boolean("f", "someone", context)
				if err != nil {
					t.Fatal(err)
				}
				got[i] = result.Enabled
			}
			if got[0] != got[2] || got[1] != got[2] {
				t.Errorf("%s %s: missing gives %t and %t, empty gives %t", comparison, operator, got[0], got[1], got[2])
			}
		}
	}
}
