package service

import (
	"context"
	"time"

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
	return updateObject(ctx, s, w, namespace, flagObjects, in.FlagKey, guidon.FlagNotFound(namespace, in.FlagKey),
		func(_ context.Context, tx Tx, f *guidon.Flag) (*guidon.Variant, error) {
			if f.VariantByKey(in.Key) != nil {
				return nil, variantTaken(namespace, in)
			}
			v := &guidon.Variant{
				ID: NewID(), Key: in.Key, Name: in.Name, Description: in.Description,
				Attachment: attachment, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
			}
			f.Variants = append(f.Variants, v)
			return v, nil
		})
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
	return updateObject(ctx, s, w, namespace, flagObjects, in.FlagKey, missing,
		func(_ context.Context, tx Tx, f *guidon.Flag) (*guidon.Variant, error) {
			v := f.Variant(in.ID)
			if v == nil {
				return nil, missing
			}
			if other := f.VariantByKey(in.Key); other != nil && other != v {
				return nil, variantTaken(namespace, in)
			}
			v.Key, v.Name, v.Description = in.Key, in.Name, in.Description
			v.Attachment, v.UpdatedAt = attachment, tx.Now()
			return v, nil
		})
}

// DeleteVariant deletes a variant and its distributions, and clears the default if it is
// that variant. It is not an error if it does not exist.
func (s *Service) DeleteVariant(ctx context.Context, w Write, namespace, flagKey, id string) (int64, error) {
	if err := RuleKeys(id, flagKey); err != nil {
		return 0, err
	}
	return changeParts(ctx, s, w, namespace, flagObjects, flagKey,
		func(f *guidon.Flag, _ time.Time) bool { return f.RemoveVariant(id) })
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
