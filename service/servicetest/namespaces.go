package servicetest

import (
	"context"
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
	in := service.NamespaceInput{Key: s.key, Name: m.name(), Description: m.text()}
	next := s.current().clone()
	next.namespace = &guidon.Namespace{Key: s.key, Name: in.Name, Description: in.Description, Protected: next.namespace.Protected}
	return attempt{
		space: s, name: fmt.Sprintf("UpdateNamespace %+v", in),
		run: func(ctx context.Context, w service.Write) (int64, error) {
			return revisionOf(m.service.UpdateNamespace(ctx, w, in))
		},
		expect: func() expectation { return expectation{next: next} },
	}
}

func (m *model) createNamespace(s *space) attempt {
	in := service.NamespaceInput{Key: s.key, Name: m.name(), Description: m.text()}
	e := failure(guidon.InvalidArgument)
	if !s.exists() {
		e = expectation{next: s.current().clone()}
		e.next.namespace = &guidon.Namespace{Key: s.key, Name: in.Name, Description: in.Description}
	}
	return attempt{
		space: s, name: fmt.Sprintf("CreateNamespace %+v", in),
		run: func(ctx context.Context, w service.Write) (int64, error) {
			return revisionOf(m.service.CreateNamespace(ctx, w, in))
		},
		expect: func() expectation { return e },
	}
}

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

// revisionOf drops the object that a write returns.
func revisionOf[T any](_ T, revision int64, err error) (int64, error) { return revision, err }
