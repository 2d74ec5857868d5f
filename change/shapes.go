package change

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
)

// The content of every kind of object. A field that is not listed here must be in
// notCompared of the tests: TestEveryFieldIsCompared fails for a field that is in neither.

// shapeOf returns the shape of namespaces, flags or segments. Other types have none.
func shapeOf[T any]() (s shape[T]) {
	switch s := any(&s).(type) {
	case *shape[guidon.Namespace]:
		*s = namespaceShape
	case *shape[guidon.Flag]:
		*s = flagShape
	case *shape[guidon.Segment]:
		*s = segmentShape
	}
	return s
}

// Clone returns a deep copy of a namespace, flag or segment.
func Clone[T any](t *T) *T { return shapeOf[T]().clone(t) }

var namespaceShape = shape[guidon.Namespace]{
	plain("name", "name", func(n *guidon.Namespace) *string { return &n.Name }),
	plain("description", "description", func(n *guidon.Namespace) *string { return &n.Description }),
	plain("protected", "protected", func(n *guidon.Namespace) *bool { return &n.Protected }),
	plain("color", "color", func(n *guidon.Namespace) *guidon.Color { return &n.Color }),
	plain("confirmChanges", "ask before changes",
		func(n *guidon.Namespace) *bool { return &n.ConfirmChanges }),
}

var flagShape = slices.Concat(flagFields, shape[guidon.Flag]{variants}, flagLists)

var flagFields = shape[guidon.Flag]{
	plain("name", "name", func(f *guidon.Flag) *string { return &f.Name }),
	plain("description", "description", func(f *guidon.Flag) *string { return &f.Description }),
	plain("type", "type", func(f *guidon.Flag) *guidon.FlagType { return &f.Type }),
	enabled(),
	&metadata[guidon.Flag]{"metadata", func(f *guidon.Flag) *json.RawMessage { return &f.Metadata }},
	variant("defaultVariant", "default variant", func(f *guidon.Flag) *string { return &f.DefaultVariantID }),
	requirements(func(f *guidon.Flag) *[]guidon.Requirement { return &f.Requires }),
}

// enabled is the member for the switch of a flag, which for boolean flags is only the value
// that it has if no rule decides.
func enabled() *value[guidon.Flag] {
	v := shown("enabled", "enabled", func(f *guidon.Flag) *bool { return &f.Enabled },
		func(f *guidon.Flag) any { return switched(f.Enabled) })
	v.named = func(f *guidon.Flag) string {
		if f.Type == guidon.BooleanFlag {
			return "default value"
		}
		return "state"
	}
	return v
}

var flagLists = shape[guidon.Flag]{
	&list[guidon.Flag, guidon.Rule]{
		json: "rules", word: "rule",
		at:    func(f *guidon.Flag) *[]*guidon.Rule { return &f.Rules },
		id:    func(r *guidon.Rule) *string { return &r.ID },
		rank:  func(r *guidon.Rule) *int32 { return &r.Rank },
		shape: ruleShape, brief: briefRule, match: ruleMatches,
	},
	&list[guidon.Flag, guidon.Rollout]{
		json: "rollouts", word: "rule",
		at:    func(f *guidon.Flag) *[]*guidon.Rollout { return &f.Rollouts },
		id:    func(r *guidon.Rollout) *string { return &r.ID },
		rank:  func(r *guidon.Rollout) *int32 { return &r.Rank },
		shape: rolloutShape, brief: briefRollout, match: rolloutMatches,
	},
}

var variants = &list[guidon.Flag, guidon.Variant]{
	json: "variants", word: "variant",
	at:     func(f *guidon.Flag) *[]*guidon.Variant { return &f.Variants },
	id:     func(v *guidon.Variant) *string { return &v.ID },
	key:    func(v *guidon.Variant) string { return v.Key },
	shape:  variantShape,
	brief:  noBrief[guidon.Variant],
	needed: func(m *merger, id string) bool { return m.used[id] },
	match: []func(*guidon.Flag, *guidon.Variant) string{
		func(_ *guidon.Flag, v *guidon.Variant) string { return v.Key },
	},
}

var variantShape = shape[guidon.Variant]{
	variantKey(),
	plain("name", "name", func(v *guidon.Variant) *string { return &v.Name }),
	plain("description", "description", func(v *guidon.Variant) *string { return &v.Description }),
	jsonText("attachment", "attachment", func(v *guidon.Variant) *string { return &v.Attachment }),
}

