package service

import (
	"context"
	"encoding/json"
	"errors"

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

// ListFlags returns a page of the namespace's flags, in creation order. A namespace that
// does not exist has none.
func (s *Service) ListFlags(ctx context.Context, namespace string, request PageRequest) ([]*guidon.Flag, Page, error) {
	if err := request.validate(); err != nil {
		return nil, Page{}, err
	}
	snapshot, err := s.viewOrEmpty(ctx, guidon.NamespaceKey(namespace))
	if err != nil {
		return nil, Page{}, err
	}
	return paginate(snapshot.Flags(), request, func(f *guidon.Flag) string { return f.Key })
}

// GetFlag returns the flag. It returns NotFound if it does not exist.
func (s *Service) GetFlag(ctx context.Context, namespace, key string) (*guidon.Flag, error) {
	if key == "" {
		return nil, emptyField("key")
	}
	return s.flag(ctx, guidon.NamespaceKey(namespace), key)
}

func (s *Service) flag(ctx context.Context, namespace, key string) (*guidon.Flag, error) {
	snapshot, err := s.viewOrEmpty(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if f := snapshot.Flag(key); f != nil {
		return f, nil
	}
	return nil, guidon.FlagNotFound(namespace, key)
}

// CreateFlag creates a flag. It returns NotFound if the namespace does not exist and
// InvalidArgument if the key exists already.
func (s *Service) CreateFlag(ctx context.Context, namespace string, in FlagInput) (*guidon.Flag, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := checkNewKey(in.Key, in.Name); err != nil {
		return nil, err
	}
	if err := checkEnum("type", in.Type); err != nil {
		return nil, err
	}
	metadata, err := checkMetadata(in.Metadata)
	if err != nil {
		return nil, err
	}
	var created *guidon.Flag
	err = s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
		if err := mustBeFree(ctx, tx.Flag, "flag", namespace, in.Key); err != nil {
			return err
		}
		if _, err := existingNamespace(ctx, tx, namespace); err != nil {
			return err
		}
		created = &guidon.Flag{
			Key: in.Key, Name: in.Name, Description: in.Description, Type: in.Type,
			Enabled: in.Enabled, Metadata: metadata, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		return tx.PutFlag(ctx, created)
	})
	return orNil(created, err)
}

// mustBeFree returns InvalidArgument if get finds an object with the key.
func mustBeFree[T any](ctx context.Context, get func(context.Context, string) (*T, error), kind, namespace, key string) error {
	_, err := get(ctx, key)
	switch {
	case err == nil:
		return notUnique(kind, namespace, key)
	case errors.Is(err, guidon.NotFound):
		return nil
	}
	return err
}

func notUnique(kind, namespace, key string) error {
	return guidon.Errorf(guidon.InvalidArgument, "%s %q is not unique", kind, namespace+"/"+key)
}

// UpdateFlag replaces name, description, enabled state, metadata and default variant
// (contract 4.5). It returns NotFound if the flag does not exist and InvalidArgument if
// the default variant is not one of the flag's variants.
func (s *Service) UpdateFlag(ctx context.Context, namespace string, in FlagInput) (*guidon.Flag, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := requireAll(field{"key", in.Key}, field{"name", in.Name}); err != nil {
		return nil, err
	}
	metadata, err := checkMetadata(in.Metadata)
	if err != nil {
		return nil, err
	}
	var updated *guidon.Flag
	err = s.updateFlag(ctx, namespace, in.Key, guidon.FlagNotFound(namespace, in.Key), func(_ context.Context, tx Tx, f *guidon.Flag) error {
		if in.DefaultVariantID != "" && f.Variant(in.DefaultVariantID) == nil {
			return guidon.Errorf(guidon.InvalidArgument, "variant %q not found for flag %q", in.DefaultVariantID, namespace+"/"+in.Key)
		}
		f.Name, f.Description, f.Enabled = in.Name, in.Description, in.Enabled
		f.DefaultVariantID, f.UpdatedAt = in.DefaultVariantID, tx.Now()
		if in.Metadata != nil {
			f.Metadata = metadata
		}
		updated = f
		return nil
	})
	return orNil(updated, err)
}

// DeleteFlag deletes a flag with its variants, rules and rollouts. It is not an error if
// it does not exist.
func (s *Service) DeleteFlag(ctx context.Context, namespace, key string) error {
	if key == "" {
		return emptyField("key")
	}
	return s.update(ctx, guidon.NamespaceKey(namespace), func(ctx context.Context, tx Tx) error {
		return tx.DeleteFlag(ctx, key)
	})
}
