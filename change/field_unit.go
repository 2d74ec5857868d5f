package change

import "github.com/guidonhq/guidon"

// unit are values that are valid together only. They are compared one by one, but if the
// sides of a merge do not agree about the values on which the others depend, all of them come
// from one side.
type unit[T any] struct {
	json   string // of all together, in conflicts
	words  string
	brief  briefFunc[T]
	values shape[T]
	agree  func(a, b *T) bool
}

func (u unit[T]) names() (all []string) {
	for _, v := range u.values {
		all = append(all, v.names()...)
	}
	return all
}

func (u unit[T]) same(s *sides, before, after *T) bool {
	for _, v := range u.values {
		if !v.same(s, before, after) {
			return false
		}
	}
	return true
}

func (u unit[T]) own(t *T) {
	for _, v := range u.values {
		v.own(t)
	}
}

func (u unit[T]) content(f *guidon.Flag, t *T, o *jsonObject) {
	for _, v := range u.values {
		v.content(f, t, o)
	}
}

func (u unit[T]) compare(c *comparer, at place, before, after *T) {
	for _, v := range u.values {
		v.compare(c, at, before, after)
	}
}

func (u unit[T]) merge(m *merger, at place, v versions[T], out *T) {
	if !u.agree(v.ours, v.theirs) {
		here := at.field(u.json, u.words)
		form := func(f *guidon.Flag, t *T) ([]byte, string) { return u.values.content(f, t), u.brief(f, t) }
		if decide(m, here, v, u.same, form) == Ours {
			v.theirs = v.ours
		}
		v.base = v.ours // the rest of the merge uses the values of the chosen side
	}
	for _, member := range u.values {
		member.merge(m, at, v, out)
	}
}
