package server

import (
	"maps"
	"slices"
	"sync"

	"github.com/guidonhq/guidon/handler"
)

// Health is what the process says of its health, the same over HTTP and gRPC:
// as a whole, under the name "", and for each gRPC service. All services share
// one state, since they share one process. Its methods may be called
// concurrently.
type Health struct {
	mu       sync.Mutex
	serving  bool
	stopping bool
	services map[string]struct{}
	changed  chan struct{} // closed and replaced at every change
}

// NewHealth returns a Health that is not serving yet and knows only "".
func NewHealth() *Health {
	return &Health{
		services: map[string]struct{}{"": {}},
		changed:  make(chan struct{}),
	}
}

// Status returns the state of the service, HealthUnknown for one that is not
// served. It fits [handler.Config].
func (h *Health) Status(service string) handler.HealthStatus {
	status, _ := h.watch(service)
	return status
}

// SetServing sets the state of all services. Once the stop has begun it has no
// effect: health never comes back while the process goes away.
func (h *Health) SetServing(serving bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping || h.serving == serving {
		return
	}
	h.serving = serving
	h.notify()
}

// stop turns health off for good.
func (h *Health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serving, h.stopping = false, true
	h.notify()
}

// register makes the services known.
func (h *Health) register(services []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, service := range services {
		h.services[service] = struct{}{}
	}
	h.notify()
}

// watch returns the state of the service and a channel that is closed when it
// may have changed.
func (h *Health) watch(service string) (handler.HealthStatus, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.services[service]; !known {
		return handler.HealthUnknown, h.changed
	}
	if !h.serving {
		return handler.HealthNotServing, h.changed
	}
	return handler.HealthServing, h.changed
}

// names returns the known services in order.
func (h *Health) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.services))
}

// notify wakes the watchers. The caller holds the lock.
func (h *Health) notify() {
	close(h.changed)
	h.changed = make(chan struct{})
}
