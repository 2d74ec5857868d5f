package change

import "github.com/guidonhq/guidon"

// unit are values that are valid together only. They are compared one by one, but if the
// sides of a merge do not agree about the values on which the others depend, all of them come
// from one side.
type unit[T any] struct {
	shape[T]
	json  string // of all together, in conflicts
	words string
	brief briefFunc[T]
	agree func(a, b *T) bool
}

func (u unit[T]) merge(m *merger, at place, v versions[T], out *T) {
	if !u.agree(v.ours, v.theirs) {
		here := at.field(u.json, u.words)
		form := func(f *guidon.Flag, t *T) ([]byte, string) { return u.form(f, t), u.brief(f, t) }
		if decide(m, here, v, u.same, form) == Ours {
			v.theirs = v.ours
		}
		v.base = v.ours // the rest of the merge uses the values of the chosen side
	}
	u.shape.merge(m, at, v, out)
}
