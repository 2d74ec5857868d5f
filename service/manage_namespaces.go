package service

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/guidonhq/guidon"
)

// NamespaceInput holds the arguments to create or update a namespace.
type NamespaceInput struct {
	Key         string
	Name        string
	Description string

	// nil leaves an existing namespace as it is. Clients of Flipt v1 send neither.
	Color          *guidon.Color
	ConfirmChanges *bool
}

// set sets everything but the key.
func (in NamespaceInput) set(n *guidon.Namespace) {
	n.Name, n.Description = in.Name, in.Description
	if in.Color != nil {
		n.Color = *in.Color
	}
	if in.ConfirmChanges != nil {
		n.ConfirmChanges = *in.ConfirmChanges
	}
}

// checkColor checks the color, if there is one.
func (in NamespaceInput) checkColor() error {
	if in.Color == nil {
		return nil
	}
	return checkColor(*in.Color)
}

// ListNamespaces returns a page of the namespaces that the caller may read, in creation
// order. It returns PermissionDenied if the caller may read none, whatever exists.
func (s *Service) ListNamespaces(ctx context.Context, by Caller, request PageRequest) ([]*guidon.Namespace, Page, error) {
	if err := request.ValidateTokenFirst(); err != nil {
		return nil, Page{}, err
	}
	namespaces, err := s.visibleNamespaces(ctx, by)
	if err != nil {
		return nil, Page{}, err
	}
	return paginate(namespaces, request, func(n *guidon.Namespace) string { return n.Key })
}

// visibleNamespaces returns the namespaces that the caller may read, in creation order. It
// returns PermissionDenied if the caller may read none, whatever exists.
func (s *Service) visibleNamespaces(ctx context.Context, by Caller) ([]*guidon.Namespace, error) {
	namespaces, err := s.store.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	readable, err := by.readable()
	if err != nil || readable == nil {
		return namespaces, err
	}
	return slices.DeleteFunc(slices.Clone(namespaces), func(n *guidon.Namespace) bool { return !readable(n.Key) }), nil
}

// CreateNamespace creates a namespace. It returns InvalidArgument if the key exists
// already.
func (s *Service) CreateNamespace(ctx context.Context, w Write, in NamespaceInput) (*guidon.Namespace, int64, error) {
	if err := cmp.Or(checkNewKey(in.Key, in.Name), in.checkColor()); err != nil {
		return nil, 0, err
	}
	var created *guidon.Namespace
	revision, err := s.update(ctx, in.Key, w, func(ctx context.Context, tx Tx) error {
		_, err := tx.Namespace(ctx)
		if err == nil {
			return guidon.Errorf(guidon.InvalidArgument, "namespace %q is not unique", in.Key)
		}
		if !errors.Is(err, guidon.NotFound) {
			return err
		}
		created = &guidon.Namespace{Key: in.Key, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		in.set(created)
		return tx.PutNamespace(ctx, created)
	})
	return orNil(created, revision, err)
}

// UpdateNamespace replaces name and description, and the other settings of the input. It returns
// NotFound if the namespace does not exist.
func (s *Service) UpdateNamespace(ctx context.Context, w Write, in NamespaceInput) (*guidon.Namespace, int64, error) {
	if err := cmp.Or(requireAll(field{"key", in.Key}, field{"name", in.Name}), in.checkColor()); err != nil {
		return nil, 0, err
	}
	var updated *guidon.Namespace
	revision, err := s.update(ctx, in.Key, w, func(ctx context.Context, tx Tx) error {
		n, err := tx.Namespace(ctx)
		if err != nil {
			return err
		}
		in.set(n)
		n.UpdatedAt, updated = tx.Now(), n
		return tx.PutNamespace(ctx, n)
	})
	return orNil(updated, revision, err)
}

// DeleteNamespace deletes a namespace with its flags and segments. It returns NotFound
// if the namespace does not exist. Without force it returns InvalidArgument if the
// namespace is protected or has flags (contract 4.7).
func (s *Service) DeleteNamespace(ctx context.Context, w Write, key string, force bool) (int64, error) {
	key = guidon.NamespaceKey(key)
	return s.update(ctx, key, w, func(ctx context.Context, tx Tx) error {
		n, err := tx.Namespace(ctx)
		if err != nil {
			return err
		}
		if !force {
			if err := checkDeletable(ctx, tx, n); err != nil {
				return err
			}
		}
		return tx.DeleteNamespace(ctx)
	})
}

func checkDeletable(ctx context.Context, tx Tx, n *guidon.Namespace) error {
	if n.Protected {
		return guidon.Errorf(guidon.InvalidArgument, "namespace %q is protected", n.Key)
	}
	flags, err := tx.Flags(ctx)
	if err != nil {
		return err
	}
	if len(flags) > 0 {
		return guidon.Errorf(guidon.InvalidArgument, "namespace %q cannot be deleted; flags must be deleted first", n.Key)
	}
	return nil
}

// orNil returns value, or nil if the write that created it failed, with the results of
// the write.
func orNil[T any](value *T, revision int64, err error) (*T, int64, error) {
	if err != nil {
		return nil, revision, err
	}
	return value, revision, nil
}
