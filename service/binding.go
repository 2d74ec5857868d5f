package service

import (
	"slices"
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
	if err := b.Grant().validate(); err != nil {
		return err
	}
	return checkSubject(b.Subject)
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
