package guidon_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
)

// Builders for evaluation tests. Keys serve as ids.

// snapshotOf returns the snapshot of one flag and some segments.
func snapshotOf(f *guidon.Flag, segments ...*guidon.Segment) *guidon.Snapshot {
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, []*guidon.Flag{f}, segments)
}

// variantFlag returns an enabled flag with variants A to G and Z.
func variantFlag(key string, rules ...*guidon.Rule) *guidon.Flag {
	f := &guidon.Flag{Key: key, Name: key, Type: guidon.VariantFlag, Enabled: true, Rules: rules}
	for _, name := range []string{"A", "B", "C", "D", "E", "F", "G", "Z"} {
		f.Variants = append(f.Variants, &guidon.Variant{ID: "id-" + name, Key: name, Attachment: `{"is":"` + name + `"}`})
	}
	for i, r := range rules {
		r.Rank = int32(i + 1)
	}
	return f
}

// withDefault makes the variant the flag's default.
func withDefault(f *guidon.Flag, variant string) *guidon.Flag {
	f.DefaultVariantID = "id-" + variant
	return f
}

// disabled disables the flag.
func disabled(f *guidon.Flag) *guidon.Flag {
	f.Enabled = false
	return f
}

// shares are the rollouts of the distributions to A, B, C, ….
type shares []float32

// rule distributes the entities of any of the segments to A, B, C, ….
func rule(to shares, segments ...string) *guidon.Rule {
	r := &guidon.Rule{ID: "rule", SegmentKeys: segments}
	for i, share := range to {
		r.Distributions = append(r.Distributions, &guidon.Distribution{
			ID: fmt.Sprint(i), VariantID: "id-" + string(rune('A'+i)), Rollout: share,
		})
	}
	return r
}

// ruleOfAll is rule for entities that belong to all of the segments.
func ruleOfAll(to shares, segments ...string) *guidon.Rule {
	r := rule(to, segments...)
	r.SegmentOperator = guidon.AndSegments
	return r
}

func booleanFlag(key string, enabled bool, rollouts ...*guidon.Rollout) *guidon.Flag {
	for i, r := range rollouts {
		r.Rank = int32(i + 1)
	}
	return &guidon.Flag{Key: key, Name: key, Type: guidon.BooleanFlag, Enabled: enabled, Rollouts: rollouts}
}

func threshold(percentage float32, value bool) *guidon.Rollout {
	return &guidon.Rollout{ID: "threshold", Threshold: &guidon.RolloutThreshold{Percentage: percentage, Value: value}}
}

func segmentRollout(value bool, operator guidon.SegmentOperator, segments ...string) *guidon.Rollout {
	return &guidon.Rollout{ID: "segment", Segment: &guidon.RolloutSegment{
		SegmentKeys: segments, SegmentOperator: operator, Value: value,
	}}
}

func segment(key string, match guidon.MatchType, constraints ...*guidon.Constraint) *guidon.Segment {
	return &guidon.Segment{Key: key, Name: key, MatchType: match, Constraints: constraints}
}

// everyone is a segment without constraints.
func everyone() *guidon.Segment { return segment("everyone", guidon.MatchAll) }

// has returns the constraint that the property has the value "yes".
func has(property string) *guidon.Constraint {
	return &guidon.Constraint{
		ID: property, Type: guidon.StringComparison, Property: property, Operator: guidon.OpEQ, Value: "yes",
	}
}

// yes returns a context with the value "yes" for each property.
func yes(properties ...string) map[string]string {
	context := make(map[string]string, len(properties))
	for _, p := range properties {
		context[p] = "yes"
	}
	return context
}

func attachment(variant string) string { return `{"is":"` + variant + `"}` }

// variantResult returns the result with the variant and its attachment.
func variantResult(match bool, reason guidon.Reason, variant string, segments ...string) guidon.VariantResult {
	r := guidon.VariantResult{Match: match, Reason: reason, VariantKey: variant, SegmentKeys: segments}
	if variant != "" {
		r.Attachment = attachment(variant)
	}
	return r
}

// checkError checks the code and the whole text of an error. An empty text means no
// error.
func checkError(t testing.TB, err error, code guidon.Code, text string) {
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
