package servicetest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

func (m *model) changeNamespace(s *space) attempt {
	switch {
	case !s.exists():
		return m.createNamespace(s)
	case m.one(5):
		return m.deleteNamespace(s)
	}
	in := m.namespaceInput(s)
	next := s.current().clone()
	n := *next.namespace
	next.namespace = &n
	n.Name, n.Description = in.Name, in.Description
	if in.Color != nil {
		n.Color = *in.Color
	}
	if in.ConfirmChanges != nil {
		n.ConfirmChanges = *in.ConfirmChanges
	}
	return m.single(s, "UpdateNamespace "+describe(in), next, changes,
		func(ctx context.Context, w service.Write, _ string) (int64, error) {
			return revisionOf(m.service.UpdateNamespace(ctx, w, in))
		})
}

func (m *model) createNamespace(s *space) attempt {
	in, next, v := m.namespaceInput(s), s.current().clone(), invalid
	if !s.exists() {
		v = changes
		next.namespace = &guidon.Namespace{Key: s.key, Name: in.Name, Description: in.Description}
		if in.Color != nil {
			next.namespace.Color = *in.Color
		}
		next.namespace.ConfirmChanges = in.ConfirmChanges != nil && *in.ConfirmChanges
	}
	return m.single(s, "CreateNamespace "+describe(in), next, v,
		func(ctx context.Context, w service.Write, _ string) (int64, error) {
			return revisionOf(m.service.CreateNamespace(ctx, w, in))
		})
}

// namespaceInput returns random input for the namespace. Half of the time it leaves the
// settings as they are that it can leave.
func (m *model) namespaceInput(s *space) service.NamespaceInput {
	in := service.NamespaceInput{Key: s.key, Name: m.name(), Description: m.text()}
	if m.one(2) {
		in.Color = new(m.color())
	}
	if m.one(2) {
		in.ConfirmChanges = new(m.one(2))
	}
	return in
}

func (m *model) color() guidon.Color { return pick(m, []guidon.Color{"", guidon.Blue, guidon.Slate}) }

func (m *model) deleteNamespace(s *space) attempt {
	force, v := m.one(2), changes
	if !force && len(s.current().flags) > 0 {
		v = invalid
	}
	return m.single(s, fmt.Sprintf("DeleteNamespace force: %t", force), &state{}, v,
		func(ctx context.Context, w service.Write, namespace string) (int64, error) {
			return m.service.DeleteNamespace(ctx, w, namespace, force)
		})
}

// describe returns the input as text, with what its pointers point to.
func describe(in service.NamespaceInput) string {
	text, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// revisionOf drops the object that a write returns.
func revisionOf[T any](_ T, revision int64, err error) (int64, error) { return revision, err }
