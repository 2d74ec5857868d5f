package object

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestParseConstraint: a constraint has a type in front unless it is a string, and "not" if it
// is negated.
func TestParseConstraint(t *testing.T) {
	for text, want := range map[string]*guidonv1.DocumentConstraint{
		"country eq PT":                 {Type: 1, Property: "country", Operator: "eq", Value: "PT"},
		"not country eq SE":             {Type: 1, Property: "country", Operator: "eq", Value: "SE", Negate: true},
		"not  version:app gte 2.4":      {Type: 1000, Property: "app", Operator: "gte", Value: "2.4", Negate: true},
		"not boolean:beta true":         {Type: 3, Property: "beta", Operator: "true", Negate: true},
		"not country empty":             {Type: 1, Property: "country", Operator: "empty", Negate: true},
		"not empty":                     {Type: 1, Property: "not", Operator: "empty"},
		"string:not eq x":               {Type: 1, Property: "not", Operator: "eq", Value: "x"},
		"not string:not eq x":           {Type: 1, Property: "not", Operator: "eq", Value: "x", Negate: true},
		"notes eq x":                    {Type: 1, Property: "notes", Operator: "eq", Value: "x"},
		`pattern:email eq (?i)@a b\.c$`: {Type: 1001, Property: "email", Operator: "eq", Value: `(?i)@a b\.c$`},
		`list:roles anyof ["a", "b"]`:   {Type: 1002, Property: "roles", Operator: "anyof", Value: `["a", "b"]`},
		`address:ip isoneof ["::/0"]`:   {Type: 1003, Property: "ip", Operator: "isoneof", Value: `["::/0"]`},
	} {
		got, err := parseConstraint(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestConstraintLine: the line of a constraint is parsed to the same constraint, whatever its
// type and property.
func TestConstraintLine(t *testing.T) {
	for _, kind := range guidon.ComparisonTypes() {
		for _, property := range []string{"p", "not", "entityId", "version:app", "nubmer:x", "entity"} {
			for _, negate := range []bool{false, true} {
				c := &guidonv1.DocumentConstraint{Type: flipt.ComparisonType(kind), Property: property, Operator: "eq", Value: "a b", Negate: negate}
				line := constraintLine(c)
				got, err := parseConstraint(line)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if diff := cmp.Diff(c, got, protocmp.Transform()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", line, diff)
				}
			}
		}
	}
	long := &guidonv1.DocumentConstraint{Type: 1, Property: "p", Operator: "isoneof", Value: strings.Repeat("x", 1e5)}
	if got := len(constraintLine(long)); got > 2100 {
		t.Errorf("the line of a long list has %d bytes", got)
	}
}
