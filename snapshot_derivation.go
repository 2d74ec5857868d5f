package guidon

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Derivation is a value that is computed from a snapshot alone and is too expensive
// to compute for every request. Derivations are distinguished by identity, so each
// should be created once, usually in a package variable.
type Derivation[T any] struct {
	derive     func(*Snapshot) T
	update     func(before T, changes []FlagChange) T // or nil
	ofSegments bool                                   // it depends on the segments alone
}

// NewDerivation returns the derivation that derive computes. derive must always return
// the same value for the same snapshot.
func NewDerivation[T any](derive func(*Snapshot) T) *Derivation[T] {
	return &Derivation[T]{derive: derive}
}

// NewFlagsDerivation returns a derivation of the flags of a snapshot. update computes
// the value from that of an earlier snapshot and the flags that differ, each once. The
// value for no flags is empty. update must not modify the earlier value.
func NewFlagsDerivation[T any](empty T, update func(before T, changes []FlagChange) T) *Derivation[T] {
	return &Derivation[T]{
		derive: func(s *Snapshot) T {
			all := make([]FlagChange, 0, s.flags.Len())
			for f := range s.flags.All() {
				all = append(all, FlagChange{After: f})
			}
			return update(empty, all)
		},
		update: update,
	}
}

// NewSegmentsDerivation returns the derivation that derive computes from the segments, in
// creation order. Successive snapshots share the value until a segment changes.
func NewSegmentsDerivation[T any](derive func(segments []*Segment) T) *Derivation[T] {
	return &Derivation[T]{derive: func(s *Snapshot) T { return derive(s.Segments()) }, ofSegments: true}
}

// Of returns the value for the snapshot. The first call computes it and concurrent
// calls wait for it. The value lives as long as the snapshot, so it never needs to be
// invalidated; that of [NewFlagsDerivation] until the value of a later snapshot is
// computed, or many flags have changed. Of is safe for concurrent use. If derive panics,
// every call for the snapshot panics with the same value.
func (d *Derivation[T]) Of(s *Snapshot) T {
	value, known := s.derived.Load(d)
	if !known {
		value, _ = s.derived.LoadOrStore(d, newDerivedValue(d, nil, func() T { return d.compute(s) }))
	}
	return value.(*derivedValue[T]).get()
}

// compute computes the value, from that of the base if there is one, which is shared with the
// next snapshots and other epochs.
func (d *Derivation[T]) compute(s *Snapshot) T {
	switch {
	case s.base != nil && d.ofSegments:
		return d.Of(s.base)
	case s.base != nil && d.update != nil:
		return d.update(d.Of(s.base), s.sinceBase)
	}
	return d.derive(s)
}

// derivedValue is the value of a derivation for one snapshot.
type derivedValue[T any] struct {
	derivation *Derivation[T]
	get        func() T // computes it at the first call
	origin     atomic.Pointer[origin[T]]
}

// origin is the value from which that of a later snapshot can be computed.
type origin[T any] struct {
	value   T
	changes *changeList // since the snapshot of the value
}

func newDerivedValue[T any](d *Derivation[T], from *origin[T], compute func() T) *derivedValue[T] {
	v := &derivedValue[T]{derivation: d}
	v.origin.Store(from)
	v.get = sync.OnceValue(func() T {
		value := compute()
		v.origin.Store(&origin[T]{value: value})
		return value
	})
	return v
}

// maxCarried is the part of the flags of which so many changes may be carried along with
// an earlier value. With more of them, the value is computed from nothing: they take memory,
// and time when they are applied.
const maxCarried = 32

// carryTo lets the next snapshot compute its values from those of s.
func (s *Snapshot) carryTo(next *Snapshot, changes []FlagChange, segmentsChanged bool) {
	most := next.flags.Len() / maxCarried
	s.derived.Range(func(derivation, value any) bool {
		if after := value.(carrier).carry(changes, segmentsChanged, most); after != nil {
			next.derived.Store(derivation, after)
		}
		return true
	})
}

// carrier is a *derivedValue of any type.
type carrier interface {
	// carry returns the value for the next snapshot, or nil if that must be computed from
	// nothing. At most so many changes are carried along.
	carry(changes []FlagChange, segmentsChanged bool, most int) any
}

func (v *derivedValue[T]) carry(changes []FlagChange, segmentsChanged bool, most int) any {
	if v.derivation.ofSegments && !segmentsChanged {
		return v
	}
	from := v.origin.Load()
	if v.derivation.update == nil || from == nil {
		return nil
	}
	since := from.changes.and(changes)
	if since.size() > most {
		return nil
	}
	next := &origin[T]{from.value, since}
	return newDerivedValue(v.derivation, next, func() T { return v.derivation.update(next.value, next.changes.net()) })
}

// changeList is the changes of several snapshots in a row.
type changeList struct {
	earlier *changeList // or nil
	changes []FlagChange
	length  int // with those of earlier
}

func (l *changeList) size() int {
	if l == nil {
		return 0
	}
	return l.length
}

// and returns the list with further changes.
func (l *changeList) and(changes []FlagChange) *changeList {
	if len(changes) == 0 {
		return l
	}
	return &changeList{l, changes, l.size() + len(changes)}
}

// net returns the changes from the first to the last snapshot, each flag once.
func (l *changeList) net() []FlagChange {
	byKey := make(map[string]FlagChange, l.size())
	for ; l != nil; l = l.earlier {
		for _, c := range l.changes {
			key := c.key()
			if later, found := byKey[key]; found {
				c.After = later.After
			}
			byKey[key] = c
		}
	}
	maps.DeleteFunc(byKey, func(_ string, c FlagChange) bool { return c == (FlagChange{}) })
	return slices.Collect(maps.Values(byKey))
}

func (c FlagChange) key() string {
	if c.Before != nil {
		return c.Before.key
	}
	return c.After.key
}

// FlagDerivation is a [Derivation] of one flag. Its value lives as long as the
// [CompiledFlag] does, and is shared by all snapshots that share that.
type FlagDerivation[T any] struct {
	derive   func(*CompiledFlag) T
	identity *byte // of its own
}

// NewFlagDerivation returns the derivation that derive computes from the flag, the segments
// that it refers to, and the flags that it requires. derive must always return the same value
// for them.
func NewFlagDerivation[T any](derive func(*CompiledFlag) T) *FlagDerivation[T] {
	return &FlagDerivation[T]{derive, new(byte)}
}

// flagDerived is a value derived from a flag, in a linked list. There are few per
// flag, so a list is faster than a map.
type flagDerived struct {
	derivation *byte // its identity
	value      any
	next       *flagDerived
}

// Of returns the value for the flag. The first call computes it. Concurrent calls may
// compute it as well, but all return the one value that is kept. Of is safe for
// concurrent use.
func (d *FlagDerivation[T]) Of(f *CompiledFlag) T {
	known := f.derived.Load()
	for at := known; at != nil; at = at.next {
		if at.derivation == d.identity {
			return at.value.(T)
		}
	}
	f.derived.CompareAndSwap(known, &flagDerived{d.identity, d.derive(f), known})
	return d.Of(f) // finds it, or tries again if another derivation was added first
}
