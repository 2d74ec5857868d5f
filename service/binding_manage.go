package service

import (
	"context"
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
)

// ListBindings returns the bindings of the configuration, and then those of the database
// in creation order.
func (s *Service) ListBindings(ctx context.Context, d Demand) ([]*Binding, error) {
	set, _, err := s.store.Authentications(ctx, d, "")
	if err != nil {
		return nil, err
	}
	return slices.Concat(s.policy.Bindings.All(), set.bindings.All()), nil
}

// CreateBinding gives the role to everybody whom the subject names, in the namespaces, or
// everywhere if there are none. If there is such a binding already, it returns that. It
// returns InvalidArgument if [NewBinding] does.
func (s *Service) CreateBinding(ctx context.Context, w Write, role Role, subject string, namespaces []string) (*Binding, error) {
	b, err := NewBinding(role, subject, namespaces)
	if err != nil {
		return nil, err
	}
	var result *Binding
	err = s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		stored, err := tx.Bindings(ctx)
		if err != nil {
			return err
		}
		all := stored.All()
		if i := slices.IndexFunc(all, b.same); i >= 0 {
			result = all[i]
			return nil
		}
		if len(all) >= maxBindings {
			return guidon.Errorf(guidon.InvalidArgument, "there are %d bindings already; at most %d are allowed", len(all), maxBindings)
		}
		created := b
		created.ID, created.Source, created.CreatedAt, created.CreatedBy = NewID(), SourceDatabase, tx.Now(), w.By.Author().ID
		result = &created
		return tx.PutBinding(ctx, result)
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// same reports whether the bindings give the same role in the same namespaces to the same
// subject.
func (b Binding) same(other *Binding) bool {
	return b.Role == other.Role && b.Subject == other.Subject && slices.Equal(sorted(b.Namespaces), sorted(other.Namespaces))
}

func sorted(keys []string) []string { return slices.Sorted(slices.Values(keys)) }

// DeleteBinding deletes the binding. It is not an error if it does not exist. It returns
// InvalidArgument if it is in the configuration, or if no one would be an administrator
// without it.
func (s *Service) DeleteBinding(ctx context.Context, w Write, id string) error {
	if slices.ContainsFunc(s.policy.Bindings.All(), func(b *Binding) bool { return b.ID == id }) {
		return guidon.Errorf(guidon.InvalidArgument, "binding %q is in the configuration (authorization.bindings) and can only be removed there",
			id)
	}
	return s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		if err := s.keepAdmin(ctx, tx, w.By.Authentication, removal{binding: id}); err != nil {
			return err
		}
		return tx.DeleteBinding(ctx, id)
	})
}

// ConfiguredBindings returns the bindings written as in authorization.bindings, with the
// ids that lists show. It returns InvalidArgument for the first that is malformed.
func ConfiguredBindings(texts []string) (*Bindings, error) {
	all := make([]*Binding, len(texts))
	for i, text := range texts {
		b, err := ParseBinding(text)
		if err != nil {
			return nil, err
		}
		b.ID, b.Source = fmt.Sprintf("%s-%d", SourceConfiguration, i+1), SourceConfiguration
		all[i] = &b
	}
	return NewBindings(all), nil
}
