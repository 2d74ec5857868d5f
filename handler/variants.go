package handler

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

func (h *Handler) createVariant(ctx context.Context, m *flipt.CreateVariantRequest) (*flipt.Variant, error) {
	v, err := h.service.CreateVariant(ctx, m.GetNamespaceKey(), service.VariantInput{
		FlagKey: m.GetFlagKey(), Key: m.GetKey(), Name: m.GetName(),
		Description: m.GetDescription(), Attachment: m.GetAttachment(),
	})
	return answer(v, err, wireVariant(namespaceOf(m), m.GetFlagKey()))
}

func (h *Handler) updateVariant(ctx context.Context, m *flipt.UpdateVariantRequest) (*flipt.Variant, error) {
	v, err := h.service.UpdateVariant(ctx, m.GetNamespaceKey(), service.VariantInput{
		ID: m.GetId(), FlagKey: m.GetFlagKey(), Key: m.GetKey(), Name: m.GetName(),
		Description: m.GetDescription(), Attachment: m.GetAttachment(),
	})
	return answer(v, err, wireVariant(namespaceOf(m), m.GetFlagKey()))
}

func (h *Handler) deleteVariant(ctx context.Context, m *flipt.DeleteVariantRequest) (*emptypb.Empty, error) {
	return done(h.service.DeleteVariant(ctx, m.GetNamespaceKey(), m.GetFlagKey(), m.GetId()))
}

func wireVariant(namespace, flagKey string) func(*guidon.Variant) *flipt.Variant {
	return func(v *guidon.Variant) *flipt.Variant {
		return &flipt.Variant{
			Id: v.ID, FlagKey: flagKey, Key: v.Key, Name: v.Name, Description: v.Description,
			CreatedAt: timestamp(v.CreatedAt), UpdatedAt: timestamp(v.UpdatedAt),
			Attachment: v.Attachment, NamespaceKey: namespace,
		}
	}
}
