package service

import (
	"cmp"
	"context"
	"time"

	"github.com/guidonhq/guidon"
)

// CreateFlag creates a flag with the key, name, description, type, enabled state and metadata of in. It
// returns NotFound if the namespace does not exist and InvalidArgument if the key exists already.
func (s *Service) CreateFlag(ctx context.Context, w Write, namespace string, in guidon.Flag) (*guidon.Flag, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := cmp.Or(checkNewKey(in.Key, in.Name), checkEnum("type", in.Type)); err != nil {
		return nil, 0, err
	}
	metadata, err := checkMetadata(in.Metadata)
	if err != nil {
		return nil, 0, err
	}
	return createObject(ctx, s, w, namespace, flagObjects, in.Key, func(now time.Time) *guidon.Flag {
		return &guidon.Flag{
			Key: in.Key, Name: in.Name, Description: in.Description, Type: in.Type,
			Enabled: in.Enabled, Metadata: metadata, CreatedAt: now, UpdatedAt: now,
		}
	})
}

func notUnique(kind, namespace, key string) error {
	return guidon.Errorf(guidon.InvalidArgument, "%s %q is not unique", kind, namespace+"/"+key)
}

// UpdateFlag replaces name, description, enabled state, metadata and default variant by those of
// in (contract 4.5). Metadata that are nil keep the old ones, and {} clears them. It returns
// NotFound if the flag does not exist and InvalidArgument if the default variant is not one of
// the flag's variants.
func (s *Service) UpdateFlag(ctx context.Context, w Write, namespace string, in guidon.Flag) (*guidon.Flag, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := requireAll(field{"key", in.Key}, field{"name", in.Name}); err != nil {
		return nil, 0, err
	}
	metadata, err := checkMetadata(in.Metadata)
	if err != nil {
		return nil, 0, err
	}
	return updateObject(ctx, s, w, namespace, flagObjects, in.Key, guidon.FlagNotFound(namespace, in.Key),
		func(_ context.Context, tx Tx, f *guidon.Flag) (*guidon.Flag, error) {
			if in.DefaultVariantID != "" && f.Variant(in.DefaultVariantID) == nil {
				return nil, guidon.Errorf(guidon.InvalidArgument, "variant %q not found for flag %q",
					in.DefaultVariantID, namespace+"/"+in.Key)
			}
			f.Name, f.Description, f.Enabled = in.Name, in.Description, in.Enabled
			f.DefaultVariantID, f.UpdatedAt = in.DefaultVariantID, tx.Now()
			if in.Metadata != nil {
				f.Metadata = metadata
			}
			return f, nil
		})
}

// DeleteFlag deletes a flag with its variants, rules and rollouts. It is not an error if
// it does not exist.
func (s *Service) DeleteFlag(ctx context.Context, w Write, namespace, key string) (int64, error) {
	if key == "" {
		return 0, emptyField("key")
	}
	return s.update(ctx, guidon.NamespaceKey(namespace), w, func(ctx context.Context, tx Tx) error {
		return tx.DeleteFlag(ctx, key)
	})
}
