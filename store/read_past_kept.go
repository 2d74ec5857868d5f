package store

import (
	"slices"
	"sync"
	"weak"

	"github.com/guidonhq/guidon"
)

// Limits of the earlier states that are kept.
const (
	maxKeptStates     = 4       // of a namespace
	maxKeptNamespaces = 8       // that have any
	maxKeptSize       = 1 << 20 // of the changed objects of a state, in bytes
)

// keptState is an earlier state of a namespace.
type keptState struct {
	snapshot *guidon.Snapshot
	size     int64 // of the changed objects, in bytes
}

// keptStates are the earlier states that were last computed from one current state. They
// live no longer than that.
type keptStates struct {
	mu     sync.Mutex
	states []keptState
}

var keptStatesOf = guidon.NewDerivation(func(*guidon.Snapshot) *keptStates { return &keptStates{} })

// at returns the state of the revision, and whether it is kept.
func (k *keptStates) at(revision guidon.Revision) (keptState, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.states, func(s keptState) bool { return s.snapshot.Revision() == revision })
	if i < 0 {
		return keptState{}, false
	}
	return k.states[i], true
}

// keeper limits how many namespaces have kept states.
type keeper struct {
	mu     sync.Mutex
	recent []weak.Pointer[keptStates] // the one that a state was added to last is the last
}

// keep adds an earlier state to those of the current one, unless it is too large.
func (r *keeper) keep(current *guidon.Snapshot, s keptState) {
	if s.size > maxKeptSize {
		return
	}
	k := keptStatesOf.Of(current)
	k.mu.Lock()
	k.states = append(k.states[max(0, len(k.states)+1-maxKeptStates):], s)
	k.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	this := weak.Make(k)
	r.recent = slices.DeleteFunc(r.recent, func(p weak.Pointer[keptStates]) bool { return p == this || p.Value() == nil })
	if r.recent = append(r.recent, this); len(r.recent) <= maxKeptNamespaces {
		return
	}
	if oldest := r.recent[0].Value(); oldest != nil {
		oldest.mu.Lock()
		oldest.states = nil
		oldest.mu.Unlock()
	}
	r.recent = slices.Delete(r.recent, 0, 1)
}
