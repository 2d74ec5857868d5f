package document

import (
	"maps"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

func (d *decoder) rollout(n *node) *service.DocumentRollout {
	r := &service.DocumentRollout{}
	known := fields{
		"description": d.text(&r.Description),
		"segment": func(n *node) {
			if n.kind != null {
				r.Segment = d.rolloutSegment(n)
			}
		},
		"threshold": func(n *node) {
			if n.kind != null {
				r.Threshold = d.threshold(n)
			}
		},
	}
	var conditions guidon.Conditions
	maps.Copy(known, d.conditions(&conditions))
	d.object(n, known)
	r.Conditions = conditions.OrNil()
	return r
}

func (d *decoder) threshold(n *node) *guidon.RolloutThreshold {
	t, split := &guidon.RolloutThreshold{}, guidon.Split{}
	known := d.split(&split)
	known["start"], known["ramp"] = d.float(&t.Start), d.ramp(&t.Ramp)
	known = d.additions(known)
	known["percentage"], known["value"] = d.float(&t.Percentage), d.boolean(&t.Value)
	d.object(n, known)
	if split != (guidon.Split{}) {
		t.Split = &split
	}
	return t
}

func (d *decoder) rolloutSegment(n *node) *guidon.RolloutSegment {
	s := &guidon.RolloutSegment{}
	var key string
	d.object(n, fields{
		"key": d.text(&key),
		"keys": func(n *node) {
			if d.texts(&s.SegmentKeys)(n); len(s.SegmentKeys) > 0 {
				d.require(n, "flag.rollouts.segment.keys", 2)
			}
		},
		"operator": d.enum(&s.SegmentOperator), "value": d.boolean(&s.Value),
	})
	switch {
	case key == "":
	case len(s.SegmentKeys) > 0:
		d.fail(n, "invalid field key or keys: only one can be present")
	default:
		s.SegmentKeys = []string{key}
	}
	normalizeOperator(s.SegmentKeys, &s.SegmentOperator)
	return s
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
		e.addStart(threshold, t.Start)
		if t.Split != nil {
			addSplit(threshold, *t.Split)
		}
		e.addRamp(threshold, t.Ramp)
		n.add("threshold", threshold)
	}
	e.conditions(n, r.Stated())
	return n
}
