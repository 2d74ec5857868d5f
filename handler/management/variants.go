package management

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// CreateVariant creates a variant.
func CreateVariant(ctx context.Context, s *service.Service, w service.Write, m *flipt.CreateVariantRequest) (*flipt.Variant, int64, error) {
	v, revision, err := s.CreateVariant(ctx, w, m.GetNamespaceKey(), service.VariantInput{
		FlagKey: m.GetFlagKey(), Key: m.GetKey(), Name: m.GetName(),
		Description: m.GetDescription(), Attachment: m.GetAttachment(),
	})
	return convert.Changed(v, revision, err, wireVariant(convert.NamespaceOf(m), m.GetFlagKey()))
}

// UpdateVariant updates a variant.
func UpdateVariant(ctx context.Context, s *service.Service, w service.Write, m *flipt.UpdateVariantRequest) (*flipt.Variant, int64, error) {
	v, revision, err := s.UpdateVariant(ctx, w, m.GetNamespaceKey(), service.VariantInput{
		ID: m.GetId(), FlagKey: m.GetFlagKey(), Key: m.GetKey(), Name: m.GetName(),
		Description: m.GetDescription(), Attachment: m.GetAttachment(),
	})
	return convert.Changed(v, revision, err, wireVariant(convert.NamespaceOf(m), m.GetFlagKey()))
}

// DeleteVariant deletes a variant.
func DeleteVariant(ctx context.Context, s *service.Service, w service.Write, m *flipt.DeleteVariantRequest) (*emptypb.Empty, int64, error) {
	return convert.Done(s.DeleteVariant(ctx, w, m.GetNamespaceKey(), m.GetFlagKey(), m.GetId()))
}

func wireVariant(namespace, flagKey string) func(*guidon.Variant) *flipt.Variant {
	return func(v *guidon.Variant) *flipt.Variant {
		return &flipt.Variant{
			Id: v.ID, FlagKey: flagKey, Key: v.Key, Name: v.Name, Description: v.Description,
			CreatedAt: convert.Timestamp(v.CreatedAt), UpdatedAt: convert.Timestamp(v.UpdatedAt),
			Attachment: v.Attachment, NamespaceKey: namespace,
		}
	}
}
