package server

import (
	"context"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon/handler/diagnostics"
)

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
