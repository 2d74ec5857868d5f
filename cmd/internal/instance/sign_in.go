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
	err := errors.Join(addProviders(c, &l), addCodehost(c, &l), addCluster(c, &l), addJWT(c, &l))
	if err != nil {
		return nil, err
	}
	return login.New(l)
}

func addProviders(c *config.Config, l *login.Config) error {
	if !c.Authentication.Methods.OIDC.Enabled {
		return nil
	}
	for name, p := range c.Authentication.Methods.OIDC.Providers {
		built, err := oidc.New(c.OpenIDProvider(name, l.Observer))
		if err != nil {
			return fmt.Errorf("authentication.methods.oidc.providers.%s: %w", name, err)
		}
		l.OIDC[name] = login.OIDC{Provider: built, DisplayName: p.Label(name), Logout: p.Logout == "provider"}
	}
	return nil
}

func addCodehost(c *config.Config, l *login.Config) error {
	h := c.Authentication.Methods.Codehost
	if !h.Enabled {
		return nil
	}
	built, err := codehost.New(c.CodeHost(l.Observer))
	if err != nil {
		return fmt.Errorf("authentication.methods.codehost: %w", err)
	}
	l.Codehost = &login.Codehost{People: built, Type: h.Type, DisplayName: h.Label(), Organizations: h.AllowedOrganizations}
	return nil
}

func addCluster(c *config.Config, l *login.Config) error {
	if !c.Authentication.Methods.Kubernetes.Enabled {
		return nil
	}
	built, err := kubernetes.New(c.Cluster(l.Observer))
	if err != nil {
		return fmt.Errorf("authentication.methods.kubernetes: %w", err)
	}
	l.Cluster = built
	return nil
}

func addJWT(c *config.Config, l *login.Config) error {
	if !c.Authentication.Methods.JWT.Enabled {
		return nil
	}
	built, err := bearer.New(c.Bearer(l.Observer))
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
