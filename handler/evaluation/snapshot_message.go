package evaluation

import (
	"slices"
	"strconv"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/internal/lists"
)

// wireSnapshot returns the snapshot for clients of the profile (contract 9.1). It omits
// what [guidon.Snapshot] never evaluates: rules of boolean flags, rollouts of variant
// flags, and references to segments or variants that no longer exist. Evaluating the
// rest gives the same results. It also omits flags that cannot be evaluated, and those that
// clients would evaluate differently, which are then unknown to the client.
func wireSnapshot(s *guidon.Snapshot, p profile) *evaluation.EvaluationNamespaceSnapshot {
	w, flags := newSnapshotWire(s, p), clientFlags.Of(s)
	return &evaluation.EvaluationNamespaceSnapshot{
		Namespace: &evaluation.EvaluationNamespace{Key: s.Namespace().Key},
		Flags:     lists.Map(flags.sent, w.flag), OmittedFlags: flags.omitted,
	}
}

// flagsForClients are the flags that a snapshot for clients has, and those that only the server
// can evaluate.
type flagsForClients struct {
	sent    []*guidon.Flag
	omitted []*evaluation.OmittedFlag
}

var clientFlags = guidon.NewDerivation(func(s *guidon.Snapshot) flagsForClients {
	flags := flagsForClients{sent: s.EvaluableFlags()}
	omission := func(f *guidon.Flag) string { return analysis.ClientOmission(s.Compiled(f.Key)) }
	for _, f := range flags.sent {
		if reason := omission(f); reason != "" {
			flags.omitted = append(flags.omitted, &evaluation.OmittedFlag{Key: f.Key, Reason: reason})
		}
	}
	if len(flags.omitted) > 0 { // otherwise the list is shared
		flags.sent = slices.DeleteFunc(slices.Clone(flags.sent), func(f *guidon.Flag) bool { return omission(f) != "" })
	}
	return flags
})

// snapshotWire builds the messages of one snapshot. Rules share the segment messages.
type snapshotWire struct {
	profile  profile
	snapshot *guidon.Snapshot
	segments map[string]*evaluation.EvaluationSegment
}

func newSnapshotWire(s *guidon.Snapshot, p profile) *snapshotWire {
	w := &snapshotWire{profile: p, snapshot: s, segments: make(map[string]*evaluation.EvaluationSegment, len(s.Segments()))}
	for _, g := range s.Segments() {
		w.segments[g.Key] = w.segment(g)
	}
	return w
}

func (w *snapshotWire) flag(f *guidon.Flag) *evaluation.EvaluationFlag {
	m := &evaluation.EvaluationFlag{
		Key: f.Key, Name: f.Name, Description: f.Description, Enabled: f.Enabled,
		Type: evaluation.EvaluationFlagType(f.Type), CreatedAt: convert.Timestamp(f.CreatedAt), UpdatedAt: convert.Timestamp(f.UpdatedAt),
	}
	switch f.Type {
	case guidon.VariantFlag:
		variants := variantsByID(f)
		for i, step := range w.snapshot.Compiled(f.Key).Steps() {
			m.Rules = append(m.Rules, w.rule(f.Rules[i], clientTargetOf(step.Audience, f.Rules[i].SegmentOperator), variants))
		}
		if v := f.DefaultVariant(); v != nil && w.profile >= complete {
			m.DefaultVariant = &evaluation.EvaluationVariant{Id: v.ID, Key: v.Key, Attachment: v.Attachment}
		}
	case guidon.BooleanFlag:
		compiled := w.snapshot.Compiled(f.Key)
		for i, step := range compiled.Steps() {
			m.Rollouts = append(m.Rollouts, w.rollout(compiled, i, step.Audience))
		}
	}
	return m
}

func variantsByID(f *guidon.Flag) map[string]*guidon.Variant {
	variants := make(map[string]*guidon.Variant, len(f.Variants))
	for _, v := range f.Variants {
		variants[v.ID] = v
	}
	return variants
}

