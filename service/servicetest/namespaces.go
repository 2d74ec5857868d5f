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
	case m.one(2):
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
	return attempt{
		space: s, name: "UpdateNamespace " + describe(in),
		run: func(ctx context.Context, w service.Write) (int64, error) {
			return revisionOf(m.service.UpdateNamespace(ctx, w, in))
		},
		expect: func() expectation { return expectation{next: next} },
	}
}

func (m *model) createNamespace(s *space) attempt {
	in := m.namespaceInput(s)
	e := failure(guidon.InvalidArgument)
	if !s.exists() {
		e = expectation{next: s.current().clone()}
		e.next.namespace = &guidon.Namespace{Key: s.key, Name: in.Name, Description: in.Description}
		if in.Color != nil {
			e.next.namespace.Color = *in.Color
		}
		e.next.namespace.ConfirmChanges = in.ConfirmChanges != nil && *in.ConfirmChanges
	}
	return attempt{
		space: s, name: "CreateNamespace " + describe(in),
		run: func(ctx context.Context, w service.Write) (int64, error) {
			return revisionOf(m.service.CreateNamespace(ctx, w, in))
		},
		expect: func() expectation { return e },
	}
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
	force := m.one(2)
	e := expectation{next: &state{}}
	if !force && len(s.current().flags) > 0 {
		e = failure(guidon.InvalidArgument)
	}
	return attempt{
		space: s, name: fmt.Sprintf("DeleteNamespace force: %t", force),
		run: func(ctx context.Context, w service.Write) (int64, error) {
			return m.service.DeleteNamespace(ctx, w, s.key, force)
		},
		expect: func() expectation { return e },
	}
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
