package service

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon"
)

// checkRequirements adds the problems of requirements, which must be about flags of the document.
func (d *Document) checkRequirements(p *problems) {
	if !slices.ContainsFunc(d.Flags, func(f *DocumentFlag) bool { return f != nil && f.outline().Linked() }) {
		return // without a copy of all flags
	}
	tx := newLinkTx(plannedFlags{changed: map[string]*guidon.Flag{}}, guidon.NamespaceKey(d.Namespace.Key))
	all := requirements{}
	for _, f := range d.Flags {
		if f != nil {
			put := f.outline()
			_ = tx.PutFlag(context.Background(), put) // in memory, where nothing fails
			all[f.Key] = slices.Collect(put.Requirements())
		}
	}
	found, more := len(p.found), p.more
	d.eachRequiring(p, all, func(p *problems, f *DocumentFlag) { f.checkReferences(p, tx) })
	if len(p.found) > found || p.more > more {
		return // cycles are easier to find without them
	}
	d.eachRequiring(p, all, func(p *problems, f *DocumentFlag) { p.add(all.check([]string{f.Key}, new(int))) })
}

// eachRequiring calls check for each flag that has requirements.
func (d *Document) eachRequiring(p *problems, all requirements, check func(p *problems, f *DocumentFlag)) {
	for i, f := range d.Flags {
		if f != nil && len(all[f.Key]) > 0 {
			p.item("flags", i, f.Key, func(p *problems) { check(p, f) })
		}
	}
}

func (f *DocumentFlag) checkReferences(p *problems, tx *linkTx) {
	check := func(p *problems, stated []guidon.Requirement) {
		for i := range stated {
			if stated[i].FlagKey == "" {
				continue // another problem
			}
			p.entry("requires", i, func(p *problems) { p.add(tx.checkReference(context.Background(), f.Key, &stated[i])) })
		}
	}
	check(p, f.Requires)
	list := "rules"
	if f.Type == guidon.BooleanFlag {
		list = "rollouts"
	}
	for i, c := range f.outline().EachConditions() {
		p.entry(list, i, func(p *problems) { check(p, c.Requires) })
	}
}
