package auth

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// ListBindings returns the bindings of the configuration and those of the database.
func ListBindings(ctx context.Context, s *service.Service, c *call.Call, _ *emptypb.Empty) (*guidonv1.ListBindingsResponse, error) {
	all, err := s.ListBindings(ctx, c.Demand)
	if err != nil {
		return nil, err
	}
	return &guidonv1.ListBindingsResponse{Bindings: lists.Map(all, wireBinding)}, nil
}

// CreateBinding gives a role to a subject.
func CreateBinding(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.CreateBindingRequest) (*guidonv1.Binding, error) {
	role, err := service.ParseRole(m.GetRole())
	if err != nil {
		return nil, err
	}
	b, err := s.CreateBinding(ctx, w, role, m.GetSubject(), m.GetNamespaceKeys())
	return convert.Result(b, err, wireBinding)
}

// DeleteBinding deletes a binding of the database.
func DeleteBinding(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.DeleteBindingRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.DeleteBinding(ctx, w, m.GetId())
}

// DeleteAuthentications ends all sessions and tokens of a subject.
func DeleteAuthentications(
	ctx context.Context, s *service.Service, w service.Write, m *guidonv1.DeleteAuthenticationsRequest,
) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.DeleteAuthenticationsOf(ctx, w, m.GetSubject())
}

func wireBinding(b *service.Binding) *guidonv1.Binding {
	return &guidonv1.Binding{
		Id: b.ID, Role: b.Role.String(), Subject: b.Subject, NamespaceKeys: b.Namespaces,
		Source: b.Source, CreatedAt: convert.Timestamp(b.CreatedAt), CreatedBy: b.CreatedBy,
	}
}
