package guidon

import "slices"

// AuthenticationDelta is what changed between two revisions of the authentications.
type AuthenticationDelta struct {
	Revision Revision
	Changed  []*Authentication // each id once
	Created  []*Authentication // in creation order, after all that existed before
	Deleted  []string          // ids; one that is in Created too was created again
}

// Size returns how many authentications the delta holds or deletes.
func (d AuthenticationDelta) Size() int { return len(d.Changed) + len(d.Created) + len(d.Deleted) }

// Apply returns the set after the changes, each of which begins where the one
// before it ends. s stays as it is. An id to be changed or deleted that s does not
// hold is ignored.
func (s *AuthenticationSet) Apply(deltas ...AuthenticationDelta) *AuthenticationSet {
	if len(deltas) == 0 {
		return s
	}
	ordered := slices.Clone(s.ordered)
	places := make(map[string]int, len(ordered))
	for i, a := range ordered {
		places[a.ID] = i
	}
	for _, d := range deltas {
		for _, id := range d.Deleted {
			if i, found := places[id]; found {
				ordered[i] = nil
				delete(places, id)
			}
		}
		for _, a := range d.Changed {
			if i, found := places[a.ID]; found {
				ordered[i] = a
			}
		}
		for _, a := range d.Created {
			places[a.ID] = len(ordered)
			ordered = append(ordered, a)
		}
	}
	ordered = slices.DeleteFunc(ordered, func(a *Authentication) bool { return a == nil })
	return NewAuthenticationSet(deltas[len(deltas)-1].Revision, ordered)
}