// all returns the messages of the segments.
func (w *snapshotWire) all(segments []*guidon.Segment) []*evaluation.EvaluationSegment {
	return lists.Map(segments, func(g *guidon.Segment) *evaluation.EvaluationSegment {
		if shared := w.segments[g.Key]; shared != nil {
			return shared
		}
		return w.segment(g)
	})
}

func (w *snapshotWire) rule(r *guidon.Rule, t clientTarget, variants map[string]*guidon.Variant) *evaluation.EvaluationRule {
	m := &evaluation.EvaluationRule{
		Id: r.ID, Segments: w.all(t.segments), Rank: r.Rank,
		SegmentOperator: evaluation.EvaluationSegmentOperator(t.operator),
	}
	for _, d := range r.Distributions {
		if v := variants[d.VariantID]; v != nil {
			m.Distributions = append(m.Distributions, &evaluation.EvaluationDistribution{
				VariantId: v.ID, VariantKey: v.Key, VariantAttachment: v.Attachment, Rollout: d.Rollout,
			})
		}
	}
	return m
}

func (w *snapshotWire) rollout(f *guidon.CompiledFlag, i int, audience *guidon.Audience) *evaluation.EvaluationRollout {
	r := f.Flag().Rollouts[i]
	m := &evaluation.EvaluationRollout{Type: evaluation.EvaluationRolloutType(r.Type()), Rank: r.Rank}
	if r.Threshold != nil {
		m.Rule = &evaluation.EvaluationRollout_Threshold{Threshold: &evaluation.EvaluationRolloutThreshold{
			Percentage: f.Threshold(i).Percentage, Value: r.Threshold.Value,
		}}
		return m
	}
	t := clientTargetOf(audience, r.Segment.SegmentOperator)
	m.Rule = &evaluation.EvaluationRollout_Segment{Segment: &evaluation.EvaluationRolloutSegment{
		Value: r.Segment.Value, SegmentOperator: evaluation.EvaluationSegmentOperator(t.operator), Segments: w.all(t.segments),
	}}
	return m
}

func (w *snapshotWire) segment(g *guidon.Segment) *evaluation.EvaluationSegment {
	return &evaluation.EvaluationSegment{
		Key: g.Key, MatchType: evaluation.EvaluationSegmentMatchType(g.MatchType),
		Constraints: lists.Map(g.Constraints, func(c *guidon.Constraint) *evaluation.EvaluationConstraint {
			return &evaluation.EvaluationConstraint{
				Id: c.ID, Type: w.profile.comparison(c.Type), Property: c.Property, Operator: c.Operator, Value: analysis.ClientValue(c),
			}
		}),
	}
}

// comparison returns the type of a constraint (contract 9.2).
func (p profile) comparison(t guidon.ComparisonType) evaluation.EvaluationConstraintComparisonType {
	if t == guidon.EntityIDComparison && p < beforeDefaults {
		return evaluation.EvaluationConstraintComparisonType_UNKNOWN_CONSTRAINT_COMPARISON_TYPE
	}
	return evaluation.EvaluationConstraintComparisonType(t)
}

// clientTarget is whom a rule is for, as clients know it: segments only (contract 9.5).
type clientTarget struct {
	segments []*guidon.Segment
	operator guidon.SegmentOperator
}

// clientTargetOf returns whom a rule that may match, of a flag that clients get, is for. Groups of
// constraints, and everyone, become segments with the keys ~1, ~2 and so on, which no other
// segment can have.
func clientTargetOf(a *guidon.Audience, operator guidon.SegmentOperator) clientTarget {
	t, groups := clientTarget{operator: operator}, 0
	add := func(g *guidon.Segment) {
		if g.Key == "" {
			groups++
			g = &guidon.Segment{Key: "~" + strconv.Itoa(groups), MatchType: g.MatchType, Constraints: g.Constraints}
		}
		t.segments = append(t.segments, g)
	}
	for _, g := range a.Segments() {
		add(g.Segment())
	}
	switch {
	case len(t.segments) == 0:
		add(&guidon.Segment{})
	case groups > 0 && len(t.segments) > 1:
		t.operator = guidon.AndSegments
	}
	return t
}