var ruleShape = shape[guidon.Rule]{
	keys("segmentKeys", "segments", func(r *guidon.Rule) *[]string { return &r.SegmentKeys }),
	plain("segmentOperator", "segments that must match",
		func(r *guidon.Rule) *guidon.SegmentOperator { return &r.SegmentOperator }),
	&list[guidon.Rule, guidon.Distribution]{
		json: "distributions", word: "share",
		at:    func(r *guidon.Rule) *[]*guidon.Distribution { return &r.Distributions },
		id:    func(d *guidon.Distribution) *string { return &d.ID },
		shape: distributionShape, brief: briefShare, match: distributionMatches,
		named: func(f *guidon.Flag, d *guidon.Distribution) string {
			return "share of " + quote(reference(f, d.VariantID))
		},
		whole: true, open: func(m *merger, theirs []*guidon.Distribution) { // shares of 100% in all
			for _, d := range theirs {
				m.used[d.VariantID] = true
			}
		},
	},
	split(func(r *guidon.Rule) **guidon.Split { return &r.Split }),
	plain("codeDefault", "default in the code", func(r *guidon.Rule) *bool { return &r.CodeDefault }).ifSet(),
	newConditions(func(r *guidon.Rule) **guidon.Conditions { return &r.Conditions }),
}

var distributionShape = shape[guidon.Distribution]{
	variant("variant", "variant", func(d *guidon.Distribution) *string { return &d.VariantID }),
	shown("rollout", "", func(d *guidon.Distribution) *float32 { return &d.Rollout },
		func(d *guidon.Distribution) any { return percent(d.Rollout) }),
}

var rolloutShape = shape[guidon.Rollout]{
	plain("description", "description", func(r *guidon.Rollout) *string { return &r.Description }),
	unit[guidon.Rollout]{
		json: "type", words: "type", brief: briefRollout,
		agree: func(v versions[guidon.Rollout]) bool { // of which each has one of the parts
			return v.ours.Type() == v.theirs.Type() && (v.base == nil || v.ours.Type() == v.base.Type())
		},
		shape: shape[guidon.Rollout]{
			&part[guidon.Rollout, guidon.RolloutSegment]{
				"segment", "segments", func(r *guidon.Rollout) **guidon.RolloutSegment { return &r.Segment }, rolloutSegmentShape,
			},
			&part[guidon.Rollout, guidon.RolloutThreshold]{
				"threshold", "share", func(r *guidon.Rollout) **guidon.RolloutThreshold { return &r.Threshold },
				rolloutThresholdShape,
			},
		},
	},
	newConditions(func(r *guidon.Rollout) **guidon.Conditions { return &r.Conditions }),
}

var rolloutSegmentShape = shape[guidon.RolloutSegment]{
	keys("segmentKeys", "segments", func(s *guidon.RolloutSegment) *[]string { return &s.SegmentKeys }),
	plain("segmentOperator", "segments that must match",
		func(s *guidon.RolloutSegment) *guidon.SegmentOperator { return &s.SegmentOperator }),
	shown("value", "result", func(s *guidon.RolloutSegment) *bool { return &s.Value },
		func(s *guidon.RolloutSegment) any { return switched(s.Value) }),
}

var rolloutThresholdShape = shape[guidon.RolloutThreshold]{
	shown("percentage", "share", func(t *guidon.RolloutThreshold) *float32 { return &t.Percentage },
		func(t *guidon.RolloutThreshold) any { return percent(t.Percentage) }),
	shown("value", "result", func(t *guidon.RolloutThreshold) *bool { return &t.Value },
		func(t *guidon.RolloutThreshold) any { return switched(t.Value) }),
	shown("start", "start", func(t *guidon.RolloutThreshold) *float32 { return &t.Start },
		func(t *guidon.RolloutThreshold) any { return percent(t.Start) }).ifSet(),
	split(func(t *guidon.RolloutThreshold) **guidon.Split { return &t.Split }),
	ramp(func(t *guidon.RolloutThreshold) **guidon.Ramp { return &t.Ramp }),
}

