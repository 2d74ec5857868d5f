package handler

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// DocumentOf returns the document of a message, or nil if m is nil. It does not keep the
// message.
func DocumentOf(m *guidonv1.Document) *guidon.Document {
	if m == nil {
		return nil
	}
	n := m.GetNamespace()
	return &guidon.Document{
		Namespace: guidon.DocumentNamespace{Key: n.GetKey(), Name: n.GetName(), Description: n.GetDescription()},
		Flags:     convertAll(m.GetFlags(), documentFlagOf),
		Segments:  convertAll(m.GetSegments(), documentSegmentOf),
	}
}

func documentFlagOf(m *guidonv1.DocumentFlag) *guidon.DocumentFlag {
	return &guidon.DocumentFlag{
		Key: m.GetKey(), Name: m.GetName(), Type: enum[guidon.FlagType](m.GetType()),
		Description: m.GetDescription(), Enabled: m.GetEnabled(), Metadata: m.GetMetadata(),
		Variants: convertAll(m.GetVariants(), func(m *guidonv1.DocumentVariant) *guidon.DocumentVariant {
			return &guidon.DocumentVariant{
				Default: m.GetDefault(), Key: m.GetKey(), Name: m.GetName(),
				Description: m.GetDescription(), Attachment: m.GetAttachment(),
			}
		}),
		Rules:    convertAll(m.GetRules(), documentRuleOf),
		Rollouts: convertAll(m.GetRollouts(), documentRolloutOf),
	}
}

func documentRuleOf(m *guidonv1.DocumentRule) *guidon.DocumentRule {
	return &guidon.DocumentRule{
		SegmentKeys: m.GetSegmentKeys(), SegmentOperator: enum[guidon.SegmentOperator](m.GetSegmentOperator()), Rank: m.GetRank(),
		Distributions: convertAll(m.GetDistributions(), func(m *guidonv1.DocumentDistribution) *guidon.DocumentDistribution {
			return &guidon.DocumentDistribution{Variant: m.GetVariant(), Rollout: m.GetRollout()}
		}),
	}
}

func documentRolloutOf(m *guidonv1.DocumentRollout) *guidon.DocumentRollout {
	r := &guidon.DocumentRollout{Description: m.GetDescription()}
	if t := m.GetThreshold(); t != nil {
		r.Threshold = &guidon.RolloutThreshold{Percentage: t.GetPercentage(), Value: t.GetValue()}
	}
	if s := m.GetSegment(); s != nil {
		r.Segment = &guidon.RolloutSegment{
			SegmentKeys: s.GetSegmentKeys(), SegmentOperator: enum[guidon.SegmentOperator](s.GetSegmentOperator()), Value: s.GetValue(),
		}
	}
	return r
}

func documentSegmentOf(m *guidonv1.DocumentSegment) *guidon.DocumentSegment {
	return &guidon.DocumentSegment{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(), MatchType: enum[guidon.MatchType](m.GetMatchType()),
		Constraints: convertAll(m.GetConstraints(), func(m *guidonv1.DocumentConstraint) *guidon.DocumentConstraint {
			return &guidon.DocumentConstraint{
				Type: enum[guidon.ComparisonType](m.GetType()), Property: m.GetProperty(), Operator: m.GetOperator(),
				Value: m.GetValue(), Description: m.GetDescription(),
			}
		}),
	}
}

// WireDocument returns the message of a document, or nil if d is nil. It does not keep
// the document.
func WireDocument(d *guidon.Document) *guidonv1.Document {
	if d == nil {
		return nil
	}
	return &guidonv1.Document{
		Namespace: wireDocumentNamespace(d.Namespace),
		Flags:     convertAll(d.Flags, wireDocumentFlag),
		Segments:  convertAll(d.Segments, wireDocumentSegment),
	}
}

// TakeDocument is like [WireDocument], but empties the document, object by object, so
// that a large one is not in memory twice.
func TakeDocument(d *guidon.Document) *guidonv1.Document {
	m := &guidonv1.Document{
		Namespace: wireDocumentNamespace(d.Namespace),
		Flags:     takeAll(d.Flags, wireDocumentFlag),
		Segments:  takeAll(d.Segments, wireDocumentSegment),
	}
	*d = guidon.Document{}
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
func DocumentOfTaken(m *guidonv1.Document) *guidon.Document {
	n := m.GetNamespace()
	d := &guidon.Document{
		Namespace: guidon.DocumentNamespace{Key: n.GetKey(), Name: n.GetName(), Description: n.GetDescription()},
		Flags:     takeAll(m.GetFlags(), documentFlagOf),
		Segments:  takeAll(m.GetSegments(), documentSegmentOf),
	}
	m.Flags, m.Segments = nil, nil
	return d
}

func wireDocumentNamespace(n guidon.DocumentNamespace) *guidonv1.DocumentNamespace {
	return &guidonv1.DocumentNamespace{Key: n.Key, Name: n.Name, Description: n.Description}
}

func wireDocumentFlag(f *guidon.DocumentFlag) *guidonv1.DocumentFlag {
	return &guidonv1.DocumentFlag{
		Key: f.Key, Name: f.Name, Type: flipt.FlagType(f.Type), Description: f.Description,
		Enabled: f.Enabled, Metadata: f.Metadata,
		Variants: convertAll(f.Variants, func(v *guidon.DocumentVariant) *guidonv1.DocumentVariant {
			return &guidonv1.DocumentVariant{
				Default: v.Default, Key: v.Key, Name: v.Name, Description: v.Description, Attachment: v.Attachment,
			}
		}),
		Rules:    convertAll(f.Rules, wireDocumentRule),
		Rollouts: convertAll(f.Rollouts, wireDocumentRollout),
	}
}

func wireDocumentRule(r *guidon.DocumentRule) *guidonv1.DocumentRule {
	return &guidonv1.DocumentRule{
		SegmentKeys: r.SegmentKeys, SegmentOperator: flipt.SegmentOperator(r.SegmentOperator), Rank: r.Rank,
		Distributions: convertAll(r.Distributions, func(d *guidon.DocumentDistribution) *guidonv1.DocumentDistribution {
			return &guidonv1.DocumentDistribution{Variant: d.Variant, Rollout: d.Rollout}
		}),
	}
}

func wireDocumentRollout(r *guidon.DocumentRollout) *guidonv1.DocumentRollout {
	m := &guidonv1.DocumentRollout{Description: r.Description}
	switch {
	case r.Threshold != nil:
		m.Rule = &guidonv1.DocumentRollout_Threshold{Threshold: &guidonv1.DocumentRolloutThreshold{
			Percentage: r.Threshold.Percentage, Value: r.Threshold.Value,
		}}
	case r.Segment != nil:
		m.Rule = &guidonv1.DocumentRollout_Segment{Segment: &guidonv1.DocumentRolloutSegment{
			SegmentKeys: r.Segment.SegmentKeys, SegmentOperator: flipt.SegmentOperator(r.Segment.SegmentOperator), Value: r.Segment.Value,
		}}
	}
	return m
}

func wireDocumentSegment(g *guidon.DocumentSegment) *guidonv1.DocumentSegment {
	return &guidonv1.DocumentSegment{
		Key: g.Key, Name: g.Name, Description: g.Description, MatchType: flipt.MatchType(g.MatchType),
		Constraints: convertAll(g.Constraints, func(c *guidon.DocumentConstraint) *guidonv1.DocumentConstraint {
			return &guidonv1.DocumentConstraint{
				Type: flipt.ComparisonType(c.Type), Property: c.Property, Operator: c.Operator,
				Value: c.Value, Description: c.Description,
			}
		}),
	}
}
