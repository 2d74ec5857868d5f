package cache

import "sync"

// watches notifies subscribers of changes. Keys without subscribers cost nothing.
type watches struct {
	mu    sync.Mutex
	byKey map[string]*watch
}

// watch notifies the subscribers of one namespace.
type watch struct {
	waiting int           // number of subscribers
	changed chan struct{} // closed and replaced at every change
}

// Subscribe returns functions to wait for changes that are made through the cache, or that it
// has loaded: to the namespace, or to the authentications, which decide what its readers may
// see. changed returns a channel that is closed at the next such change. It must be called
// before the state is read: a change after the read then closes the channel, too. The channel
// may also be closed without a change. cancel ends the subscription and must be called once.
// The namespace need not exist. Subscribe and changed are safe for concurrent use.
//
// A [Shared] cache queries its source at every [Shared.Refresh] while there are subscribers.
func (w *watches) Subscribe(namespace string) (changed func() <-chan struct{}, cancel func()) {
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

// wake notifies the subscribers of the namespace that it may have changed.
func (w *watches) wake(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.byKey[namespace]; one != nil {
		one.wake()
	}
}

// wakeAll notifies all subscribers: the data that they may see may have changed.
func (w *watches) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.byKey {
		one.wake()
	}
}

// wake notifies the subscribers. The mu of the watches must be held.
func (w *watch) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// keys returns the namespaces that have subscribers.
func (w *watches) keys() map[string]struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := make(map[string]struct{}, len(w.byKey))
	for key := range w.byKey {
		keys[key] = struct{}{}
	}
	return keys
}

// any reports whether there are subscribers.
func (w *watches) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byKey) > 0
}
