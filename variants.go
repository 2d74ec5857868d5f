package guidon

import "context"

// VariantInput is what a caller says of a variant.
type VariantInput struct {
	ID          string // on update only
	FlagKey     string
	Key         string
	Name        string
	Description string
	Attachment  string
}

// CreateVariant adds a variant to a flag. It returns NotFound for an unknown
// flag and InvalidArgument when the key is taken.
func (s *Service) CreateVariant(ctx context.Context, namespace string, in VariantInput) (*Variant, error) {
	namespace = NamespaceKey(namespace)
	if err := requireAll(field{"flagKey", in.FlagKey}, field{"key", in.Key}); err != nil {
		return nil, err
	}
	attachment, err := in.check()
	if err != nil {
		return nil, err
	}
	var created *Variant
	err = s.updateFlag(ctx, namespace, in.FlagKey, FlagNotFound(namespace, in.FlagKey), func(_ context.Context, tx Tx, f *Flag) error {
		if f.VariantByKey(in.Key) != nil {
			return variantTaken(namespace, in)
		}
		created = &Variant{
			ID: NewID(), Key: in.Key, Name: in.Name, Description: in.Description,
			Attachment: attachment, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		f.Variants = append(f.Variants, created)
		return nil
	})
	return orNil(created, err)
}

// UpdateVariant replaces a variant. It returns NotFound for an unknown one and
// InvalidArgument when the key is another variant's.
func (s *Service) UpdateVariant(ctx context.Context, namespace string, in VariantInput) (*Variant, error) {
	namespace = NamespaceKey(namespace)
	if err := requireAll(field{"id", in.ID}, field{"flagKey", in.FlagKey}, field{"key", in.Key}); err != nil {
		return nil, err
	}
	attachment, err := in.check()
	if err != nil {
		return nil, err
	}
	missing := Errorf(NotFound, "variant %q not found", in.Key)
	var updated *Variant
	err = s.updateFlag(ctx, namespace, in.FlagKey, missing, func(_ context.Context, tx Tx, f *Flag) error {
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
	return orNil(updated, err)
}

// DeleteVariant removes a variant, the distributions that lead to it and the
// default that points to it. One that does not exist is no error.
func (s *Service) DeleteVariant(ctx context.Context, namespace, flagKey, id string) error {
	if err := requireAll(field{"id", id}, field{"flagKey", flagKey}); err != nil {
		return err
	}
	return ignoreUnchanged(s.updateFlag(ctx, NamespaceKey(namespace), flagKey, errUnchanged, func(_ context.Context, _ Tx, f *Flag) error {
		if !f.RemoveVariant(id) {
			return errUnchanged
		}
		return nil
	}))
}

// check checks what creating and updating have in common and returns the
// attachment in its stored form.
func (in VariantInput) check() (attachment string, err error) {
	if err := checkLength("name", in.Name); err != nil {
		return "", err
	}
	return checkAttachment(in.Attachment)
}

func variantTaken(namespace string, in VariantInput) error {
	return Errorf(InvalidArgument, "variant %q is not unique for flag %q", in.Key, namespace+"/"+in.FlagKey)
}
