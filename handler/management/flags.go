package management

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// ListFlags lists the flags of a namespace.
func ListFlags(_ context.Context, v service.View, m *flipt.ListFlagRequest, request *call.Request) (call.Response, error) {
	requested := convert.Page(m)
	flags, page, err := v.Flags(requested)
	if err != nil {
		return call.Response{}, err
	}
	list := listing[*guidon.Flag, *flipt.Flag]{field: "flags", items: flags, page: page, convert: wireFlag(m)}
	unreadable, _ := v.Unreadable()
	list.cut(requested, func(f *guidon.Flag) string { return f.Key }, convert.FlagWeight(convert.NamespaceOf(m)))
	return list.answer(request, func(flags []*flipt.Flag) proto.Message {
		return &flipt.FlagList{
			Flags: flags, NextPageToken: list.page.NextToken, TotalCount: convert.Count(page.Total), UnreadableKeys: unreadable,
		}
	}), nil
}

// CreateFlag creates a flag.
func CreateFlag(ctx context.Context, s *service.Service, w service.Write, m *flipt.CreateFlagRequest) (*flipt.Flag, int64, error) {
	metadata, err := convert.JSON("metadata", m.GetMetadata())
	if err != nil {
		return nil, 0, err
	}
	f, revision, err := s.CreateFlag(ctx, w, m.GetNamespaceKey(), guidon.Flag{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(),
		Type: convert.Enum[guidon.FlagType](m.GetType()), Enabled: m.GetEnabled(), Metadata: metadata,
	})
	return convert.Changed(f, revision, err, wireFlag(m))
}

// GetFlag returns a flag.
func GetFlag(_ context.Context, v service.View, m *flipt.GetFlagRequest) (*flipt.Flag, error) {
	f, err := v.Flag(m.GetKey())
	return convert.Result(f, err, wireFlag(m))
}

// UpdateFlag updates a flag.
func UpdateFlag(ctx context.Context, s *service.Service, w service.Write, m *flipt.UpdateFlagRequest) (*flipt.Flag, int64, error) {
	metadata, err := convert.JSON("metadata", m.GetMetadata())
	if err != nil {
		return nil, 0, err
	}
	f, revision, err := s.UpdateFlag(ctx, w, m.GetNamespaceKey(), guidon.Flag{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(),
		Enabled: m.GetEnabled(), Metadata: metadata, DefaultVariantID: m.GetDefaultVariantId(),
	})
	return convert.Changed(f, revision, err, wireFlag(m))
}

// DeleteFlag deletes a flag.
func DeleteFlag(ctx context.Context, s *service.Service, w service.Write, m *flipt.DeleteFlagRequest) (*emptypb.Empty, int64, error) {
	return convert.Done(s.DeleteFlag(ctx, w, m.GetNamespaceKey(), m.GetKey()))
}

// wireFlag returns a function that converts flags of the request's namespace.
func wireFlag(m convert.InNamespace) func(*guidon.Flag) *flipt.Flag {
	namespace := convert.NamespaceOf(m)
	return func(f *guidon.Flag) *flipt.Flag {
		flag := &flipt.Flag{
			Key: f.Key, Name: f.Name, Description: f.Description, Enabled: f.Enabled,
			CreatedAt: convert.Timestamp(f.CreatedAt), UpdatedAt: convert.Timestamp(f.UpdatedAt),
			Variants:     lists.Map(f.Variants, wireVariant(namespace, f.Key)),
			NamespaceKey: namespace, Type: flipt.FlagType(f.Type), Metadata: convert.Object(f.Metadata),
			Requires: convert.WireRequirements(f.Requires),
		}
		if v := f.DefaultVariant(); v != nil {
			flag.DefaultVariant = wireVariant(namespace, f.Key)(v)
		}
		return flag
	}
}

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
