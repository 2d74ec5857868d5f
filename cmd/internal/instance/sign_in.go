package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login"
	"github.com/guidonhq/guidon/handler/login/bearer"
	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/service"
)

// sessionCookie returns the cookie of browser sessions.
func sessionCookie(c *config.Config) call.SessionCookie {
	s := c.Authentication.Session
	return call.SessionCookie{Lifetime: s.TokenLifetime, Domain: s.Domain, Secure: c.SecureCookies(), HostPrefix: s.HostPrefix}
}

// newSignIn returns the configured methods of signing in. It sends no request.
func newSignIn(c *config.Config, secrets service.SecretStore, observer login.Observer, logger *slog.Logger) (*login.SignIn, error) {
	session := c.Authentication.Session
	l := login.Config{
		PublicURL: c.Server.PublicURL, PublicPath: c.Server.PublicPath(), OIDC: map[string]login.OIDC{},
		Secrets: secrets, Session: sessionCookie(c), CLILifetime: session.CLILifetime, StateLifetime: session.StateLifetime,
		Most: session.MaxPerIdentity, Observer: observer, Logger: logger, Now: time.Now,
	}
	err := errors.Join(addProviders(c, &l), addCodehost(c, &l), addCluster(c, &l), addJWT(c, &l))
	if err != nil {
		return nil, err
	}
	return login.New(l)
}

// callbackURL returns the URL of a callback.
func callbackURL(base, path string) string { return base + "/auth/v1/method/" + path + "/callback" }

func addProviders(c *config.Config, l *login.Config) error {
	methods := c.Authentication.Methods
	if !methods.OIDC.Enabled {
		return nil
	}
	var problems []error
	for name, p := range methods.OIDC.Providers {
		binds := func(kind string) bool { return bindsSubject(c, "oidc:"+name+":"+kind+":") }
		built, err := oidc.New(oidc.Config{
			Name: name, Issuer: p.IssuerURL, ClientID: p.ClientID, ClientSecret: p.ClientSecret,
			RedirectURI: callbackURL(config.RedirectBase(p.RedirectAddress, c.Server.PublicURL), "oidc/"+name),
			Scopes:      p.Scopes, PKCE: p.UsePKCE, AuthorizeParams: p.AuthorizeParams, Algorithms: p.SigningAlgs, CAPath: p.CAPath,
			Userinfo: p.Userinfo, GroupsClaim: p.GroupsClaim, RolesClaim: p.RolesClaim, TrustUnverifiedEmail: p.TrustUnverifiedEmail,
			NeedEmail:  len(p.AllowedEmails)+len(p.AllowedDomains)+len(methods.OIDC.EmailMatches) > 0 || binds("email") || binds("domain"),
			NeedGroups: len(p.AllowedGroups) > 0 || binds("group"), GroupsAdmit: len(p.AllowedGroups) > 0, Observer: l.Observer, Now: l.Now,
		})
		if err != nil {
			problems = append(problems, fmt.Errorf("authentication.methods.oidc.providers.%s: %w", name, err))
			continue
		}
		l.OIDC[name] = login.OIDC{Provider: built, DisplayName: p.Label(name), Logout: p.Logout == "provider"}
	}
	return errors.Join(problems...)
}

// bindsSubject reports whether a configured binding has a subject with the prefix.
func bindsSubject(c *config.Config, prefix string) bool {
	return slices.ContainsFunc(c.Authorization.ParsedBindings(), func(b service.Binding) bool { return strings.HasPrefix(b.Subject, prefix) })
}

func addCodehost(c *config.Config, l *login.Config) error {
	h := c.Authentication.Methods.Codehost
	if !h.Enabled {
		return nil
	}
	binds := func(kind string) bool { return bindsSubject(c, "codehost:"+kind+":") }
	built, err := codehost.New(codehost.Config{
		Type: h.Type, ServerURL: h.ServerURL, APIURL: h.APIURL, ClientID: h.ClientID, ClientSecret: h.ClientSecret,
		RedirectURI: callbackURL(config.RedirectBase(h.RedirectAddress, c.Server.PublicURL), "codehost"),
		Scopes:      h.Scopes, PKCE: h.UsePKCE, CAPath: h.CAPath, Observer: l.Observer,
		NeedEmail:         len(h.AllowedEmails)+len(h.AllowedDomains) > 0 || binds("email") || binds("domain"),
		NeedOrganizations: len(h.AllowedOrganizations) > 0 || binds("org"),
		NeedTeams:         len(h.AllowedTeams) > 0 || binds("team"),
	})
	if err != nil {
		return fmt.Errorf("authentication.methods.codehost: %w", err)
	}
	l.Codehost = &login.Codehost{People: built, Type: h.Type, DisplayName: h.Label(), Organizations: h.AllowedOrganizations}
	return nil
}

func addCluster(c *config.Config, l *login.Config) error {
	k := c.Authentication.Methods.Kubernetes
	if !k.Enabled {
		return nil
	}
	built, err := kubernetes.New(kubernetes.Config{
		Verify: k.Verify, Audiences: k.Audiences, DiscoveryURL: k.DiscoveryURL, JWKSURL: k.JWKSURL,
		CAPath: k.CAPath, ServiceAccountTokenPath: k.ServiceAccountTokenPath,
		AllowedServiceAccounts: k.AllowedServiceAccounts, MaxLifetime: k.MaxLifetime, Observer: l.Observer, Now: l.Now,
	})
	if err != nil {
		return fmt.Errorf("authentication.methods.kubernetes: %w", err)
	}
	l.Cluster = built
	return nil
}

func addJWT(c *config.Config, l *login.Config) error {
	j := c.Authentication.Methods.JWT
	if !j.Enabled {
		return nil
	}
	claims := j.ValidateClaims
	built, err := bearer.New(bearer.Config{
		DiscoveryURL: j.DiscoveryURL, JWKSURL: j.JWKSURL, PublicKeyFile: j.PublicKeyFile,
		Issuer: claims.Issuer, Subject: claims.Subject, Audiences: claims.Audiences, AnyAudience: claims.AnyAudience,
		GroupsClaim: j.GroupsClaim, RolesClaim: j.RolesClaim, Algorithms: j.SigningAlgs, CAPath: j.CAPath, Observer: l.Observer, Now: l.Now,
	})
	if err != nil {
		return fmt.Errorf("authentication.methods.jwt: %w", err)
	}
	l.JWT = built
	return nil
}

// CheckProviders queries the configured providers for the data that signing in needs.
func CheckProviders(ctx context.Context, c *config.Config) ([]login.Checked, error) {
	signIn, err := newSignIn(c, noSecrets{}, nil, nil)
	if err != nil {
		return nil, err
	}
	return signIn.Check(ctx), nil
}

// noSecrets is for a SignIn that is only checked.
type noSecrets struct{ service.SecretStore }
