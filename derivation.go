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
