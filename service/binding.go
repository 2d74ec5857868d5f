package service

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Binding gives the identities that its subject matches a role in some namespaces.
type Binding struct {
	ID         string    `json:"id"`
	Role       Role      `json:"role"`
	Subject    string    `json:"subject"`       // see [ParseSubject]
	Namespaces []string  `json:"namespaceKeys"` // keys, beginnings such as "pay-*", or Everywhere
	Source     string    `json:"source"`        // SourceConfiguration or SourceDatabase
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	CreatedBy  string    `json:"createdBy,omitempty"`
}

// The sources of bindings.
const (
	SourceConfiguration = "configuration" // cannot be deleted by a call
	SourceDatabase      = "database"
)

// NewBinding returns a binding of the role, the subject and the namespaces, and nothing
// else. No namespaces means Everywhere. It returns InvalidArgument if [Binding.Validate]
// rejects the binding.
func NewBinding(role Role, subject string, namespaces []string) (Binding, error) {
	if len(namespaces) == 0 {
		namespaces = []string{Everywhere}
	}
	b := Binding{Role: role, Subject: foldSubject(subject), Namespaces: slices.Clone(namespaces)}
	if err := b.Validate(); err != nil {
		return Binding{}, err
	}
	return b, nil
}

// Grant returns the role and the namespaces that the binding gives.
func (b Binding) Grant() Grant {
	return Grant{Role: b.Role, Namespaces: b.Namespaces, Origin: Origin(b.Source), Subject: b.Subject}
}

// Validate returns InvalidArgument unless the binding has a role, namespaces, and a
// subject of a known form.
func (b Binding) Validate() error {
	return cmp.Or(b.Grant().validate(), checkSubject(b.Subject))
}

// validate returns InvalidArgument unless the grant has a role and namespaces.
func (g Grant) validate() error {
	if g.Role < RoleEvaluator || g.Role > RoleAdmin {
		return errUnknownRole
	}
	if len(g.Namespaces) == 0 {
		return emptyField("namespaceKeys")
	}
	return checkGranted(g.Namespaces)
}

// escapedSpace stands for a space in a subject written as text, because lists of bindings
// in variables are separated by spaces.
const escapedSpace = "%20"

// ParseBinding returns the binding written as role[@namespace[,namespace…]]=subject, such
// as "editor@checkout,pay-*=oidc:google:group:payments". Without namespaces it holds
// everywhere. In the subject, "%20" stands for a space. Only the role, the subject and the
// namespaces of the result are set.
func ParseBinding(text string) (Binding, error) {
	granted, subject, ok := strings.Cut(text, "=")
	if !ok {
		return Binding{}, invalidField("binding", "must have the form role=subject or role@namespace,namespace=subject")
	}
	grant, err := ParseGrant(granted)
	if err != nil {
		return Binding{}, err
	}
	return NewBinding(grant.Role, strings.ReplaceAll(subject, escapedSpace, " "), grant.Namespaces)
}

// ParseGrant returns the grant written as role[@namespace[,namespace…]], such as "viewer"
// or "editor@checkout,pay-*", which is also a value of a claim for roles. Without
// namespaces it holds everywhere. A namespace whose key has a comma cannot be written.
func ParseGrant(text string) (Grant, error) {
	name, list, limited := strings.Cut(text, "@")
	role, err := ParseRole(name)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Role: role, Namespaces: []string{Everywhere}}
	if limited {
		g.Namespaces = strings.Split(list, ",")
	}
	if err := g.validate(); err != nil {
		return Grant{}, err
	}
	return g, nil
}

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
