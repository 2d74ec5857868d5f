package service

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
)

// wantError checks that err is InvalidArgument with exactly the text. An empty text
// means no error.
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	switch {
	case err == nil && text == "":
	case err == nil:
		t.Errorf("got no error, want %q", text)
	case text == "":
		t.Errorf("got error %q, want none", err)
	case guidon.CodeOf(err) != guidon.InvalidArgument || err.Error() != text:
		t.Errorf("got %v error\n%q, want\n%q", guidon.CodeOf(err), err, text)
	}
}

// TestConstraintMatrix covers the table of contract 4.3: every operator with every
// type. Invalid pairs are checked for their message, valid ones with and without a
// value.
func TestConstraintMatrix(t *testing.T) {
	types := []struct {
		comparison guidon.ComparisonType
		name       string // in messages
		value      string
		list       string
	}{
		{guidon.StringComparison, "string", "text", `["a","b"]`},
		{guidon.NumberComparison, "number", "5", `[1, 2.5]`},
		{guidon.BooleanComparison, "boolean", "true", `[]`},
		// A single instant: a JSON array is rejected before any other check.
		{guidon.DateTimeComparison, "datetime", "2024-01-01", "2024-01-01"},
		{guidon.EntityIDComparison, "entityId", "user", `["a"]`},
		{guidon.VersionComparison, "version", "2.4", ""},
		{guidon.PatternComparison, "pattern", "^a", ""},
		{guidon.ListComparison, "list", "", `["a", 1, true]`},
		{guidon.AddressComparison, "address", "", `["192.0.2.0/24"]`},
	}
	const s, n, b, d, e = "string", "number", "boolean", "datetime", "entityId"
	const version, pattern, list, address = "version", "pattern", "list", "address"
	operators := []struct {
		operator string
		value    bool
		types    []string
	}{
		{"eq", true, []string{s, n, d, e, version, pattern}},
		{"neq", true, []string{s, n, d, e, version}},
		{"lt", true, []string{n, d, version}},
		{"lte", true, []string{n, d, version}},
		{"gt", true, []string{n, d, version}},
		{"gte", true, []string{n, d, version}},
		{"empty", false, []string{s}},
		{"notempty", false, []string{s}},
		{"prefix", true, []string{s}},
		{"suffix", true, []string{s}},
		{"contains", true, []string{s, e}},
		{"notcontains", true, []string{s, e}},
		{"isoneof", true, []string{s, n, d, e, address}},
		{"isnotoneof", true, []string{s, n, d, e}},
		{"present", false, []string{n, b, d, version, list}},
		{"notpresent", false, []string{n, b, d, version, list}},
		{"true", false, []string{b}},
		{"false", false, []string{b}},
		{"anyof", true, []string{list}},
		{"allof", true, []string{list}},
		{"like", true, nil}, // not an operator
	}
	for _, op := range operators {
		for _, ty := range types {
			for _, spelling := range []string{op.operator, strings.ToUpper(op.operator)} {
				t.Run(ty.name+" "+spelling, func(t *testing.T) {
					in := ConstraintInput{
						SegmentKey: "segment", Type: ty.comparison, Property: "entityId",
						Operator: spelling, Value: ty.value, Description: "why",
					}
					if strings.HasSuffix(op.operator, "of") {
						in.Value = ty.list
					}
					got, err := in.check()
					if !slices.Contains(op.types, ty.name) {
						var valid []string
						for _, o := range operators {
							if slices.Contains(o.types, ty.name) {
								valid = append(valid, o.operator)
							}
						}
						var listed []string
						for _, o := range ty.comparison.Operators() {
							listed = append(listed, o.Name)
						}
						wantError(t, err, fmt.Sprintf("constraint operator %q is not valid for type %s; it must be one of %s", spelling, ty.name, strings.Join(listed, ", ")))
						if slices.Sort(valid); !slices.Equal(valid, slices.Sorted(slices.Values(listed))) {
							t.Errorf("got the operators %q, want %q", listed, valid)
						}
						return
					}
					wantError(t, err, "")
					want := guidon.Constraint{Type: ty.comparison, Property: "entityId", Operator: op.operator, Description: "why"}
					if op.value {
						want.Value = in.Value
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("stored form (-want +got):\n%s", diff)
					}
					in.Value = ""
					_, err = in.check()
					if op.value {
						wantError(t, err, "invalid field value: must not be empty")
					} else {
						wantError(t, err, "")
					}
				})
			}
		}
	}
}

