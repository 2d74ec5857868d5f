package instance

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Watched is a store that logs and counts which flags and segments of the snapshots that it
// returns are unreadable.
type Watched struct {
	service.Store
	logger *slog.Logger
	found  atomic.Bool // something has been unreadable

	mu         sync.Mutex
	namespaces map[string]unreadable // those with something unreadable
}

// unreadable has the unreadable objects of a state of a namespace.
type unreadable struct {
	revision guidon.Revision
	objects  map[guidon.UnreadableKey]error
}

// Watch returns the store with a watch over unreadable objects.
func Watch(store service.Store, logger *slog.Logger) *Watched {
	return &Watched{Store: store, logger: logger, namespaces: map[string]unreadable{}}
}

// Snapshot implements [service.Store].
func (w *Watched) Snapshot(ctx context.Context, namespace string, d service.Demand) (*guidon.Snapshot, time.Duration, error) {
	s, age, err := w.Store.Snapshot(ctx, namespace, d)
	switch {
	case err == nil && (len(s.Unreadable()) > 0 || w.found.Load()):
		w.note(namespace, unreadable{s.Revision(), s.Unreadable()})
	case guidon.CodeOf(err) == guidon.NotFound && w.found.Load():
		w.note(namespace, unreadable{})
	}
	return s, age, err
}

// note records the state of a namespace, and logs the objects that were not unreadable before.
func (w *Watched) note(namespace string, now unreadable) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, known := w.namespaces[namespace]
	switch {
	case known && before.revision == now.revision:
		return
	case len(now.objects) == 0:
		delete(w.namespaces, namespace)
		return
	}
	w.found.Store(true)
	w.namespaces[namespace] = now
	for key, err := range now.objects {
		if before.objects[key] == nil {
			w.logger.Warn("cannot read a "+key.Kind+"; what depends on it fails", "namespace", namespace, "key", key.Key, "error", err)
		}
	}
}

// Count returns how many flags cannot be evaluated, and how many segments cannot be read, in
// the namespaces that have been requested.
func (w *Watched) Count() (flags, segments int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.namespaces {
		for key := range n.objects {
			if key.Kind == "flag" {
				flags++
			} else {
				segments++
			}
		}
	}
	return flags, segments
}
