package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	if err := errors.Join(addPeople(c, &l), addWorkloads(c, &l)); err != nil {
		return nil, err
	}
	return login.New(l)
}

// addPeople adds the methods by which people sign in.
func addPeople(c *config.Config, l *login.Config) error {
	methods := c.Authentication.Methods
	for name, p := range methods.OIDC.Providers {
		if !methods.OIDC.Enabled {
			break
		}
		built, err := oidc.New(c.OpenIDProvider(name, l.Observer))
		if err != nil {
			return fmt.Errorf("authentication.methods.oidc.providers.%s: %w", name, err)
		}
		l.OIDC[name] = login.OIDC{Provider: built, DisplayName: p.Label(name), Logout: p.Logout == "provider"}
	}
	if h := methods.Codehost; h.Enabled {
		built, err := codehost.New(c.CodeHost(l.Observer))
		if err != nil {
			return fmt.Errorf("authentication.methods.codehost: %w", err)
		}
		l.Codehost = &login.Codehost{People: built, Type: h.Type, DisplayName: h.Label(), Organizations: h.AllowedOrganizations}
	}
	return nil
}

// addWorkloads adds the methods of workloads.
func addWorkloads(c *config.Config, l *login.Config) (err error) {
	if c.Authentication.Methods.Kubernetes.Enabled {
		if l.Cluster, err = kubernetes.New(c.Cluster(l.Observer)); err != nil {
			return fmt.Errorf("authentication.methods.kubernetes: %w", err)
		}
	}
	if c.Authentication.Methods.JWT.Enabled {
		if l.JWT, err = bearer.New(c.Bearer(l.Observer)); err != nil {
			return fmt.Errorf("authentication.methods.jwt: %w", err)
		}
	}
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
