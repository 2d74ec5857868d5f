package guidon

import "sync"

// Derivation is a value that follows from a snapshot alone and is too expensive
// to be worked out for every request. Derivations are told apart by identity, so
// each is made once and kept, usually in a package variable.
type Derivation[T any] struct{ derive func(*Snapshot) T }

// NewDerivation returns the derivation by derive, which must give the same value
// for the same snapshot.
func NewDerivation[T any](derive func(*Snapshot) T) *Derivation[T] {
	return &Derivation[T]{derive}
}

// Of returns the value for the snapshot. The first call works it out, and those
// that come meanwhile wait for it. The value lives exactly as long as the
// snapshot does, so whatever replaces that has nothing else to invalidate. It may
// be called concurrently. A panic of derive is the panic of every call.
func (d *Derivation[T]) Of(s *Snapshot) T {
	value, known := s.derived.Load(d)
	if !known {
		value, _ = s.derived.LoadOrStore(d, sync.OnceValue(func() T { return d.derive(s) }))
	}
	return value.(func() T)()
}

// FlagDerivation is a [Derivation] of one flag: its value lives exactly as long as
// the flag stays as it is, in all the snapshots that have it.
type FlagDerivation[T any] struct{ derive func(*Flag) T }

// NewFlagDerivation returns the derivation by derive, which must give the same
// value for the same flag.
func NewFlagDerivation[T any](derive func(*Flag) T) *FlagDerivation[T] {
	return &FlagDerivation[T]{derive}
}

// flagDerived is one of the values that have been derived from a flag. There are
// few, so that a list is the fastest way to find one.
type flagDerived struct {
	derivation, value any
	next              *flagDerived
}

// Of returns the value for the flag. The first call works it out; those that come
// meanwhile may do so, too, but only one value is ever kept and returned. It may be
// called concurrently.
func (d *FlagDerivation[T]) Of(f *CompiledFlag) T {
	known := f.derived.Load()
	for at := known; at != nil; at = at.next {
		if at.derivation == any(d) {
			return at.value.(T)
		}
	}
	f.derived.CompareAndSwap(known, &flagDerived{d, d.derive(f.flag), known})
	return d.Of(f) // which finds it, or tries again where something else was derived
}
