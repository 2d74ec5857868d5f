package oidc

import (
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/service"
)

// SetGoogle makes the provider one of Google, whose issuer is fixed.
func (p *Provider) SetGoogle() { p.google = true }

// Enter adds a call that waits for the provider.
func (p *Provider) Enter() (leave func(), err error) { return p.client.Enter() }

// IdentityOf returns the identity for verified claims. info may be nil.
func (p *Provider) IdentityOf(sub string, token, info issuer.Claims) (*service.Identity, error) {
	return p.identity(person{sub: sub, token: token, info: info})
}
