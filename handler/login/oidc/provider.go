package oidc

import (
	"context"
	"errors"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// Provider is an OpenID provider. It is safe for concurrent use. Its methods that take a
// context may wait for the provider: at most 64 calls do so at the same time; for more the
// error is Unavailable.
type Provider struct {
	config      Config
	client      *provider.Client
	keys        *issuer.KeySet
	groups      issuer.ClaimPath
	roles       issuer.ClaimPath // "" for none
	fingerprint loginstate.Fingerprint
	google      bool
}

const (
	method       = "oidc"
	googleIssuer = "https://accounts.google.com"
)

// New returns a provider. It sends no request. Its error joins all that is wrong with the configuration, as
// [provider.FieldError].
func New(c Config) (*Provider, error) {
	c = c.withDefaults()
	client, err := provider.New(provider.Config{Name: c.Name, CAPath: c.CAPath, Observer: c.Observer})
	if err := errors.Join(c.check(), err); err != nil {
		return nil, err
	}
	bound := loginstate.Provider{Method: method, Name: c.Name, Issuer: c.Issuer, ClientID: c.ClientID, RedirectURI: c.RedirectURI}
	return &Provider{
		config: c, client: client,
		keys:   issuer.Remote(issuer.Config{Client: client, Issuer: c.Issuer, Algorithms: c.Algorithms, Now: c.Now}),
		groups: issuer.ClaimPath(c.GroupsClaim), roles: issuer.ClaimPath(c.RolesClaim),
		fingerprint: bound.Fingerprint(), google: c.Issuer == googleIssuer,
	}, nil
}

// Name returns the name of the provider.
func (p *Provider) Name() string { return p.config.Name }

// Fingerprint returns the fingerprint to which attempts to sign in with the provider are bound.
func (p *Provider) Fingerprint() loginstate.Fingerprint { return p.fingerprint }

// document returns the discovery document, within the limits of [Provider].
func (p *Provider) document(ctx context.Context) (*issuer.Document, error) {
	leave, err := p.client.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return p.keys.Document(ctx)
}

// subject returns the subject for a value of that kind that the provider vouches for.
func (p *Provider) subject(kind, value string) string {
	return method + ":" + p.config.Name + ":" + kind + ":" + value
}

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
