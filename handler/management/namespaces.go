package management

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// ListNamespaces lists the namespaces page by page.
func ListNamespaces(
	ctx context.Context, s *service.Service, c *call.Call, m *flipt.ListNamespaceRequest, request *call.Request,
) (call.Response, error) {
	requested := convert.Page(m)
	namespaces, page, err := s.ListNamespaces(ctx, c.Caller, requested)
	if err != nil {
		return call.Response{}, err
	}
	list := listing[*guidon.Namespace, *flipt.Namespace]{field: "namespaces", items: namespaces, page: page, convert: wireNamespace}
	list.cut(requested, func(n *guidon.Namespace) string { return n.Key }, convert.Weight[guidon.Namespace]())
	return list.answer(request, func(namespaces []*flipt.Namespace) proto.Message {
		return &flipt.NamespaceList{Namespaces: namespaces, NextPageToken: list.page.NextToken, TotalCount: convert.Count(page.Total)}
	}), nil
}

// CreateNamespace creates a namespace.
func CreateNamespace(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.CreateNamespaceRequest,
) (*flipt.Namespace, int64, error) {
	n, revision, err := s.CreateNamespace(ctx, w, service.NamespaceInput{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(),
		Color: (*guidon.Color)(&m.Color), ConfirmChanges: &m.ConfirmChanges,
	})
	return convert.Changed(n, revision, err, wireNamespace)
}

// GetNamespace returns a namespace.
func GetNamespace(_ context.Context, v service.View, _ *flipt.GetNamespaceRequest, _ *call.Request) (call.Response, error) {
	return call.Response{Message: wireNamespace(v.Snapshot.Namespace())}, nil
}

// UpdateNamespace updates a namespace.
func UpdateNamespace(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.UpdateNamespaceRequest,
) (*flipt.Namespace, int64, error) {
	n, revision, err := s.UpdateNamespace(ctx, w, service.NamespaceInput{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(),
		Color: (*guidon.Color)(m.Color), ConfirmChanges: m.ConfirmChanges,
	})
	return convert.Changed(n, revision, err, wireNamespace)
}

// DeleteNamespace deletes a namespace.
func DeleteNamespace(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.DeleteNamespaceRequest,
) (*emptypb.Empty, int64, error) {
	return convert.Done(s.DeleteNamespace(ctx, w, m.GetKey(), m.GetForce()))
}

func wireNamespace(n *guidon.Namespace) *flipt.Namespace {
	return &flipt.Namespace{
		Key: n.Key, Name: n.Name, Description: n.Description, Protected: n.Protected,
		CreatedAt: convert.Timestamp(n.CreatedAt), UpdatedAt: convert.Timestamp(n.UpdatedAt),
		Color: string(n.Color), ConfirmChanges: n.ConfirmChanges,
	}
}
