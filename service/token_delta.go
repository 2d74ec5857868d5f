package service

import "github.com/guidonhq/guidon"

// AuthenticationDelta is the difference between two revisions of the authentications.
type AuthenticationDelta struct {
	Revision guidon.Revision
	Changed  []*Authentication // each id once
	Created  []*Authentication // in creation order; all of them follow the existing ones
	Deleted  []string          // ids; an id that is also in Created was created again
	Bindings *Bindings         // all of them, or nil if they are the same
}

// Size returns the number of authentications that the delta changes, creates or
// deletes.
func (d AuthenticationDelta) Size() int { return len(d.Changed) + len(d.Created) + len(d.Deleted) }

// Set returns the set that results from applying the delta to the empty one. It keeps the
// slices and their elements; the caller must not modify them afterwards.
func (d AuthenticationDelta) Set() *AuthenticationSet {
	return newAuthenticationSet(d.Revision, d.Created, d.Bindings)
}

// Apply returns the set after the deltas, each of which must start at the revision
// that the previous one ends at. Neither s nor the deltas change. Changed or deleted ids
// that s does not contain are ignored.
func (s *AuthenticationSet) Apply(deltas ...AuthenticationDelta) *AuthenticationSet {
	if len(deltas) == 0 {
		return s
	}
	ordered, bindings := s.ordered, s.bindings
	for _, d := range deltas {
		if d.Size() > 0 {
			ordered = d.applyTo(ordered)
		}
		if d.Bindings != nil {
			bindings = d.Bindings
		}
	}
	return newAuthenticationSet(deltas[len(deltas)-1].Revision, ordered, bindings)
}

// applyTo returns the authentications after the delta, in creation order. Those of the delta
// are copied, because several goroutines may apply it, and sets prepare them for use.
func (d AuthenticationDelta) applyTo(before []*Authentication) []*Authentication {
	replaced := make(map[string]*Authentication, d.Size())
	for _, a := range d.Changed {
		replaced[a.ID] = new(*a)
	}
	for _, id := range d.Deleted {
		replaced[id] = nil
	}
	after := make([]*Authentication, 0, len(before)+len(d.Created))
	for _, a := range before {
		if b, found := replaced[a.ID]; found {
			a = b
		}
		if a != nil {
			after = append(after, a)
		}
	}
	return append(after, copies(d.Created)...)
}
