package guidon

import "sync"

// Derivation is a value that is computed from a snapshot alone and is too expensive
// to compute for every request. Derivations are distinguished by identity, so each
// should be created once, usually in a package variable.
type Derivation[T any] struct{ derive func(*Snapshot) T }

// NewDerivation returns the derivation that derive computes. derive must always return
// the same value for the same snapshot.
func NewDerivation[T any](derive func(*Snapshot) T) *Derivation[T] {
	return &Derivation[T]{derive}
}

// Of returns the value for the snapshot. The first call computes it and concurrent
// calls wait for it. The value lives exactly as long as the snapshot, so it never needs
// to be invalidated. Of is safe for concurrent use. If derive panics, every call for
// the snapshot panics with the same value.
func (d *Derivation[T]) Of(s *Snapshot) T {
	value, known := s.derived.Load(d)
	if !known {
		value, _ = s.derived.LoadOrStore(d, sync.OnceValue(func() T { return d.derive(s) }))
	}
	return value.(func() T)()
}

// FlagDerivation is a [Derivation] of one flag. Its value lives as long as the
// [CompiledFlag] does, and is shared by all snapshots that share that.
type FlagDerivation[T any] struct {
	derive   func(*CompiledFlag) T
	identity *byte // of its own
}

// NewFlagDerivation returns the derivation that derive computes. derive must always
// return the same value for the same flag.
func NewFlagDerivation[T any](derive func(*Flag) T) *FlagDerivation[T] {
	return NewCompiledDerivation(func(f *CompiledFlag) T { return derive(f.flag) })
}

// NewCompiledDerivation is NewFlagDerivation for a value that also depends on the segments
// that the flag refers to.
func NewCompiledDerivation[T any](derive func(*CompiledFlag) T) *FlagDerivation[T] {
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
