package convert

import (
	"encoding/json"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// DocumentOf returns the document of a message, or nil if m is nil. It shares lists of
// keys with the message.
func DocumentOf(m *guidonv1.Document) *service.Document {
	if m == nil {
		return nil
	}
	return &service.Document{
		Namespace: DocumentNamespaceOf(m.GetNamespace()),
		Flags:     lists.Map(m.GetFlags(), DocumentFlagOf),
		Segments:  lists.Map(m.GetSegments(), DocumentSegmentOf),
	}
}

// DocumentNamespaceOf returns the namespace of a message, which may be nil.
func DocumentNamespaceOf(m *guidonv1.DocumentNamespace) service.DocumentNamespace {
	n := service.DocumentNamespace{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(), Color: guidon.Color(m.GetColor()),
	}
	if m != nil {
		n.ConfirmChanges = m.ConfirmChanges
	}
	return n
}

// DocumentFlagOf returns the flag, which shares its lists of keys with the message.
func DocumentFlagOf(m *guidonv1.DocumentFlag) *guidon.Flag {
	f := &guidon.Flag{
		Key: m.GetKey(), Name: m.GetName(), Type: Enum[guidon.FlagType](m.GetType()),
		Description: m.GetDescription(), Enabled: m.GetEnabled(), Metadata: json.RawMessage(m.GetMetadata()),
		Rules:    lists.Map(m.GetRules(), documentRuleOf),
		Rollouts: lists.Map(m.GetRollouts(), documentRolloutOf),
		Requires: RequirementsOf(m.GetRequires()),
	}
	for _, v := range m.GetVariants() {
		f.Variants = append(f.Variants, &guidon.Variant{
			Key: v.GetKey(), Name: v.GetName(), Description: v.GetDescription(), Attachment: v.GetAttachment(),
		})
		if v.GetDefault() {
			f.DefaultVariantID = v.GetKey()
		}
	}
	return f
}

func documentRuleOf(m *guidonv1.DocumentRule) *guidon.Rule {
	return &guidon.Rule{
		SegmentKeys: m.GetSegmentKeys(), SegmentOperator: Enum[guidon.SegmentOperator](m.GetSegmentOperator()), Rank: m.GetRank(),
		Distributions: lists.Map(m.GetDistributions(), func(m *guidonv1.DocumentDistribution) *guidon.Distribution {
			return &guidon.Distribution{VariantID: m.GetVariant(), Rollout: m.GetRollout()}
		}),
		Split: SplitOf(m.GetSplit()), CodeDefault: m.GetCodeDefault(), Conditions: ConditionsOf(m),
	}
}

func documentRolloutOf(m *guidonv1.DocumentRollout) *guidon.Rollout {
	r := &guidon.Rollout{Description: m.GetDescription(), Conditions: ConditionsOf(m)}
	if t := m.GetThreshold(); t != nil {
		r.Threshold = &guidon.RolloutThreshold{
			Percentage: t.GetPercentage(), Value: t.GetValue(), Start: t.GetStart(), Split: SplitOf(t.GetSplit()),
			Ramp: RampOf(t.GetRamp()),
		}
	}
	if s := m.GetSegment(); s != nil {
		r.Segment = &guidon.RolloutSegment{
			SegmentKeys: s.GetSegmentKeys(), SegmentOperator: Enum[guidon.SegmentOperator](s.GetSegmentOperator()), Value: s.GetValue(),
		}
	}
	return r
}

// DocumentSegmentOf returns the segment.
func DocumentSegmentOf(m *guidonv1.DocumentSegment) *guidon.Segment {
	return &guidon.Segment{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(), MatchType: Enum[guidon.MatchType](m.GetMatchType()),
		Constraints: lists.Map(m.GetConstraints(), func(m *guidonv1.DocumentConstraint) *guidon.Constraint {
			return &guidon.Constraint{
				Type: Enum[guidon.ComparisonType](m.GetType()), Property: m.GetProperty(), Operator: m.GetOperator(),
				Value: m.GetValue(), Description: m.GetDescription(), Negate: m.GetNegate(),
			}
		}),
	}
}

// WireDocument returns the message of a document, or nil if d is nil. It does not keep
// the document.
func WireDocument(d *service.Document) *guidonv1.Document {
	if d == nil {
		return nil
	}
	return &guidonv1.Document{
		Namespace: WireDocumentNamespace(d.Namespace),
		Flags:     lists.Map(d.Flags, WireDocumentFlag),
		Segments:  lists.Map(d.Segments, WireDocumentSegment),
	}
}

// TakeDocument is like [WireDocument], but empties the document, object by object, so
// that a large one is not in memory twice.
func TakeDocument(d *service.Document) *guidonv1.Document {
	m := &guidonv1.Document{
		Namespace: WireDocumentNamespace(d.Namespace),
		Flags:     takeAll(d.Flags, WireDocumentFlag),
		Segments:  takeAll(d.Segments, WireDocumentSegment),
	}
	*d = service.Document{}
	return m
}

// takeAll converts the items of a list and sets each to nil.
func takeAll[T, M any](items []*T, convert func(*T) M) []M {
	converted := make([]M, len(items))
	for i, item := range items {
		converted[i], items[i] = convert(item), nil
	}
	return converted
}

// DocumentOfTaken is like [DocumentOf], but empties the message.
func DocumentOfTaken(m *guidonv1.Document) *service.Document {
	d := &service.Document{
		Namespace: DocumentNamespaceOf(m.GetNamespace()),
		Flags:     takeAll(m.GetFlags(), DocumentFlagOf),
		Segments:  takeAll(m.GetSegments(), DocumentSegmentOf),
	}
	m.Flags, m.Segments = nil, nil
	return d
}

// WireDocumentNamespace returns the message of the namespace.
func WireDocumentNamespace(n service.DocumentNamespace) *guidonv1.DocumentNamespace {
	return &guidonv1.DocumentNamespace{
		Key: n.Key, Name: n.Name, Description: n.Description, Color: string(n.Color), ConfirmChanges: n.ConfirmChanges,
	}
}

// WireDocumentFlag returns the message of the flag, which shares its lists of keys.
func WireDocumentFlag(f *guidon.Flag) *guidonv1.DocumentFlag {
	return &guidonv1.DocumentFlag{
		Key: f.Key, Name: f.Name, Type: flipt.FlagType(f.Type), Description: f.Description,
		Enabled: f.Enabled, Metadata: string(f.Metadata),
		Variants: lists.Map(f.Variants, func(v *guidon.Variant) *guidonv1.DocumentVariant {
			return &guidonv1.DocumentVariant{
				Default: v.Key != "" && v.Key == f.DefaultVariantID, Key: v.Key, Name: v.Name,
				Description: v.Description, Attachment: v.Attachment,
			}
		}),
		Rules:    lists.Map(f.Rules, wireDocumentRule),
		Rollouts: lists.Map(f.Rollouts, wireDocumentRollout),
		Requires: WireRequirements(f.Requires),
	}
}

func wireDocumentRule(r *guidon.Rule) *guidonv1.DocumentRule {
	return &guidonv1.DocumentRule{
		SegmentKeys: r.SegmentKeys, SegmentOperator: flipt.SegmentOperator(r.SegmentOperator), Rank: r.Rank,
		Distributions: lists.Map(r.Distributions, func(d *guidon.Distribution) *guidonv1.DocumentDistribution {
			return &guidonv1.DocumentDistribution{Variant: d.VariantID, Rollout: d.Rollout}
		}),
		Groups: WireGroups(r.Stated().Groups), ExceptSegmentKeys: r.Stated().ExceptSegmentKeys, Everyone: r.Stated().Everyone,
		Requires: WireRequirements(r.Stated().Requires), HoldsFrom: Timestamp(r.Stated().From), HoldsUntil: Timestamp(r.Stated().Until),
		Portion: WirePortion(r.Stated().Portion), Split: WireSplit(r.Split), CodeDefault: r.CodeDefault,
	}
}

func wireDocumentRollout(r *guidon.Rollout) *guidonv1.DocumentRollout {
	m := &guidonv1.DocumentRollout{
		Description: r.Description, Groups: WireGroups(r.Stated().Groups), ExceptSegmentKeys: r.Stated().ExceptSegmentKeys,
		Everyone: r.Stated().Everyone, Requires: WireRequirements(r.Stated().Requires),
		HoldsFrom: Timestamp(r.Stated().From), HoldsUntil: Timestamp(r.Stated().Until), Portion: WirePortion(r.Stated().Portion),
	}
	switch {
	case r.Threshold != nil:
		m.Rule = &guidonv1.DocumentRollout_Threshold{Threshold: &guidonv1.DocumentRolloutThreshold{
			Percentage: r.Threshold.Percentage, Value: r.Threshold.Value, Start: r.Threshold.Start,
			Split: WireSplit(r.Threshold.Split), Ramp: WireRamp(r.Threshold.Ramp),
		}}
	case r.Segment != nil:
		m.Rule = &guidonv1.DocumentRollout_Segment{Segment: &guidonv1.DocumentRolloutSegment{
			SegmentKeys: r.Segment.SegmentKeys, SegmentOperator: flipt.SegmentOperator(r.Segment.SegmentOperator), Value: r.Segment.Value,
		}}
	}
	return m
}

// WireDocumentSegment returns the message of the segment.
func WireDocumentSegment(g *guidon.Segment) *guidonv1.DocumentSegment {
	return &guidonv1.DocumentSegment{
		Key: g.Key, Name: g.Name, Description: g.Description, MatchType: flipt.MatchType(g.MatchType),
		Constraints: lists.Map(g.Constraints, func(c *guidon.Constraint) *guidonv1.DocumentConstraint {
			return &guidonv1.DocumentConstraint{
				Type: flipt.ComparisonType(c.Type), Property: c.Property, Operator: c.Operator,
				Value: c.Value, Description: c.Description, Negate: c.Negate,
			}
		}),
	}
}
