package handler

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

func (h *Handler) listNamespaces(ctx context.Context, m *flipt.ListNamespaceRequest, request *Request) (Response, error) {
	requested := pageOf(m)
	namespaces, page, err := h.service.ListNamespaces(ctx, requested)
	if err != nil {
		return Response{}, err
	}
	list := listing[*guidon.Namespace, *flipt.Namespace]{field: "namespaces", items: namespaces, page: page, convert: wireNamespace}
	list.cut(requested, func(n *guidon.Namespace) string { return n.Key }, namespaceWeight)
	return list.answer(h, request, func(namespaces []*flipt.Namespace) proto.Message {
		return &flipt.NamespaceList{Namespaces: namespaces, NextPageToken: list.page.NextToken, TotalCount: count(page.Total)}
	}), nil
}

func (h *Handler) createNamespace(ctx context.Context, m *flipt.CreateNamespaceRequest) (*flipt.Namespace, error) {
	n, err := h.service.CreateNamespace(ctx, service.NamespaceInput{Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription()})
	return answer(n, err, wireNamespace)
}

func (h *Handler) getNamespace(ctx context.Context, m *flipt.GetNamespaceRequest) (*flipt.Namespace, error) {
	n, err := h.service.GetNamespace(ctx, m.GetKey())
	return answer(n, err, wireNamespace)
}

func (h *Handler) updateNamespace(ctx context.Context, m *flipt.UpdateNamespaceRequest) (*flipt.Namespace, error) {
	n, err := h.service.UpdateNamespace(ctx, service.NamespaceInput{Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription()})
	return answer(n, err, wireNamespace)
}

func (h *Handler) deleteNamespace(ctx context.Context, m *flipt.DeleteNamespaceRequest) (*emptypb.Empty, error) {
	return done(h.service.DeleteNamespace(ctx, m.GetKey(), m.GetForce()))
}

func wireNamespace(n *guidon.Namespace) *flipt.Namespace {
	return &flipt.Namespace{
		Key: n.Key, Name: n.Name, Description: n.Description, Protected: n.Protected,
		CreatedAt: timestamp(n.CreatedAt), UpdatedAt: timestamp(n.UpdatedAt),
	}
}
