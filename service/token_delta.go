package service

import (
	"maps"
	"slices"
	"sync"

	"github.com/guidonhq/guidon"
)

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

// maxSince limits the changes that a set keeps beside a whole one. Every Apply copies
// them; if they become more, it builds a whole set. With 20,000 authentications a larger
// limit saves little time.
const maxSince = 256

// Apply returns the set after the deltas, each of which must start at the revision
// that the previous one ends at. Neither s nor the deltas change. Changed or deleted ids
// that s does not contain are ignored.
func (s *AuthenticationSet) Apply(deltas ...AuthenticationDelta) *AuthenticationSet {
	if len(deltas) == 0 {
		return s
	}
	prepared, size := make([]AuthenticationDelta, len(deltas)), s.size
	for i, d := range deltas {
		prepared[i] = d.prepare()
		size += d.Size()
	}
	if size > maxSince {
		return newAuthenticationSet(deltas[len(deltas)-1].Revision, applyInOrder(s.ordered(), prepared), bindingsAfter(s.bindings, prepared))
	}
	next := s.successor()
	for _, d := range prepared {
		next.add(d)
	}
	return next
}

// successor returns a copy of s that can be modified.
func (s *AuthenticationSet) successor() *AuthenticationSet {
	next := &AuthenticationSet{revision: s.revision, base: s, bindings: s.bindings}
	if s.base != nil {
		next.base, next.since, next.size = s.base, slices.Clip(s.since), s.size
		next.byID, next.byHash = maps.Clone(s.byID), maps.Clone(s.byHash)
	} else {
		next.byID, next.byHash = map[string]*Authentication{}, map[string]*Authentication{}
	}
	next.ordered = sync.OnceValue(func() []*Authentication { return applyInOrder(next.base.ordered(), next.since) })
	next.byHandle = sync.OnceValue(next.indexByHandle)
	return next
}

// prepare returns the delta with authentications that are ready for use in sets. It
// copies them, because several goroutines may apply the same delta.
func (d AuthenticationDelta) prepare() AuthenticationDelta {
	d.Changed, d.Created = prepareAll(d.Changed), prepareAll(d.Created)
	return d
}

func prepareAll(all []*Authentication) []*Authentication {
	prepared := make([]*Authentication, len(all))
	for i, a := range all {
		b := *a
		b.actorID = b.Actor().ID
		prepared[i] = &b
	}
	return prepared
}

// add applies a delta to s, which must not be in use yet. All entries of the old state
// are hidden before the new ones are added, because a hash may have passed from one
// authentication to another.
func (s *AuthenticationSet) add(d AuthenticationDelta) {
	for _, id := range d.Deleted {
		s.hide(id)
	}
	changed := slices.DeleteFunc(slices.Clone(d.Changed), func(a *Authentication) bool { return s.ByID(a.ID) == nil })
	for _, a := range changed {
		s.hide(a.ID)
	}
	for _, a := range slices.Concat(changed, d.Created) {
		s.byID[a.ID], s.byHash[a.TokenHash] = a, a
	}
	s.revision, s.bindings = d.Revision, bindingsAfter(s.bindings, []AuthenticationDelta{d})
	if d.Size() == 0 {
		return
	}
	d.Bindings = nil // all sets that follow would keep these, though they have later ones
	s.since, s.size = append(s.since, d), s.size+d.Size()
}

// bindingsAfter returns the bindings after the deltas.
func bindingsAfter(b *Bindings, deltas []AuthenticationDelta) *Bindings {
	for _, d := range deltas {
		if d.Bindings != nil {
			b = d.Bindings
		}
	}
	return b
}

// hide removes the authentication with the id, if there is one.
func (s *AuthenticationSet) hide(id string) {
	if a := s.ByID(id); a != nil {
		s.byID[id], s.byHash[a.TokenHash] = nil, nil
	}
}

// applyInOrder returns the authentications after the deltas, in creation order.
func applyInOrder(base []*Authentication, deltas []AuthenticationDelta) []*Authentication {
	ordered := slices.Clone(base)
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
	return slices.DeleteFunc(ordered, func(a *Authentication) bool { return a == nil })
}
