package fliptdb

import "cmp"

// stray is a row that belongs to a segment or flag that does not exist. The column for its
// namespace or that for its key may be wrong, so the segment or flag that lacks it may be
// any of the namespace, or one with that key.
type stray struct {
	in   ref
	text string
}

// orphan adds a finding about a row that belongs to nothing, and returns why an object that
// it may belong to is damaged. It returns "" if the operator chose to evaluate as Flipt
// does, without the row.
func (a *assembly) orphan(x row, why string) string {
	if x.problem != "" {
		why = x.problem + "; " + why
	}
	if a.options.IgnoreOrphans {
		a.note(x.name, "not imported, as Flipt does not use it either: %s", why)
		return ""
	}
	a.lose(x.name, why, &a.content.Loss.Orphans)
	return x.name + " may belong to it: " + why
}

// strayOfFlag adds a row that belongs to a flag that does not exist.
func (a *assembly) strayOfFlag(x row, in ref, why string) {
	if text := a.orphan(x, why); text != "" {
		a.flagStrays = append(a.flagStrays, stray{in, text})
	}
}

// suspect damages every owner that may lack one of the rows.
func suspect[T interface{ because(string, ...any) }](owners map[ref]T, strays []stray) {
	namespaces, keys := map[string]bool{}, map[string]bool{}
	for at := range owners {
		namespaces[at.namespace], keys[at.key] = true, true
	}
	var every string // every owner may lack it
	inNamespace, withKey := map[string]string{}, map[string]string{}
	for _, s := range strays {
		if !namespaces[s.in.namespace] && !keys[s.in.key] {
			every = cmp.Or(every, s.text)
		}
		inNamespace[s.in.namespace] = cmp.Or(inNamespace[s.in.namespace], s.text)
		withKey[s.in.key] = cmp.Or(withKey[s.in.key], s.text)
	}
	for at, owner := range owners {
		if text := cmp.Or(every, inNamespace[at.namespace], withKey[at.key]); text != "" {
			owner.because("%s", text)
		}
	}
}
