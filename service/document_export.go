package service

import (
	"cmp"
	"iter"
	"slices"

	"github.com/guidonhq/guidon"
)

// Export converts one state of a namespace to a document. Each object is created when
// the iterators reach it, so the document need not be in memory as a whole.
type Export struct {
	namespace *guidon.Namespace
	flags     []*guidon.Flag
	segments  []*guidon.Segment
	sorted    bool
}

// Export returns the export of the state. Flags, segments and variants are in creation
// order or, if sortByKey is set, in the byte order of their keys (contract 13.5). Rules,
// rollouts and constraints keep their order, which is significant.
func (v View) Export(sortByKey bool) *Export {
	e := &Export{namespace: v.Snapshot.Namespace(), flags: v.Snapshot.Flags(), segments: v.Snapshot.Segments(), sorted: sortByKey}
	if sortByKey {
		e.flags, e.segments = slices.Clone(e.flags), slices.Clone(e.segments)
		slices.SortFunc(e.flags, func(a, b *guidon.Flag) int { return cmp.Compare(a.Key, b.Key) })
		slices.SortFunc(e.segments, func(a, b *guidon.Segment) int { return cmp.Compare(a.Key, b.Key) })
	}
	return e
}

// Document returns the whole document.
func (e *Export) Document() *Document {
	return &Document{Namespace: e.Namespace(), Flags: slices.Collect(e.Flags()), Segments: slices.Collect(e.Segments())}
}

// Namespace returns the key, name and description of the namespace.
func (e *Export) Namespace() DocumentNamespace { return documentNamespace(e.namespace) }

// Flags returns an iterator over the flags, which belong to the caller. It can be used
// more than once.
func (e *Export) Flags() iter.Seq[*DocumentFlag] {
	return func(yield func(*DocumentFlag) bool) {
		for _, f := range e.flags {
			d := documentFlag(f)
			if e.sorted {
				slices.SortFunc(d.Variants, func(a, b *DocumentVariant) int { return cmp.Compare(a.Key, b.Key) })
			}
			if !yield(d) {
				return
			}
		}
	}
}

// Segments returns an iterator over the segments, which belong to the caller. It can be
// used more than once.
func (e *Export) Segments() iter.Seq[*DocumentSegment] {
	return func(yield func(*DocumentSegment) bool) {
		for _, g := range e.segments {
			if !yield(documentSegment(g)) {
				return
			}
		}
	}
}

func documentNamespace(n *guidon.Namespace) DocumentNamespace {
	return DocumentNamespace{Key: n.Key, Name: n.Name, Description: n.Description}
}

// documentFlag returns the flag in the form of a document. Its rules have no ranks but
// are in the order of their ranks.
func documentFlag(f *guidon.Flag) *DocumentFlag {
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

func documentRule(f *guidon.Flag, r *guidon.Rule) *DocumentRule {
	d := &DocumentRule{SegmentKeys: slices.Clone(r.SegmentKeys), SegmentOperator: r.SegmentOperator}
	for _, share := range r.Distributions {
		if v := f.Variant(share.VariantID); v != nil {
			d.Distributions = append(d.Distributions, &DocumentDistribution{Variant: v.Key, Rollout: share.Rollout})
		}
	}
	return d
}

func documentRollout(r *guidon.Rollout) *DocumentRollout {
	return (&DocumentRollout{Description: r.Description, Segment: r.Segment, Threshold: r.Threshold}).clone()
}

// clone returns a deep copy of r.
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

func documentSegment(g *guidon.Segment) *DocumentSegment {
	d := &DocumentSegment{Key: g.Key, Name: g.Name, Description: g.Description, MatchType: g.MatchType}
	for _, c := range g.Constraints {
		d.Constraints = append(d.Constraints, documentConstraint(c))
	}
	return d
}

func documentConstraint(c *guidon.Constraint) *DocumentConstraint {
	return &DocumentConstraint{
		Type: c.Type, Property: c.Property, Operator: c.Operator, Value: c.Value, Description: c.Description,
	}
}
