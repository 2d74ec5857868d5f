package main

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// maxNews bounds what is told apart: more is everything.
const maxNews = 100

// news is what has changed and nobody has looked at. Several changes of one thing
// are one.
type news struct {
	mu   sync.Mutex
	keys map[string]bool
	all  bool
	some chan struct{} // has one element while there is anything
}

func newNews() *news { return &news{keys: map[string]bool{}, some: make(chan struct{}, 1)} }

// add adds what is known by the key; the empty key is everything.
func (n *news) add(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.keys[key] = true
	if key == "" || len(n.keys) > maxNews {
		n.all = true
		clear(n.keys)
	}
	select {
	case n.some <- struct{}{}:
	default:
	}
}

// until yields the keys of what has changed, none for everything, as it comes,
// until done is closed.
func (n *news) until(done <-chan struct{}) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for {
			select {
			case <-done:
				return
			case <-n.some:
			}
			if keys, any := n.take(); any && !yield(keys) {
				return
			}
		}
	}
}

// take returns the keys, none for everything, and whether there is anything: what
// was added between the sign and the taking of it has left another sign.
func (n *news) take() (keys []string, any bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.all {
		keys = slices.Sorted(maps.Keys(n.keys))
	}
	any = n.all || len(keys) > 0
	clear(n.keys)
	n.all = false
	return keys, any
}
