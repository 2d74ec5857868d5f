package service

import (
	"maps"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// sourceComparison is the comparison of a source with one state of the target.
type sourceComparison struct {
	*sourcePlan
	wanted
	namespace *guidon.Namespace // nil if it does not exist
	flags     map[string]*guidon.Flag
	segments  map[string]*guidon.Segment
	document  *Document                                 // the selected objects that are not shared with the target
	same      struct{ flags, segments map[string]bool } // keys of those that are shared with it
	now       time.Time
	problems
}

// wanted implements proposal.
func (p *sourcePlan) wanted(base change.Objects, now time.Time) (*wanted, error) {
	c := &sourceComparison{
		sourcePlan: p, namespace: base.Namespace, now: now,
		flags:    make(map[string]*guidon.Flag, len(base.Flags)),
		segments: make(map[string]*guidon.Segment, len(base.Segments)),
	}
	for _, f := range base.Flags {
		c.flags[f.Key] = f
	}
	for _, g := range base.Segments {
		c.segments[g.Key] = g
	}
	source := p.source
	if p.restoresAll() {
		source, c.same.flags, c.same.segments = p.changedSince(c.flags, c.segments)
		c.unchanged = len(c.same.flags) + len(c.same.segments)
	}
	if err := c.selectObjects(source); err != nil {
		return nil, err
	}
	if err := checkPlanned(len(c.document.Flags) + len(c.document.Segments) + c.unchanged); err != nil {
		return nil, err
	}
	referable := c.check()
	if err := c.err(); err != nil {
		return nil, err
	}
	c.wantNamespace()
	for _, g := range c.document.Segments {
		want(c, segmentObjects, c.segments[g.Key], g)
	}
	for _, f := range c.document.Flags {
		want(c, flagObjects, c.flags[f.Key], f)
	}
	if p.Mode == ImportReplace {
		c.deleteOthers(base, referable)
	}
	if err := checkPlanned(len(c.patch.Delete.Flags) + len(c.patch.Delete.Segments)); err != nil {
		return nil, err
	}
	return &c.wanted, nil
}

// checkPlanned returns TooLarge if a plan has so many objects that it is too large for a
// response.
func checkPlanned(objects int) error {
	if objects > maxPlanned {
		return guidon.Errorf(guidon.TooLarge,
			"a plan must not select or delete more than %d flags and segments; select fewer at a time, or import the document", maxPlanned)
	}
	return nil
}

// check finds the problems of the selected objects, and replaces these by their normal form.
// It returns the segments that flags may refer to afterwards: those that come from the source
// and, unless the rest is deleted, those of the target.
func (c *sourceComparison) check() map[string]bool {
	referable := map[string]bool{}
	maps.Copy(referable, c.same.segments)
	if c.Mode != ImportReplace {
		for key := range c.segments {
			referable[key] = true
		}
	}
	normal := &Document{Namespace: c.document.Namespace}
	c.document.normalize(&c.problems, referable,
		func(g *guidon.Segment) { normal.Segments = append(normal.Segments, g) },
		func(f *guidon.Flag) { normal.Flags = append(normal.Flags, f) })
	c.document = normal
	if c.Mode != ImportCreate {
		return referable
	}
	for _, f := range c.document.Flags {
		if c.flags[f.Key] != nil {
			c.add(notUnique("flag", c.Namespace, f.Key))
		}
	}
	for _, g := range c.document.Segments {
		if c.segments[g.Key] != nil {
			c.add(notUnique("segment", c.Namespace, g.Key))
		}
	}
	return referable
}

// wantNamespace puts the namespace if the plan creates or changes it.
func (c *sourceComparison) wantNamespace() {
	switch {
	case !c.everything() && c.namespace != nil:
	case c.past != nil:
		c.patch.Put.Namespace = restoredNamespace(c.namespace, c.past.Namespace(), c.Mode, c.now)
	case c.Document != nil:
		c.patch.Put.Namespace = wantedNamespace(c.namespace, c.document.Namespace, c.Mode, c.now)
	}
}

// want puts the object unless it is as wanted already. have is nil if it does not exist.
func want[O any](c *sourceComparison, k *objectKind[O], have *O, want *O) {
	key := *k.key(want)
	switch {
	case have == nil:
	case c.Mode == ImportSkipExisting:
		c.skipped = append(c.skipped, string(k.kind)+"/"+key)
		return
	case k.same(have, want):
		c.unchanged++
		return
	}
	put, _ := k.patch(&c.patch)
	*put = append(*put, k.edited(before(c, k, have, key), want, c.now))
}

// before returns the object whose ids and times the wanted one gets: have, or the object as it
// was if it is restored completely.
func before[O any](c *sourceComparison, k *objectKind[O], have *O, key string) *O {
	if c.past == nil || have != nil && k.kind == change.KindFlag && c.Keep != (Keep{}) {
		return have
	}
	restored := *k.find(c.past, key)
	if have != nil {
		*k.created(&restored) = *k.created(have)
	}
	return &restored
}

// deleteOthers deletes the objects that the source does not have. segments are those that it
// has.
func (c *sourceComparison) deleteOthers(base change.Objects, segments map[string]bool) {
	kept := c.document.flagKeys()
	for _, f := range base.Flags {
		if !kept[f.Key] && !c.same.flags[f.Key] {
			c.patch.Delete.Flags = append(c.patch.Delete.Flags, f.Key)
		}
	}
	for _, g := range base.Segments {
		if !segments[g.Key] {
			c.patch.Delete.Segments = append(c.patch.Delete.Segments, g.Key)
		}
	}
}

// restoredNamespace returns the namespace as it was, or nil if it already is so, or if the
// mode keeps what exists. have is nil if the namespace does not exist.
func restoredNamespace(have, past *guidon.Namespace, mode ImportMode, now time.Time) *guidon.Namespace {
	restored := *past
	restored.UpdatedAt = now
	if have == nil {
		return &restored
	}
	restored.CreatedAt = have.CreatedAt
	if mode == ImportCreate || mode == ImportSkipExisting || len(change.Compare(have, &restored)) == 0 {
		return nil
	}
	return &restored
}
