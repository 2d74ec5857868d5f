package server

import (
	"context"
	"maps"
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

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

// healthService implements grpc.health.v1.Health with the shared [Health]. It replaces
// the implementation of grpc-go because watchers must both see the last change and end
// when the server drains. A watch never ends by itself, so a graceful stop would wait
// for it until the timeout.
type healthService struct {
	healthpb.UnimplementedHealthServer
	health   *Health
	draining <-chan struct{}
}

// Check returns the state of one service, or NotFound if it is unknown (contract 12.6).
func (s *healthService) Check(_ context.Context, request *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	state := wireStatus(s.health.Status(request.GetService()))
	if state == healthpb.HealthCheckResponse_SERVICE_UNKNOWN {
		return nil, status.Error(codes.NotFound, "unknown service")
	}
	return &healthpb.HealthCheckResponse{Status: state}, nil
}

// List returns the state of every service.
func (s *healthService) List(context.Context, *healthpb.HealthListRequest) (*healthpb.HealthListResponse, error) {
	list := &healthpb.HealthListResponse{Statuses: map[string]*healthpb.HealthCheckResponse{}}
	for _, name := range s.health.names() {
		list.Statuses[name] = &healthpb.HealthCheckResponse{Status: wireStatus(s.health.Status(name))}
	}
	return list, nil
}

// Watch sends the state of one service immediately and at every change. As the protocol
// requires, an unknown service is a state, not an error.
func (s *healthService) Watch(request *healthpb.HealthCheckRequest, stream healthpb.Health_WatchServer) error {
	draining := s.draining
	ending := false
	last := healthpb.HealthCheckResponse_ServingStatus(-1)
	for {
		current, changed := s.health.watch(request.GetService())
		if state := wireStatus(current); state != last {
			last = state
			if err := stream.Send(&healthpb.HealthCheckResponse{Status: state}); err != nil {
				return err
			}
		}
		if ending {
			return status.Error(codes.Unavailable, "the server is stopping")
		}
		select {
		case <-changed:
		case <-draining:
			ending = true // one more round: the last change may not have been sent yet
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		}
	}
}

func wireStatus(s diagnostics.HealthStatus) healthpb.HealthCheckResponse_ServingStatus {
	switch s {
	case diagnostics.HealthServing:
		return healthpb.HealthCheckResponse_SERVING
	case diagnostics.HealthNotServing:
		return healthpb.HealthCheckResponse_NOT_SERVING
	}
	return healthpb.HealthCheckResponse_SERVICE_UNKNOWN
}
