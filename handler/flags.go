package handler

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

func (h *Handler) listFlags(ctx context.Context, m *flipt.ListFlagRequest, request *Request) (Response, error) {
	requested := pageOf(m)
	flags, page, err := h.service.ListFlags(ctx, m.GetNamespaceKey(), requested)
	if err != nil {
		return Response{}, err
	}
	list := listing[*guidon.Flag, *flipt.Flag]{field: "flags", items: flags, page: page, convert: wireFlag(m)}
	list.cut(requested, func(f *guidon.Flag) string { return f.Key }, flagWeight(namespaceOf(m)))
	return list.answer(h, request, func(flags []*flipt.Flag) proto.Message {
		return &flipt.FlagList{Flags: flags, NextPageToken: list.page.NextToken, TotalCount: count(page.Total)}
	}), nil
}

func (h *Handler) createFlag(ctx context.Context, m *flipt.CreateFlagRequest) (*flipt.Flag, error) {
	metadata, err := jsonOf("metadata", m.GetMetadata())
	if err != nil {
		return nil, err
	}
	f, err := h.service.CreateFlag(ctx, m.GetNamespaceKey(), service.FlagInput{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(),
		Type: enum[guidon.FlagType](m.GetType()), Enabled: m.GetEnabled(), Metadata: metadata,
	})
	return answer(f, err, wireFlag(m))
}

func (h *Handler) getFlag(ctx context.Context, m *flipt.GetFlagRequest) (*flipt.Flag, error) {
	f, err := h.service.GetFlag(ctx, m.GetNamespaceKey(), m.GetKey())
	return answer(f, err, wireFlag(m))
}

func (h *Handler) updateFlag(ctx context.Context, m *flipt.UpdateFlagRequest) (*flipt.Flag, error) {
	metadata, err := jsonOf("metadata", m.GetMetadata())
	if err != nil {
		return nil, err
	}
	f, err := h.service.UpdateFlag(ctx, m.GetNamespaceKey(), service.FlagInput{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(),
		Enabled: m.GetEnabled(), Metadata: metadata, DefaultVariantID: m.GetDefaultVariantId(),
	})
	return answer(f, err, wireFlag(m))
}

func (h *Handler) deleteFlag(ctx context.Context, m *flipt.DeleteFlagRequest) (*emptypb.Empty, error) {
	return done(h.service.DeleteFlag(ctx, m.GetNamespaceKey(), m.GetKey()))
}

// inNamespace is a request with a namespace key.
type inNamespace interface{ GetNamespaceKey() string }

// namespaceOf returns the namespace of the request: without a key, the default one.
func namespaceOf(m inNamespace) string { return guidon.NamespaceKey(m.GetNamespaceKey()) }

// wireFlag returns a function that converts flags of the request's namespace.
func wireFlag(m inNamespace) func(*guidon.Flag) *flipt.Flag {
	namespace := namespaceOf(m)
	return func(f *guidon.Flag) *flipt.Flag {
		flag := &flipt.Flag{
			Key: f.Key, Name: f.Name, Description: f.Description, Enabled: f.Enabled,
			CreatedAt: timestamp(f.CreatedAt), UpdatedAt: timestamp(f.UpdatedAt),
			Variants:     convertAll(f.Variants, wireVariant(namespace, f.Key)),
			NamespaceKey: namespace, Type: flipt.FlagType(f.Type), Metadata: objectOf(f.Metadata),
		}
		if v := f.DefaultVariant(); v != nil {
			flag.DefaultVariant = wireVariant(namespace, f.Key)(v)
		}
		return flag
	}
}
