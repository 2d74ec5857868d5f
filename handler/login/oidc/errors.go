package oidc

import (
	"errors"
	"fmt"

	"github.com/guidonhq/guidon"
)

// refuse returns the error for a response or token that proves no identity.
func (p *Provider) refuse(format string, args ...any) error {
	message := fmt.Sprintf("provider %q did not confirm who you are; begin again", p.config.Name)
	return &guidon.Error{Code: guidon.Unauthenticated, Message: message, Err: fmt.Errorf(format, args...)}
}

// misconfigured returns the error for a provider that rejects our own credentials.
func (p *Provider) misconfigured(cause error) error {
	return &guidon.Error{
		Code:    guidon.Internal,
		Message: fmt.Sprintf("provider %q is misconfigured", p.config.Name),
		Err:     fmt.Errorf("the provider rejected our client_id or client_secret: %w", cause),
	}
}

// withoutGroups returns the error for a person whose groups the provider leaves out.
func (p *Provider) withoutGroups() error {
	return &guidon.Error{
		Code:    guidon.PermissionDenied,
		Message: fmt.Sprintf("provider %q does not say whether you may sign in", p.config.Name),
		Err: errors.New("the provider leaves out the groups of this person because there are too many; " +
			"assign groups to the application at the provider, or use app roles with roles_claim"),
	}
}
