package main

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// maxPendingKeys bounds what is told apart: more is everything.
const maxPendingKeys = 100

// pendingKeys is what has changed and nobody has looked at. Several changes of one thing
// are one.
type pendingKeys struct {
	mu    sync.Mutex
	keys  map[string]bool
	all   bool
	ready chan struct{} // has one element while there is anything
}

func newPendingKeys() *pendingKeys {
	return &pendingKeys{keys: map[string]bool{}, ready: make(chan struct{}, 1)}
}

// add adds what is known by the key; the empty key is everything.
func (p *pendingKeys) add(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[key] = true
	if key == "" || len(p.keys) > maxPendingKeys {
		p.all = true
		clear(p.keys)
	}
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// batches yields the keys of what has changed, none for everything, as it comes,
// until done is closed.
func (p *pendingKeys) batches(done <-chan struct{}) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for {
			select {
			case <-done:
				return
			case <-p.ready:
			}
			if keys, ok := p.take(); ok && !yield(keys) {
				return
			}
		}
	}
}

// take returns the keys, none for everything, and whether there is anything: what
// was added between the sign and the taking of it has left another sign.
func (p *pendingKeys) take() (keys []string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.all {
		keys = slices.Sorted(maps.Keys(p.keys))
	}
	ok = p.all || len(keys) > 0
	clear(p.keys)
	p.all = false
	return keys, ok
}
