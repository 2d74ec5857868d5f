package document

import (
	"maps"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

func (d *decoder) rule(n *node) *service.DocumentRule {
	r := &service.DocumentRule{}
	known := fields{
		"segment": func(n *node) { d.ruleSegment(n, r) },
		"rank":    d.integer(&r.Rank),
		"distributions": d.list(func(n *node) {
			share := &service.DocumentDistribution{}
			d.object(n, fields{"variant": d.text(&share.Variant), "rollout": d.float(&share.Rollout)})
			r.Distributions = append(r.Distributions, share)
		}),
	}
	var conditions guidon.Conditions
	maps.Copy(known, d.conditions(&conditions))
	maps.Copy(known, d.additions(fields{
		"split": func(n *node) {
			if n.kind != null {
				split := guidon.Split{}
				if d.object(n, d.split(&split)); split != (guidon.Split{}) {
					r.Split = &split
				}
			}
		},
		"code_default": d.boolean(&r.CodeDefault),
	}))
	d.object(n, known)
	r.Conditions = conditions.OrNil()
	return r
}

func (d *decoder) ruleSegment(n *node, r *service.DocumentRule) {
	switch n.kind {
	case null:
	case object:
		d.object(n, fields{"keys": d.texts(&r.SegmentKeys), "operator": d.enum(&r.SegmentOperator)})
	default:
		var key string
		if d.text(&key)(n); key != "" {
			r.SegmentKeys = []string{key}
		}
	}
	normalizeOperator(r.SegmentKeys, &r.SegmentOperator)
}

// normalizeOperator resets the operator if there are not several segments to combine.
func normalizeOperator(keys []string, operator *guidon.SegmentOperator) {
	if len(keys) < 2 {
		*operator = guidon.OrSegments
	}
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
	e.conditions(n, r.Stated())
	if r.Split != nil {
		split := &node{kind: object}
		addSplit(split, *r.Split)
		n.add("split", split)
	}
	n.addTrue("code_default", r.CodeDefault)
	addList(n, "distributions", r.Distributions, func(d *service.DocumentDistribution) *node {
		n := &node{kind: object}
		n.addText("variant", d.Variant)
		n.add("rollout", e.floatNode(d.Rollout))
		return n
	})
	return n
}
