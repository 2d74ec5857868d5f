package document

import (
	"github.com/guidonhq/guidon/service"
)

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
		"requires": d.additions(fields{"requires": d.requirements(&f.Requires)})["requires"],
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
	addRequirements(n, f.Requires)
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
