package service

import (
	"slices"

	"github.com/guidonhq/guidon"
)

// AuthenticationDelta is the difference between two revisions of the authentications.
type AuthenticationDelta struct {
	Revision guidon.Revision
	Changed  []*Authentication // each id once
	Created  []*Authentication // in creation order; all of them follow the existing ones
	Deleted  []string          // ids; an id that is also in Created was created again
}

// Size returns the number of authentications that the delta changes, creates or
// deletes.
func (d AuthenticationDelta) Size() int { return len(d.Changed) + len(d.Created) + len(d.Deleted) }

// Apply returns the set after the deltas, each of which must start at the revision
// that the previous one ends at. s does not change. Changed or deleted ids that s
// does not contain are ignored.
func (s *AuthenticationSet) Apply(deltas ...AuthenticationDelta) *AuthenticationSet {
	if len(deltas) == 0 {
		return s
	}
	ordered := slices.Clone(s.ordered)
	indexes := make(map[string]int, len(ordered))
	for i, a := range ordered {
		indexes[a.ID] = i
	}
	for _, d := range deltas {
		for _, id := range d.Deleted {
			if i, found := indexes[id]; found {
				ordered[i] = nil
				delete(indexes, id)
			}
		}
		for _, a := range d.Changed {
			if i, found := indexes[a.ID]; found {
				ordered[i] = a
			}
		}
		for _, a := range d.Created {
			indexes[a.ID] = len(ordered)
			ordered = append(ordered, a)
		}
	}
	ordered = slices.DeleteFunc(ordered, func(a *Authentication) bool { return a == nil })
	return NewAuthenticationSet(deltas[len(deltas)-1].Revision, ordered)
}
