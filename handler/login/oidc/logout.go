package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

const (
	logoutEvent = "http://schemas.openid.net/event/backchannel-logout"
	// maxLogoutAge is how old a logout token may be.
	maxLogoutAge = 3 * time.Minute
)

// Logout says which sessions a provider wants to end. At least one of Subject and Session
// is set. If Session is, only its sessions must end, otherwise all of Subject.
type Logout struct {
	Subject string // as in [service.Identity], or ""
	Session string // the session at the provider, or ""
	// ID identifies the token, which must be used once. It must be remembered until Until.
	ID    string
	Until time.Time
}

// VerifyLogout verifies a logout token (OpenID Connect Back-Channel Logout 1.0 2.6). It
// returns Unauthenticated for one that is not valid. The caller must check that its ID was
// not used before.
func (p *Provider) VerifyLogout(ctx context.Context, raw string) (*Logout, error) {
	leave, err := p.client.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	var logout *Logout
	accept := func(c issuer.Claims) (err error) {
		logout, err = p.logout(c)
		return err
	}
	err = p.verify(ctx, raw, []string{"JWT", "logout+jwt"}, accept, func(v *gooidc.IDTokenVerifier) error {
		_, err := v.VerifyLogout(ctx, raw)
		return err
	})
	if guidon.CodeOf(err) == guidon.Unauthenticated {
		err = &guidon.Error{Code: guidon.Unauthenticated, Message: "invalid logout token", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return logout, nil
}

// logout checks the claims that only logout tokens have.
func (p *Provider) logout(c issuer.Claims) (*Logout, error) {
	issued, err := c.Time("iat")
	if err != nil {
		return nil, err
	}
	switch {
	case c.Has("nonce"): // it could be an ID token
		return nil, errors.New("nonce must not be there")
	case !isLogoutEvent(c["events"]):
		return nil, fmt.Errorf("events must have the one member %s, an object", logoutEvent)
	case p.config.Now().Sub(issued) > maxLogoutAge:
		return nil, fmt.Errorf("iat is more than %v ago", clock.Text(maxLogoutAge))
	}
	l := &Logout{Until: issued.Add(maxLogoutAge + service.ClockSkew)} // by the clock of any instance
	if l.ID, err = nameOf(c, "jti"); err != nil {
		return nil, err
	}
	if l.Session, err = sessionOf(c); err != nil {
		return nil, err
	}
	if l.Subject, err = p.logoutSubject(c); err != nil {
		return nil, err
	}
	if l.Session == "" && l.Subject == "" {
		return nil, errors.New("neither sid nor sub is there")
	}
	return l, nil
}

func (p *Provider) logoutSubject(c issuer.Claims) (string, error) {
	if !c.Has("sub") {
		return "", nil
	}
	sub, err := subjectOf(c)
	return p.subject("sub", sub), err
}

// isLogoutEvent reports whether the value is that of events in a logout token.
func isLogoutEvent(value any) bool {
	events, _ := value.(map[string]any)
	_, ok := events[logoutEvent].(map[string]any)
	return ok && len(events) == 1
}

// EndSessionURL returns the URL at the provider that the browser must open to end the
// session there (OpenID Connect RP-Initiated Logout 1.0), or "" if the provider has none.
// hint identifies the account that signs out, and the browser returns to postLogout; "" leaves either out.
func (p *Provider) EndSessionURL(ctx context.Context, hint, postLogout string) (string, error) {
	d, err := p.document(ctx)
	if err != nil || d.EndSessionEndpoint == "" {
		return "", err
	}
	u, err := url.Parse(d.EndSessionEndpoint)
	if err != nil {
		return "", p.client.Unavailable(err) // discovery has checked it
	}
	query := u.Query()
	query.Set("client_id", p.config.ClientID)
	for name, value := range map[string]string{"logout_hint": hint, "post_logout_redirect_uri": postLogout} {
		query.Del(name)
		if value != "" {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}
