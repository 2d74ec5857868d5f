package service

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/guidonhq/guidon"
)

// FlagInput holds the arguments to create or update a flag.
type FlagInput struct {
	Key              string
	Name             string
	Description      string
	Type             guidon.FlagType // on create only
	Enabled          bool
	Metadata         json.RawMessage // a JSON object; on update, nil keeps the old one and {} clears it
	DefaultVariantID string          // on update only; empty clears it
}

// CreateFlag creates a flag. It returns NotFound if the namespace does not exist and
// InvalidArgument if the key exists already.
func (s *Service) CreateFlag(ctx context.Context, w Write, namespace string, in FlagInput) (*guidon.Flag, int64, error) {
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

// UpdateFlag replaces name, description, enabled state, metadata and default variant
// (contract 4.5). It returns NotFound if the flag does not exist and InvalidArgument if
// the default variant is not one of the flag's variants.
func (s *Service) UpdateFlag(ctx context.Context, w Write, namespace string, in FlagInput) (*guidon.Flag, int64, error) {
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
