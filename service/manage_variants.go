package service

import (
	"context"

	"github.com/guidonhq/guidon"
)

// VariantInput holds the arguments to create or update a variant.
type VariantInput struct {
	ID          string // on update only
	FlagKey     string
	Key         string
	Name        string
	Description string
	Attachment  string
}

// CreateVariant adds a variant to a flag. It returns NotFound if the flag does not exist
// and InvalidArgument if another of its variants has the key.
func (s *Service) CreateVariant(ctx context.Context, w Write, namespace string, in VariantInput) (*guidon.Variant, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := requireAll(field{"flagKey", in.FlagKey}, field{"key", in.Key}); err != nil {
		return nil, 0, err
	}
	attachment, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	var created *guidon.Variant
	revision, err := s.updateFlag(ctx, w, namespace, in.FlagKey, guidon.FlagNotFound(namespace, in.FlagKey),
		func(_ context.Context, tx Tx, f *guidon.Flag) error {
			if f.VariantByKey(in.Key) != nil {
				return variantTaken(namespace, in)
			}
			created = &guidon.Variant{
				ID: NewID(), Key: in.Key, Name: in.Name, Description: in.Description,
				Attachment: attachment, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
			}
			f.Variants = append(f.Variants, created)
			return nil
		})
	return orNil(created, revision, err)
}

// UpdateVariant replaces all fields of a variant. It returns NotFound if the flag or the
// variant does not exist, and InvalidArgument if another variant has the key.
func (s *Service) UpdateVariant(ctx context.Context, w Write, namespace string, in VariantInput) (*guidon.Variant, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := requireAll(field{"id", in.ID}, field{"flagKey", in.FlagKey}, field{"key", in.Key}); err != nil {
		return nil, 0, err
	}
	attachment, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	missing := guidon.Errorf(guidon.NotFound, "variant %q not found", in.Key)
	var updated *guidon.Variant
	revision, err := s.updateFlag(ctx, w, namespace, in.FlagKey, missing, func(_ context.Context, tx Tx, f *guidon.Flag) error {
		v := f.Variant(in.ID)
		if v == nil {
			return missing
		}
		if other := f.VariantByKey(in.Key); other != nil && other != v {
			return variantTaken(namespace, in)
		}
		v.Key, v.Name, v.Description = in.Key, in.Name, in.Description
		v.Attachment, v.UpdatedAt = attachment, tx.Now()
		updated = v
		return nil
	})
	return orNil(updated, revision, err)
}

// DeleteVariant deletes a variant and its distributions, and clears the default if it is
// that variant. It is not an error if it does not exist.
func (s *Service) DeleteVariant(ctx context.Context, w Write, namespace, flagKey, id string) (int64, error) {
	if err := requireAll(field{"id", id}, field{"flagKey", flagKey}); err != nil {
		return 0, err
	}
	return ignoreUnchanged(s.updateFlag(ctx, w, guidon.NamespaceKey(namespace), flagKey, errUnchanged,
		func(_ context.Context, _ Tx, f *guidon.Flag) error {
			if !f.RemoveVariant(id) {
				return errUnchanged
			}
			return nil
		}))
}

// check makes the checks common to create and update, and returns the attachment in its
// stored form.
func (in VariantInput) check() (attachment string, err error) {
	if err := checkLength("name", in.Name); err != nil {
		return "", err
	}
	return checkAttachment(in.Attachment)
}

func variantTaken(namespace string, in VariantInput) error {
	return guidon.Errorf(guidon.InvalidArgument, "variant %q is not unique for flag %q", in.Key, namespace+"/"+in.FlagKey)
}
