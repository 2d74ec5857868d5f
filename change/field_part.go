package change

import (
	"github.com/guidonhq/guidon"
)

// part is a member that is an object which may be missing.
type part[T, E any] struct {
	json  string // in paths and JSON forms
	words string

	at    func(*T) **E
	shape shape[E]
}

func (p *part[T, E]) same(s *sides, before, after *T) bool {
	return p.shape.same(s, *p.at(before), *p.at(after))
}

func (p *part[T, E]) own(t *T) { *p.at(t) = p.shape.clone(*p.at(t)) }

func (p *part[T, E]) content(f *guidon.Flag, t *T, o *jsonObject) {
	if e := *p.at(t); e != nil {
		o.add(p.json, p.shape.form(f, e))
	}
}

// compare leaves the name of the part out of the words for its members: a rollout has
// either a percentage or segments.
func (p *part[T, E]) compare(c *comparer, at place, before, after *T) {
	was, is := *p.at(before), *p.at(after)
	here := at.field(p.json, p.words)
	switch {
	case was == nil && is == nil:
	case was == nil:
		c.added(here, p.shape.form(c.after, is), "")
	case is == nil:
		c.removed(here, p.shape.form(c.before, was), "")
	default:
		p.shape.compare(c, place{here.path, at.words}, was, is)
	}
}

func (p *part[T, E]) merge(m *merger, at place, v versions[T], out *T) {
	inner := versions[E]{ours: *p.at(v.ours), theirs: *p.at(v.theirs)}
	if v.base != nil {
		inner.base = *p.at(v.base)
	}
	if inner.ours == nil || inner.theirs == nil {
		return // both, see oneOf
	}
	p.shape.merge(m, place{at.under(p.json), at.words}, inner, *p.at(out))
}

// oneOf is a member of which an object has one of several parts. Which one it has changes
// as a whole.
type oneOf[T any] struct {
	shape[T]  // the parts
	sameParts func(a, b *T) bool
	set       func(to, from *T) // copies the pointers to the parts
	brief     briefFunc[T]
}

func (o oneOf[T]) merge(m *merger, at place, v versions[T], out *T) {
	if o.sameParts(v.ours, v.theirs) && (v.base == nil || o.sameParts(v.ours, v.base)) {
		o.shape.merge(m, at, v, out)
		return
	}
	here := at.field("type", "type")
	form := func(f *guidon.Flag, t *T) ([]byte, string) { return o.form(f, t), o.brief(f, t) }
	if decide(m, here, v, o.same, form) == Theirs {
		o.set(out, v.theirs)
		o.own(out)
	}
}
