// Package flagtest has flags and segments for tests:
//
//   - small ones for tests of evaluation, whose keys serve as ids (build.go, fuzz.go);
//   - random ones, and random changes of them (random.go, random_edit.go);
//   - ones with something in every field, which find the fields that a form of them loses:
//     a message, a document, a row (fields.go).
package flagtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
)

// SnapshotOf returns the snapshot of one flag and some segments.
func SnapshotOf(f *guidon.Flag, segments ...*guidon.Segment) *guidon.Snapshot {
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, []*guidon.Flag{f}, segments)
}

// VariantFlag returns an enabled flag with variants A to G and Z.
func VariantFlag(key string, rules ...*guidon.Rule) *guidon.Flag {
	f := &guidon.Flag{Key: key, Name: key, Type: guidon.VariantFlag, Enabled: true, Rules: rules}
	for _, name := range []string{"A", "B", "C", "D", "E", "F", "G", "Z"} {
		f.Variants = append(f.Variants, &guidon.Variant{ID: "id-" + name, Key: name, Attachment: `{"is":"` + name + `"}`})
	}
	Rank(f)
	return f
}

// WithDefault makes the variant the flag's default.
func WithDefault(f *guidon.Flag, variant string) *guidon.Flag {
	f.DefaultVariantID = "id-" + variant
	return f
}

// Disabled disables the flag.
func Disabled(f *guidon.Flag) *guidon.Flag {
	f.Enabled = false
	return f
}

// Shares are the rollouts of the distributions to A, B, C, ….
type Shares []float32

// Rule distributes the entities of any of the segments to A, B, C, ….
func Rule(to Shares, segments ...string) *guidon.Rule {
	r := &guidon.Rule{ID: "rule", SegmentKeys: segments}
	for i, share := range to {
		r.Distributions = append(r.Distributions, &guidon.Distribution{
			ID: fmt.Sprint(i), VariantID: "id-" + string(rune('A'+i)), Rollout: share,
		})
	}
	return r
}

// RuleOfAll is rule for entities that belong to all of the segments.
func RuleOfAll(to Shares, segments ...string) *guidon.Rule {
	r := Rule(to, segments...)
	r.SegmentOperator = guidon.AndSegments
	return r
}

func BooleanFlag(key string, enabled bool, rollouts ...*guidon.Rollout) *guidon.Flag {
	f := &guidon.Flag{Key: key, Name: key, Type: guidon.BooleanFlag, Enabled: enabled, Rollouts: rollouts}
	Rank(f)
	return f
}

func Threshold(percentage float32, value bool) *guidon.Rollout {
	return &guidon.Rollout{ID: "threshold", Threshold: &guidon.RolloutThreshold{Percentage: percentage, Value: value}}
}

func SegmentRollout(value bool, operator guidon.SegmentOperator, segments ...string) *guidon.Rollout {
	return &guidon.Rollout{ID: "segment", Segment: &guidon.RolloutSegment{
		SegmentKeys: segments, SegmentOperator: operator, Value: value,
	}}
}

func Segment(key string, match guidon.MatchType, constraints ...*guidon.Constraint) *guidon.Segment {
	return &guidon.Segment{Key: key, Name: key, MatchType: match, Constraints: constraints}
}

// Everyone is a segment without constraints.
func Everyone() *guidon.Segment { return Segment("everyone", guidon.MatchAll) }

// Has returns the constraint that the property has the value "yes".
func Has(property string) *guidon.Constraint {
	return &guidon.Constraint{
		ID: property, Type: guidon.StringComparison, Property: property, Operator: guidon.OpEQ, Value: "yes",
	}
}

// Yes returns a context with the value "yes" for each property.
func Yes(properties ...string) map[string]string {
	context := make(map[string]string, len(properties))
	for _, p := range properties {
		context[p] = "yes"
	}
	return context
}

func Attachment(variant string) string { return `{"is":"` + variant + `"}` }

// VariantResult returns the result with the variant and its attachment, of the first rule if it is a match.
func VariantResult(match bool, reason guidon.Reason, variant string, segments ...string) guidon.VariantResult {
	r := guidon.VariantResult{Match: match, Reason: reason, VariantKey: variant, SegmentKeys: segments}
	if match {
		r.Rule = 1
	}
	if variant != "" {
		r.Attachment = Attachment(variant)
	}
	return r
}

// CheckError checks the code and the whole text of an error. An empty text means no
// error.
func CheckError(t testing.TB, err error, code guidon.Code, text string) {
	t.Helper()
	switch {
	case text == "":
		if err != nil {
			t.Errorf("got error %v, want none", err)
		}
	case err == nil:
		t.Errorf("got no error, want %q", text)
	case !errors.Is(err, code) || err.Error() != text:
		t.Errorf("got %v error %q, want %v %q", guidon.CodeOf(err), err, code, text)
	}
}
