package document

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// versions are the supported format versions, oldest first (contract 13.3).
var versions = []string{"1.0", "1.1", "1.2", "1.3", "1.4"}

// readVersion reads the version of the stream, which is in the first document.
func (d *decoder) readVersion(n *node) {
	d.version = len(versions) - 1
	stated := n.member("version")
	if stated == nil || stated.kind == null {
		return
	}
	d.at("version", func() {
		var version string
		d.text(&version)(stated)
		minor, known := parseVersion(version)
		if !known {
			d.fail(stated, "unsupported version: %s", version)
		}
		d.version = minor
	})
}

// require fails if the version of the stream does not have the field.
func (d *decoder) require(n *node, field string, minor int) {
	if d.version < minor {
		d.fail(n, "%s is supported in version >=%s, found %s", field, versions[minor], versions[max(0, d.version)])
	}
}

func (d *decoder) readDocument(n *node) *service.Document {
	out := &service.Document{}
	d.object(n, fields{
		"namespace": func(n *node) { d.namespace(n, &out.Namespace) },
		"flags":     d.list(func(n *node) { out.Flags = append(out.Flags, d.flag(n)) }),
		"segments":  d.list(func(n *node) { out.Segments = append(out.Segments, d.segment(n)) }),
	})
	out.Namespace.Key = guidon.NamespaceKey(out.Namespace.Key)
	return out
}

// readItem reads one flag or segment into the document.
func (d *decoder) readItem(to *service.Document, list string, index int, item *node) {
	d.at(list, func() {
		d.item(list, index, item, func(n *node) {
			if list == "flags" {
				to.Flags = append(to.Flags, d.flag(n))
			} else {
				to.Segments = append(to.Segments, d.segment(n))
			}
		})
	})
}

func (d *decoder) namespace(n *node, to *service.DocumentNamespace) {
	if n.kind != object {
		d.text(&to.Key)(n)
		return
	}
	d.object(n, fields{
		"key": d.text(&to.Key), "name": d.text(&to.Name), "description": d.text(&to.Description),
	})
}

func (d *decoder) flag(n *node) *service.DocumentFlag {
	f := &service.DocumentFlag{}
	d.object(n, fields{
		"key": d.text(&f.Key), "name": d.text(&f.Name), "description": d.text(&f.Description),
		"enabled": d.boolean(&f.Enabled),
		"type": func(n *node) {
			if n.kind != null {
				d.require(n, "flag.type", 1)
			}
			d.enum(&f.Type)(n)
		},
		"metadata": func(n *node) { d.metadata(n, &f.Metadata) },
		"variants": d.list(func(n *node) { f.Variants = append(f.Variants, d.variant(n)) }),
		"rules":    d.list(func(n *node) { f.Rules = append(f.Rules, d.rule(n)) }),
		"rollouts": d.list(func(n *node) {
			d.require(n, "flag.rollouts", 1)
			f.Rollouts = append(f.Rollouts, d.rollout(n))
		}),
	})
	return f
}

// metadata reads an object. An empty object means no metadata.
func (d *decoder) metadata(n *node, to *string) {
	switch {
	case n.kind == null, n.kind == object && len(n.members) == 0:
		*to = ""
	case n.kind == object:
		d.json(to)(n)
	default:
		d.fail(n, "must be an object, not %s", n.kind)
	}
}

func (d *decoder) variant(n *node) *service.DocumentVariant {
	v := &service.DocumentVariant{}
	d.object(n, fields{
		"key": d.text(&v.Key), "name": d.text(&v.Name), "description": d.text(&v.Description),
		"attachment": d.json(&v.Attachment),
		"default": func(n *node) {
			d.boolean(&v.Default)(n)
			if v.Default {
				d.require(n, "variant.default", 3)
			}
		},
	})
	return v
}

func (d *decoder) rule(n *node) *service.DocumentRule {
	r := &service.DocumentRule{}
	d.object(n, fields{
		"segment": func(n *node) { d.ruleSegment(n, r) },
		"rank":    d.integer(&r.Rank),
		"distributions": d.list(func(n *node) {
			share := &service.DocumentDistribution{}
			d.object(n, fields{"variant": d.text(&share.Variant), "rollout": d.float(&share.Rollout)})
			r.Distributions = append(r.Distributions, share)
		}),
	})
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

func (d *decoder) rollout(n *node) *service.DocumentRollout {
	r := &service.DocumentRollout{}
	d.object(n, fields{
		"description": d.text(&r.Description),
		"segment": func(n *node) {
			if n.kind != null {
				r.Segment = d.rolloutSegment(n)
			}
		},
		"threshold": func(n *node) {
			if n.kind != null {
				r.Threshold = &guidon.RolloutThreshold{}
				d.object(n, fields{
					"percentage": d.float(&r.Threshold.Percentage), "value": d.boolean(&r.Threshold.Value),
				})
			}
		},
	})
	return r
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

// normalizeOperator resets the operator if there are not several segments to combine.
func normalizeOperator(keys []string, operator *guidon.SegmentOperator) {
	if len(keys) < 2 {
		*operator = guidon.OrSegments
	}
}

func (d *decoder) segment(n *node) *service.DocumentSegment {
	g := &service.DocumentSegment{}
	d.object(n, fields{
		"key": d.text(&g.Key), "name": d.text(&g.Name), "description": d.text(&g.Description),
		"match_type": d.enum(&g.MatchType),
		"constraints": d.list(func(n *node) {
			c := &service.DocumentConstraint{}
			d.object(n, fields{
				"type": d.enum(&c.Type), "property": d.text(&c.Property), "operator": d.text(&c.Operator),
				"value": d.text(&c.Value), "description": d.text(&c.Description),
			})
			g.Constraints = append(g.Constraints, c)
		}),
	})
	return g
}