var segmentShape = shape[guidon.Segment]{
	plain("name", "name", func(g *guidon.Segment) *string { return &g.Name }),
	plain("description", "description", func(g *guidon.Segment) *string { return &g.Description }),
	plain("matchType", "constraints that must match",
		func(g *guidon.Segment) *guidon.MatchType { return &g.MatchType }),
	&list[guidon.Segment, guidon.Constraint]{
		json: "constraints", word: "constraint",
		at:    func(g *guidon.Segment) *[]*guidon.Constraint { return &g.Constraints },
		id:    func(c *guidon.Constraint) *string { return &c.ID },
		shape: constraintShape, brief: briefConstraint, match: constraintMatches,
	},
}

var constraintShape = shape[guidon.Constraint]{
	unit[guidon.Constraint]{
		json: "condition", words: "comparison", brief: briefConstraint,
		shape: shape[guidon.Constraint]{
			plain("type", "type", func(c *guidon.Constraint) *guidon.ComparisonType { return &c.Type }),
			plain("property", "property", func(c *guidon.Constraint) *string { return &c.Property }),
			shown("operator", "operator", func(c *guidon.Constraint) *string { return &c.Operator },
				func(c *guidon.Constraint) any { return operator{c} }),
			shown("value", "value", func(c *guidon.Constraint) *string { return &c.Value },
				func(c *guidon.Constraint) any { return operand{c} }),
			shown("negate", "", func(c *guidon.Constraint) *bool { return &c.Negate },
				func(c *guidon.Constraint) any { return negation(c.Negate) }).ifSet(),
		},
		// The type decides which operators there are and, for entity ids, which property;
		// both decide which values (contract 4.3). A negation inverts what all of them say.
		agree: func(v versions[guidon.Constraint]) bool {
			return v.ours.Type == v.theirs.Type && v.ours.Operator == v.theirs.Operator && v.ours.Negate == v.theirs.Negate
		},
	},
	plain("description", "description", func(c *guidon.Constraint) *string { return &c.Description }),
}

// The keys by which the items are paired whose content differs: one of the last keys
// makes a description of one change out of two, a removal and an addition.

var ruleMatches = []func(f *guidon.Flag, r *guidon.Rule) string{
	func(_ *guidon.Flag, r *guidon.Rule) string {
		return fmt.Sprintf("%q %d", r.SegmentKeys, r.SegmentOperator)
	},
	func(_ *guidon.Flag, r *guidon.Rule) string { return fmt.Sprintf("%q", r.SegmentKeys) },
	func(f *guidon.Flag, r *guidon.Rule) string {
		if len(r.Distributions) == 0 {
			return ""
		}
		var text []byte
		for _, d := range r.Distributions {
			text = fmt.Appendf(text, "%q %v ", reference(f, d.VariantID), d.Rollout)
		}
		return string(text)
	},
}

var distributionMatches = []func(f *guidon.Flag, d *guidon.Distribution) string{
	func(f *guidon.Flag, d *guidon.Distribution) string { return reference(f, d.VariantID) },
	func(_ *guidon.Flag, d *guidon.Distribution) string { return fmt.Sprint(d.Rollout) },
}

var rolloutMatches = []func(f *guidon.Flag, r *guidon.Rollout) string{
	func(_ *guidon.Flag, r *guidon.Rollout) string {
		switch {
		case r.Segment != nil:
			return fmt.Sprintf("segment %q", r.Segment.SegmentKeys)
		case r.Threshold != nil:
			return fmt.Sprint("threshold ", r.Threshold.Value)
		}
		return ""
	},
	func(_ *guidon.Flag, r *guidon.Rollout) string {
		switch {
		case r.Segment != nil:
			return fmt.Sprintf("segment %d %t %q", r.Segment.SegmentOperator, r.Segment.Value, r.Description)
		case r.Threshold != nil:
			return fmt.Sprint("threshold ", r.Description)
		}
		return ""
	},
}

var constraintMatches = []func(f *guidon.Flag, c *guidon.Constraint) string{
	func(_ *guidon.Flag, c *guidon.Constraint) string {
		return fmt.Sprintf("%d %q %s %t", c.Type, c.Property, c.Operator, c.Negate)
	},
	func(_ *guidon.Flag, c *guidon.Constraint) string { return fmt.Sprintf("%d %q", c.Type, c.Property) },
	func(_ *guidon.Flag, c *guidon.Constraint) string { return fmt.Sprintf("%s %q", c.Operator, c.Value) },
}