// TestConstraintChecks covers the other rules of contract 4.1 and 4.3.
func TestConstraintChecks(t *testing.T) {
	long := strings.Repeat("é", 256)
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	tests := []struct {
		name  string
		in    ConstraintInput
		value string // as stored
		want  string // the error
	}{
		// In the order of 4.1.
		{"nothing", ConstraintInput{}, "", "invalid field segmentKey: must not be empty"},
		{"no property", ConstraintInput{SegmentKey: "s"}, "", "invalid field property: must not be empty"},
		{"no operator", ConstraintInput{SegmentKey: "s", Property: "p"}, "", "invalid field operator: must not be empty"},
		{"no type", ConstraintInput{SegmentKey: "s", Property: "p", Operator: "eq"}, "", `invalid constraint type: "UNKNOWN_COMPARISON_TYPE"`},
		{"unknown type", ConstraintInput{SegmentKey: "s", Property: "p", Operator: "eq", Type: 6}, "", `invalid constraint type: "6"`},
		{"long property", ConstraintInput{SegmentKey: "s", Property: long, Operator: "eq"}, "", "invalid field property: must not be longer than 255 characters"},

		{"entity of another property", ConstraintInput{Type: guidon.EntityIDComparison, Operator: "lt", Property: "id"}, "", `property is id instead of "entityId"`},
		{"operator in any case", ConstraintInput{Type: guidon.StringComparison, Operator: "NotContains", Value: " x "}, " x ", ""},
		{"superfluous value", ConstraintInput{Type: guidon.BooleanComparison, Operator: "true", Value: "whatever"}, "", ""},
		{"superfluous value of empty", ConstraintInput{Type: guidon.StringComparison, Operator: "empty", Value: "whatever"}, "", ""},
		{"number unchecked", ConstraintInput{Type: guidon.NumberComparison, Operator: "eq", Value: "five"}, "five", ""},

		{"instant", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "eq", Value: "2024-06-01T12:00:00Z"}, "2024-06-01T12:00:00Z", ""},
		{"instant to UTC", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "eq", Value: "2024-06-01T00:30:00+02:00"}, "2024-05-31T22:30:00Z", ""},
		{"instant to seconds", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "eq", Value: "2024-06-01T12:00:00.999Z"}, "2024-06-01T12:00:00Z", ""},
		{"date", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "eq", Value: "2024-02-29"}, "2024-02-29", ""},
		{"no such date", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "eq", Value: "2023-02-29"}, "", `parsing datetime from "2023-02-29"; it must be like 2026-01-31T15:04:05Z or 2026-01-31`},
		{"no date", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "eq", Value: "soon"}, "", `parsing datetime from "soon"; it must be like 2026-01-31T15:04:05Z or 2026-01-31`},
		{"no date, not needed", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "present", Value: "soon"}, "", `parsing datetime from "soon"; it must be like 2026-01-31T15:04:05Z or 2026-01-31`},
		{"date, not needed", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "present", Value: "2024-01-01"}, "", ""},
		{"list of dates", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "isoneof", Value: `["2024-01-01"]`}, "", `parsing datetime from "[\"2024-01-01\"]"; it must be like 2026-01-31T15:04:05Z or 2026-01-31`},
		{"one date for a list", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "isoneof", Value: "2024-01-01T01:00:00+01:00"}, "2024-01-01T00:00:00Z", ""},
		// In UTC the year is negative or has five digits, which cannot be parsed again.
		{"after the last year", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "eq", Value: "9999-12-31T23:59:59-01:00"}, "", `parsing datetime from "9999-12-31T23:59:59-01:00"; it must be like 2026-01-31T15:04:05Z or 2026-01-31`},
		{"before the first year", ConstraintInput{Type: guidon.DateTimeComparison, Operator: "eq", Value: "0000-01-01T00:00:00+01:00"}, "", `parsing datetime from "0000-01-01T00:00:00+01:00"; it must be like 2026-01-31T15:04:05Z or 2026-01-31`},

		{"list kept as sent", ConstraintInput{Type: guidon.StringComparison, Operator: "isoneof", Value: ` [ "a" ] `}, ` [ "a" ] `, ""},
		{"empty list", ConstraintInput{Type: guidon.StringComparison, Operator: "isoneof", Value: `[]`}, `[]`, ""},
		{"no list", ConstraintInput{Type: guidon.StringComparison, Operator: "isoneof", Value: `a,b`}, "", `invalid value provided for property "p" of type string; it must be a JSON list like ["a","b"]`},
		{"object", ConstraintInput{Type: guidon.StringComparison, Operator: "isnotoneof", Value: `{}`}, "", `invalid value provided for property "p" of type string; it must be a JSON list like ["a","b"]`},
		{"list of numbers as strings", ConstraintInput{Type: guidon.StringComparison, Operator: "isoneof", Value: `[1]`}, "", `invalid value provided for property "p" of type string; it must be a JSON list like ["a","b"]`},
		{"list of strings as numbers", ConstraintInput{Type: guidon.NumberComparison, Operator: "isoneof", Value: `["1"]`}, "", `invalid value provided for property "p" of type number; it must be a JSON list like [1,2]`},
		{"list of entities", ConstraintInput{Type: guidon.EntityIDComparison, Property: "entityId", Operator: "isoneof", Value: `"a"`}, "", `invalid value provided for property "entityId" of type entityId; it must be a JSON list like ["a","b"]`},
		{"10000 strings", ConstraintInput{Type: guidon.StringComparison, Operator: "isoneof", Value: list(10_000, `"a"`)}, list(10_000, `"a"`), ""},
		{"10001 strings", ConstraintInput{Type: guidon.StringComparison, Operator: "isoneof", Value: list(10_001, `"a"`)}, "", `too many values provided for property "p" of type string (maximum 10000)`},
		{"10000 numbers", ConstraintInput{Type: guidon.NumberComparison, Operator: "isnotoneof", Value: list(10_000, `1`)}, list(10_000, `1`), ""},
		{"10001 numbers", ConstraintInput{Type: guidon.NumberComparison, Operator: "isnotoneof", Value: list(10_001, `1`)}, "", `too many values provided for property "p" of type number (maximum 10000)`},
		{
			"10001 entities", ConstraintInput{Type: guidon.EntityIDComparison, Property: "entityId", Operator: "isoneof", Value: list(10_001, `"a"`)},
			"", `too many values provided for property "entityId" of type entityId (maximum 10000)`,
		},
		{
			"10001 addresses", ConstraintInput{Type: guidon.AddressComparison, Operator: "isoneof", Value: list(10_001, `"192.0.2.1"`)},
			"", `too many values provided for property "p" of type address (maximum 10000)`,
		},
		{
			"10001 items", ConstraintInput{Type: guidon.ListComparison, Operator: "anyof", Value: list(10_001, `1`)},
			"", `too many values provided for property "p" of type list (maximum 10000)`,
		},
		{"no version", ConstraintInput{Type: guidon.VersionComparison, Operator: "eq", Value: "latest"}, "", `invalid value provided for property "p" of type version; it must be like 2.4.1`},
		{"version not needed", ConstraintInput{Type: guidon.VersionComparison, Operator: "present", Value: "latest"}, "", ""},
		{"no pattern", ConstraintInput{Type: guidon.PatternComparison, Operator: "eq", Value: "("}, "", `invalid value provided for property "p" of type pattern; it must be a pattern of RE2: error parsing regexp: missing closing ): ` + "`(`"},
		{"long pattern", ConstraintInput{Type: guidon.PatternComparison, Operator: "eq", Value: strings.Repeat("a", 513)}, "", `pattern of property "p" is too complex`},
		{"no list", ConstraintInput{Type: guidon.ListComparison, Operator: "anyof", Value: "a"}, "", `invalid value provided for property "p" of type list; it must be a JSON list like ["a","b"]`},
		{"list in a list", ConstraintInput{Type: guidon.ListComparison, Operator: "anyof", Value: `[["a"]]`}, "", `invalid value provided for property "p" of type list; it must be a JSON list like ["a","b"]`},
		{"no address", ConstraintInput{Type: guidon.AddressComparison, Operator: "isoneof", Value: `["192.0.2.256"]`}, "", `invalid value provided for property "p" of type address; it must be a JSON list like ["192.0.2.0/24","2001:db8::1"]`},
		{"null for addresses", ConstraintInput{Type: guidon.AddressComparison, Operator: "isoneof", Value: `null`}, "", `invalid value provided for property "p" of type address; it must be a JSON list like ["192.0.2.0/24","2001:db8::1"]`},
		{"one address", ConstraintInput{Type: guidon.AddressComparison, Operator: "isoneof", Value: `192.0.2.1`}, "", `invalid value provided for property "p" of type address; it must be a JSON list like ["192.0.2.0/24","2001:db8::1"]`},
		{"marked type", ConstraintInput{Type: guidon.StringComparison | 1<<15, Operator: "eq", Value: "a"}, "", `invalid constraint type: "STRING_COMPARISON_TYPE+1"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.in
			if in.Type != guidon.UnknownComparison && in.SegmentKey == "" {
				in.SegmentKey = "s"
				if in.Property == "" {
					in.Property = "p"
				}
			}
			got, err := in.check()
			wantError(t, err, tt.want)
			if got.Value != tt.value {
				t.Errorf("stored value: got %q, want %q", guidon.Shorten(got.Value, 100), guidon.Shorten(tt.value, 100))
			}
		})
	}
}

// FuzzConstraint: check never panics, and the constraints that it accepts are stable
// and can be evaluated.
func FuzzConstraint(f *testing.F) {
	f.Add(uint16(guidon.StringComparison), "p", "isOneOf", `["a","b"]`, "a")
	f.Add(uint16(guidon.NumberComparison), "p", "gte", "0x1p-2", "1_0e1")
	f.Add(uint16(guidon.NumberComparison), "p", "isnotoneof", "[1,2.5,null]", "NaN")
	f.Add(uint16(guidon.BooleanComparison), "p", "true", "", "T")
	f.Add(uint16(guidon.DateTimeComparison), "p", "LT", "2024-01-01T00:00:00.5+23:59", "2024-01-01")
	f.Add(uint16(guidon.DateTimeComparison), "p", "eq", "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59")
	f.Add(uint16(guidon.EntityIDComparison), "entityId", "notcontains", "@", "alice@example.com")
	f.Add(uint16(guidon.VersionComparison), "p", "gte", "v1.2-rc", "1.2+build")
	f.Add(uint16(guidon.PatternComparison), "p", "eq", "(?i)^a{2,}", "AAA")
	f.Add(uint16(guidon.ListComparison), "p", "allof", `["a",1,true]`, `[true,"a",1.0]`)
	f.Add(uint16(guidon.AddressComparison), "p", "isoneof", `["::ffff:192.0.2.0/120"]`, "192.0.2.1")
	f.Add(uint16(77), "\xff", "ſ", "\x00", "\u2003")
	f.Fuzz(func(t *testing.T, comparison uint16, property, operator, value, contextValue string) {
		in := ConstraintInput{
			SegmentKey: "segment", Type: guidon.ComparisonType(comparison),
			Property: property, Operator: operator, Value: value, Description: "why",
		}
		stored, err := in.check()
		if err != nil {
			if guidon.CodeOf(err) != guidon.InvalidArgument {
				t.Fatalf("got %v error %v", guidon.CodeOf(err), err)
			}
			return
		}
		again, err := ConstraintInput{
			SegmentKey: "segment", Type: stored.Type, Property: stored.Property,
			Operator: stored.Operator, Value: stored.Value, Description: stored.Description,
		}.check()
		if err != nil || again != stored {
			t.Fatalf("the stored form %+v is not stable: %+v, %v", stored, again, err)
		}
		snapshot := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1},
			[]*guidon.Flag{{Key: "flag", Type: guidon.BooleanFlag, Enabled: true, Rollouts: []*guidon.Rollout{{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"segment"}}}}}},
			[]*guidon.Segment{{Key: "segment", Constraints: []*guidon.Constraint{&stored}}})
		for _, entityID := range []string{contextValue, ""} {
			if _, err := snapshot.Boolean("flag", entityID, map[string]string{property: contextValue}); err != nil {
				t.Fatalf("accepted a constraint that cannot be evaluated: %+v: %v", stored, err)
			}
		}
		if _, err := json.Marshal(&stored); err != nil {
			t.Fatalf("cannot be encoded: %v", err)
		}
	})
}
