package cache

import "sync"

// watches wake those who wait for changes. What nobody waits for costs nothing.
type watches struct {
	mu    sync.Mutex
	byKey map[string]*watch
}

// watch is who waits for changes of one namespace.
type watch struct {
	waiting int           // how many
	changed chan struct{} // closed, and replaced, at every change
}

// subscribe returns how to wait for changes of the namespace. changed returns a
// channel that is closed at the next one; it is called before the state is looked
// at, so that none is missed in between. cancel is called once, at the end.
func (w *watches) subscribe(namespace string) (changed func() <-chan struct{}, cancel func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.byKey[namespace]
	if one == nil {
		one = &watch{changed: make(chan struct{})}
		if w.byKey == nil {
			w.byKey = make(map[string]*watch)
		}
		w.byKey[namespace] = one
	}
	one.waiting++
	changed = func() <-chan struct{} {
		w.mu.Lock()
		defer w.mu.Unlock()
		return one.changed
	}
	cancel = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if one.waiting--; one.waiting == 0 {
			delete(w.byKey, namespace)
		}
	}
	return changed, cancel
}

// wake tells those who wait for the namespace that it may have changed.
func (w *watches) wake(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.byKey[namespace]; one != nil {
		one.wake()
	}
}

// wakeAll tells everybody: what they may see may have changed.
func (w *watches) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.byKey {
		one.wake()
	}
}

// wake is called with the lock held.
func (w *watch) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// keys returns the namespaces that somebody waits for.
func (w *watches) keys() map[string]struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := make(map[string]struct{}, len(w.byKey))
	for key := range w.byKey {
		keys[key] = struct{}{}
	}
	return keys
}

// any tells whether anybody waits.
func (w *watches) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byKey) > 0
}

// Subscribe returns how to learn that the namespace may have changed, or what its
// readers may see, because the authentications have: all that is written through
// the cache. changed returns a channel that is closed at the next such moment, and
// is to be called before looking at the state: what comes after the look closes
// it, too. There may be no change behind it. cancel ends the interest; it must be
// called, once. The namespace need not exist. It may be called concurrently, and
// so may changed.
func (c *Cache) Subscribe(namespace string) (changed func() <-chan struct{}, cancel func()) {
	return c.watches.subscribe(namespace)
}

// Subscribe is [Cache.Subscribe] for what others write as well: the channel is
// closed when the cache has loaded the new state, or something was written through
// it. As long as anybody is subscribed every [Shared.Refresh] asks.
func (s *Shared) Subscribe(namespace string) (changed func() <-chan struct{}, cancel func()) {
	return s.revisions.watches.subscribe(namespace)
}
