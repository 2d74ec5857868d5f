package loginstate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
)

const (
	hostPrefix = "__Host-"
	namePrefix = "service_client_state_"
	idLength   = 12
	// maxCookies is how many attempts a browser may have. More would make its requests too
	// large for some proxies.
	maxCookies = 5
)

// Cookie returns the cookie of the attempt, for all browser steps below the path.
func (s *Sealer) Cookie(ctx context.Context, a *Attempt) (*http.Cookie, error) {
	value, err := s.sealAttempt(ctx, a)
	if err != nil {
		return nil, err
	}
	c := s.cookie(s.Name(a.State())) // #nosec G124 -- cookie sets the attributes
	c.Value, c.MaxAge = value, int(s.Lifetime.Seconds())
	return c, nil
}

// Forget returns the cookie that makes the browser forget the login cookie of the name.
func (s *Sealer) Forget(name string) *http.Cookie {
	c := s.cookie(name) // #nosec G124 -- cookie sets the attributes
	c.MaxAge = -1
	return c
}

// cookie returns a cookie that scripts cannot read. It is Lax, not Strict, since the
// callback continues a navigation that the provider's site began.
func (s *Sealer) cookie(name string) *http.Cookie {
	c := &http.Cookie{Name: name, Path: s.Path, Secure: s.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if s.HostPrefix { // what browsers demand of such a name
		c.Path, c.Secure = "/", true
	}
	return c
}

// Open returns the attempt of the callback with the state, among the cookies of the
// request, and the name of its cookie. It returns Unauthenticated unless there is exactly
// one cookie of that name, which was sealed for it, is young enough, and belongs to the
// provider and the state.
func (s *Sealer) Open(ctx context.Context, cookies []*http.Cookie, state string, provider Fingerprint) (*Attempt, string, error) {
	name := s.Name(state)
	found := slices.DeleteFunc(slices.Clone(cookies), func(c *http.Cookie) bool { return c.Name != name })
	if len(found) != 1 {
		return nil, name, loginCookie.refuse("%d login cookies for this state; need one", len(found))
	}
	a, err := s.openAttempt(ctx, name, found[0].Value)
	switch {
	case err != nil:
		return nil, name, err
	case a.Fingerprint != provider:
		return nil, name, loginCookie.refuse("login cookie is of another provider, or of another configuration")
	case !a.hasState(state):
		return nil, name, loginCookie.refuse("login cookie is of another state")
	}
	return a, name, nil
}

// Surplus returns the names of the cookies that the browser must forget before it gets
// another: those that cannot be opened, and the oldest, so that at most five are left
// then.
func (s *Sealer) Surplus(ctx context.Context, cookies []*http.Cookie) ([]string, error) {
	attempts := map[string]*Attempt{}
	var names []string // in the order of the request
	for _, c := range cookies {
		if !s.isName(c.Name) || slices.Contains(names, c.Name) {
			continue
		}
		a, err := s.openAttempt(ctx, c.Name, c.Value)
		if err != nil && guidon.CodeOf(err) != guidon.Unauthenticated {
			return nil, err
		}
		names = append(names, c.Name)
		if err == nil {
			attempts[c.Name] = a
		}
	}
	kept := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return attempts[name] == nil })
	slices.SortStableFunc(kept, func(x, y string) int { // newest first
		return cmp.Compare(attempts[y].Begun.Unix(), attempts[x].Begun.Unix())
	})
	kept = kept[:min(len(kept), maxCookies-1)]
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(kept, name) }), nil
}

// Name returns the name of the cookie for the state: one for each attempt, so that
// attempts in several tabs do not overwrite each other's.
func (s *Sealer) Name(state string) string {
	digest := sha256.Sum256([]byte(state))
	return s.prefix() + base64.RawURLEncoding.EncodeToString(digest[:])[:idLength]
}

func (s *Sealer) prefix() string {
	if s.HostPrefix {
		return hostPrefix + namePrefix
	}
	return namePrefix
}

// isName reports whether a cookie of that name is a login cookie, or has a similar name.
func (s *Sealer) isName(name string) bool { return strings.HasPrefix(name, s.prefix()) }
