package change

import "github.com/guidonhq/guidon"

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
	if inner.ours == nil || inner.theirs == nil { // a unit has decided for theirs, or both are nil
		*p.at(out) = p.shape.clone(inner.theirs)
		return
	}
	p.shape.merge(m, place{at.under(p.json), at.words}, inner, *p.at(out))
}

// unit are members that are valid together only. They are compared one by one, but if the versions
// of a merge do not agree about the values on which the others depend, all of them come from one
// side.
type unit[T any] struct {
	shape[T]
	json  string // of all together, in conflicts
	words string
	brief briefFunc[T]
	agree func(v versions[T]) bool
}

func (u unit[T]) merge(m *merger, at place, v versions[T], out *T) {
	if !u.agree(v) {
		form := func(f *guidon.Flag, t *T) ([]byte, string) { return u.form(f, t), u.brief(f, t) }
		if decide(m, at.field(u.json, u.words), v, u.same, form) == Ours {
			v.theirs = v.ours
		}
		v.base = v.ours // so that all members are those of the chosen side
	}
	u.shape.merge(m, at, v, out)
}
