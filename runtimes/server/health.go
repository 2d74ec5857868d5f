package server

import (
	"maps"
	"slices"
	"sync"

	"github.com/guidonhq/guidon/handler/diagnostics"
)

// Health is the health of the process, the same over HTTP and gRPC. It has a status for
// the whole process, under the name "", and one for each gRPC service. All services
// share one state, since they share one process. Its methods are safe for concurrent
// use.
type Health struct {
	mu       sync.Mutex
	serving  bool
	stopping bool
	services map[string]struct{}
	changed  chan struct{} // closed and replaced at every change
}

// NewHealth returns a Health that is not serving and has only the service "".
func NewHealth() *Health {
	return &Health{
		services: map[string]struct{}{"": {}},
		changed:  make(chan struct{}),
	}
}

// Status returns the state of the service, or HealthUnknown if it is not registered. It
// can be used as the Health field of [handler.Config].
func (h *Health) Status(service string) diagnostics.HealthStatus {
	status, _ := h.watch(service)
	return status
}

// SetServing sets the state of all services. It has no effect once the stop has started,
// because health must not recover while the process shuts down.
func (h *Health) SetServing(serving bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping || h.serving == serving {
		return
	}
	h.serving = serving
	h.notify()
}

// stop sets the state to not serving for good.
func (h *Health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serving, h.stopping = false, true
	h.notify()
}

// register adds the services.
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
func (h *Health) watch(service string) (diagnostics.HealthStatus, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.services[service]; !known {
		return diagnostics.HealthUnknown, h.changed
	}
	if !h.serving {
		return diagnostics.HealthNotServing, h.changed
	}
	return diagnostics.HealthServing, h.changed
}

// names returns the registered services, sorted.
func (h *Health) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.services))
}

// notify wakes the watchers. h.mu must be held.
func (h *Health) notify() {
	close(h.changed)
	h.changed = make(chan struct{})
}
