package guidon

import (
	"cmp"
	"context"
	"slices"
)

// Export returns the namespace as a document: one state of it, never a mixture
// of two. Flags and segments come in creation order or, sorted by key, together
// with the variants in the byte order of their keys (contract 13.5). It returns
// NotFound for an unknown namespace.
func (s *Service) Export(ctx context.Context, namespace string, sortByKey bool) (*Document, error) {
	snapshot, err := s.view(ctx, NamespaceKey(namespace))
	if err != nil {
		return nil, err
	}
	d := &Document{Namespace: documentNamespace(snapshot.Namespace())}
	for _, f := range snapshot.Flags() {
		d.Flags = append(d.Flags, documentFlag(f))
	}
	for _, g := range snapshot.Segments() {
		d.Segments = append(d.Segments, documentSegment(g))
	}
	if sortByKey {
		d.sortByKey()
	}
	return d, nil
}

// sortByKey orders what has a key; rules, rollouts and constraints keep their
// order, which means something.
func (d *Document) sortByKey() {
	slices.SortFunc(d.Flags, func(a, b *DocumentFlag) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(d.Segments, func(a, b *DocumentSegment) int { return cmp.Compare(a.Key, b.Key) })
	for _, f := range d.Flags {
		slices.SortFunc(f.Variants, func(a, b *DocumentVariant) int { return cmp.Compare(a.Key, b.Key) })
	}
}

func documentNamespace(n *Namespace) DocumentNamespace {
	return DocumentNamespace{Key: n.Key, Name: n.Name, Description: n.Description}
}

// documentFlag returns the flag as a document has it. The order of its rules
// stands for their ranks.
func documentFlag(f *Flag) *DocumentFlag {
	d := &DocumentFlag{
		Key: f.Key, Name: f.Name, Type: f.Type, Description: f.Description,
		Enabled: f.Enabled, Metadata: string(f.Metadata),
	}
	for _, v := range f.Variants {
		d.Variants = append(d.Variants, &DocumentVariant{
			Default: v.ID == f.DefaultVariantID, Key: v.Key, Name: v.Name,
			Description: v.Description, Attachment: v.Attachment,
		})
	}
	for _, r := range f.Rules {
		d.Rules = append(d.Rules, documentRule(f, r))
	}
	for _, r := range f.Rollouts {
		d.Rollouts = append(d.Rollouts, documentRollout(r))
	}
	return d
}

func documentRule(f *Flag, r *Rule) *DocumentRule {
	d := &DocumentRule{SegmentKeys: slices.Clone(r.SegmentKeys), SegmentOperator: r.SegmentOperator}
	for _, share := range r.Distributions {
		if v := f.Variant(share.VariantID); v != nil {
			d.Distributions = append(d.Distributions, &DocumentDistribution{Variant: v.Key, Rollout: share.Rollout})
		}
	}
	return d
}

func documentRollout(r *Rollout) *DocumentRollout {
	return (&DocumentRollout{Description: r.Description, Segment: r.Segment, Threshold: r.Threshold}).clone()
}

// clone returns a rollout that shares nothing with r.
func (r *DocumentRollout) clone() *DocumentRollout {
	out := &DocumentRollout{Description: r.Description}
	if r.Segment != nil {
		segment := *r.Segment
		segment.SegmentKeys = slices.Clone(segment.SegmentKeys)
		out.Segment = &segment
	}
	if r.Threshold != nil {
		threshold := *r.Threshold
		out.Threshold = &threshold
	}
	return out
}

func documentSegment(g *Segment) *DocumentSegment {
	d := &DocumentSegment{Key: g.Key, Name: g.Name, Description: g.Description, MatchType: g.MatchType}
	for _, c := range g.Constraints {
		d.Constraints = append(d.Constraints, documentConstraint(c))
	}
	return d
}

func documentConstraint(c *Constraint) *DocumentConstraint {
	return &DocumentConstraint{
		Type: c.Type, Property: c.Property, Operator: c.Operator, Value: c.Value, Description: c.Description,
	}
}
