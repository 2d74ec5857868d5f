package document

import "github.com/guidonhq/guidon"

func (d *decoder) requirements(to *[]guidon.Requirement) func(n *node) {
	return d.list(func(n *node) {
		var r guidon.Requirement
		d.object(n, fields{"flag": d.text(&r.FlagKey), "is": d.texts(&r.Answers)})
		*to = append(*to, r)
	})
}

func addRequirements(n *node, all []guidon.Requirement) {
	addList(n, "requires", all, func(r guidon.Requirement) *node {
		n := &node{kind: object}
		n.add("flag", textNode(r.FlagKey))
		addList(n, "is", r.Answers, textNode)
		return n
	})
}
