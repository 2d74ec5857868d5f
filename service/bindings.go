package service

import "slices"

// maxBindings limits the bindings in the database.
const maxBindings = 1000

// Bindings is an immutable list of bindings. A nil list is empty.
type Bindings struct {
	all       []*Binding
	bySubject map[string][]Grant
}

// NewBindings returns the list of the bindings. It keeps the slice and its elements; the
// caller must not modify them afterwards.
func NewBindings(all []*Binding) *Bindings {
	b := &Bindings{all: all, bySubject: make(map[string][]Grant, len(all))}
	for _, binding := range all {
		b.bySubject[binding.Subject] = append(b.bySubject[binding.Subject], binding.Grant())
	}
	return b
}

// All returns the bindings in creation order. The caller must not modify the slice or its
// elements.
func (b *Bindings) All() []*Binding {
	if b == nil {
		return nil
	}
	return b.all
}

// of returns the grants of the bindings of the subject.
func (b *Bindings) of(subject string) []Grant {
	if b == nil {
		return nil
	}
	return b.bySubject[subject]
}

// givesAdmin reports whether the binding gives the role admin everywhere.
func (b *Binding) givesAdmin() bool {
	return b.Role == RoleAdmin && slices.Contains(b.Namespaces, Everywhere)
}

// without returns the list without the binding with the id.
func (b *Bindings) without(id string) *Bindings {
	return NewBindings(slices.DeleteFunc(slices.Clone(b.All()), func(binding *Binding) bool { return binding.ID == id }))
}
