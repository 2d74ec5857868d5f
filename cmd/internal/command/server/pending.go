package server

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// maxPendingKeys is how many keys are tracked individually; beyond that, all keys
// count as changed.
const maxPendingKeys = 100

// pendingKeys collects the keys that have changed and have not been processed yet.
// Several changes of one key count once. It is safe for concurrent use.
type pendingKeys struct {
	mu    sync.Mutex
	keys  map[string]bool
	all   bool
	ready chan struct{} // has one element if keys may be pending
}

func newPendingKeys() *pendingKeys {
	return &pendingKeys{keys: map[string]bool{}, ready: make(chan struct{}, 1)}
}

// add adds a key. The empty key stands for all keys.
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

// batches yields the pending keys as they arrive, until done is closed. An empty batch
// stands for all keys.
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

// take removes and returns the pending keys, none for all keys. ok is false if nothing
// is pending: keys added between a signal and its take leave another signal.
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
