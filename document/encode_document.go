package document

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Contract 13.2 defines the order of the members, and which ones are omitted.

// document writes the document, up to the first object that the format cannot represent.
func (e *encoder) document(to sink, d *service.Document, first bool) error {
	n := &node{kind: object}
	if first {
		n.add("version", textNode(versions[len(versions)-1]))
	}
	namespace := &node{kind: object}
	namespace.addText("key", guidon.NamespaceKey(d.Namespace.Key))
	namespace.addText("name", d.Namespace.Name)
	namespace.addText("description", d.Namespace.Description)
	n.add("namespace", namespace)
	if err := to.head(n); err != nil {
		return err
	}
	if err := writeItems(e, to, "flags", d.Flags, e.flag); err != nil {
		return err
	}
	if err := writeItems(e, to, "segments", d.Segments, e.segment); err != nil {
		return err
	}
	return to.end()
}

func writeItems[T any](e *encoder, to sink, list string, items []T, each func(T) *node) error {
	for _, item := range items {
		n := each(item)
		if e.err != nil {
			return nil // Encode returns e.err
		}
		if err := to.item(list, n); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) flag(f *service.DocumentFlag) *node {
	n := &node{kind: object}
	n.addText("key", f.Key)
	n.addText("name", f.Name)
	n.add("type", textNode(f.Type.String()))
	n.addText("description", f.Description)
	n.add("enabled", booleanNode(f.Enabled))
	if f.Metadata != "" {
		if metadata := e.jsonNode(f.Metadata); len(metadata.members) > 0 {
			n.add("metadata", metadata)
		}
	}
	addList(n, "variants", f.Variants, e.variant)
	addList(n, "rules", f.RulesByRank(), e.rule)
	addList(n, "rollouts", f.Rollouts, e.rollout)
	return n
}

func (e *encoder) variant(v *service.DocumentVariant) *node {
	n := &node{kind: object}
	n.addTrue("default", v.Default)
	n.addText("key", v.Key)
	n.addText("name", v.Name)
	n.addText("description", v.Description)
	if v.Attachment != "" {
		n.add("attachment", e.jsonNode(v.Attachment))
	}
	return n
}

func (e *encoder) rule(r *service.DocumentRule) *node {
	n := &node{kind: object}
	switch len(r.SegmentKeys) {
	case 0:
	case 1:
		n.add("segment", textNode(r.SegmentKeys[0]))
	default:
		segment := &node{kind: object}
		addList(segment, "keys", r.SegmentKeys, textNode)
		segment.add("operator", textNode(r.SegmentOperator.String()))
		n.add("segment", segment)
	}
	addList(n, "distributions", r.Distributions, func(d *service.DocumentDistribution) *node {
		n := &node{kind: object}
		n.addText("variant", d.Variant)
		n.add("rollout", e.floatNode(d.Rollout))
		return n
	})
	return n
}

func (e *encoder) rollout(r *service.DocumentRollout) *node {
	n := &node{kind: object}
	n.addText("description", r.Description)
	if s := r.Segment; s != nil {
		segment := &node{kind: object}
		if len(s.SegmentKeys) == 1 {
			segment.add("key", textNode(s.SegmentKeys[0]))
		} else {
			addList(segment, "keys", s.SegmentKeys, textNode)
		}
		if s.SegmentOperator == guidon.AndSegments {
			segment.add("operator", textNode(s.SegmentOperator.String()))
		}
		segment.addTrue("value", s.Value)
		n.add("segment", segment)
	}
	if t := r.Threshold; t != nil {
		threshold := &node{kind: object}
		threshold.add("percentage", e.floatNode(t.Percentage))
		threshold.addTrue("value", t.Value)
		n.add("threshold", threshold)
	}
	return n
}

func (e *encoder) segment(g *service.DocumentSegment) *node {
	n := &node{kind: object}
	n.addText("key", g.Key)
	n.addText("name", g.Name)
	n.addText("description", g.Description)
	addList(n, "constraints", g.Constraints, func(c *service.DocumentConstraint) *node {
		n := &node{kind: object}
		n.add("type", textNode(c.Type.String()))
		n.addText("property", c.Property)
		n.addText("operator", c.Operator)
		n.addText("value", c.Value)
		n.addText("description", c.Description)
		return n
	})
	n.add("match_type", textNode(g.MatchType.String()))
	return n
}
