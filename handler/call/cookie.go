package call

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// The names of the cookies of a browser session.
const (
	tokenCookie = "service_client_token"
	stateCookie = "service_client_state"
	hostPrefix  = "__Host-"
)

// SessionCookie configures the cookie that holds the token of a browser session. The zero
// value is a cookie for this host only, which the browser also sends over plain HTTP and
// keeps until it is closed.
type SessionCookie struct {
	Lifetime time.Duration // how long the browser keeps it; 0 means until it is closed
	Domain   string        // all hosts of this domain get it; "" means this host only
	Secure   bool          // it is sent over HTTPS only
	// HostPrefix adds __Host- to its name. A page of a sibling domain cannot set a cookie
	// of that name, and no other name is read. Browsers require such a cookie to be Secure
	// and without a Domain, so it is, whatever the other fields are.
	HostPrefix bool
}

// Set returns the value of Set-Cookie that gives a browser the session of the token.
func (s SessionCookie) Set(token string) string {
	c := s.cookie(tokenCookie) // #nosec G124 -- cookie sets the attributes
	c.Value, c.MaxAge = token, int(s.Lifetime.Seconds())
	return c.String()
}

// Clear returns the values of Set-Cookie that make a browser delete both cookies of a
// session. A browser only does so if name, path and domain are those of the cookie, and
// replaces a Secure cookie only by another one. With a domain, a cookie of this host alone
// is deleted too: the domain may not always have been configured, and two cookies of the
// name are refused.
func (s SessionCookie) Clear() []string {
	values := s.clear()
	if s.Domain != "" && !s.HostPrefix {
		s.Domain = ""
		values = append(values, s.clear()...)
	}
	return values
}

func (s SessionCookie) clear() []string {
	var values []string
	for _, name := range []string{stateCookie, tokenCookie} {
		c := s.cookie(name) // #nosec G124 -- cookie sets the attributes
		c.MaxAge = -1
		values = append(values, c.String())
	}
	return values
}

// cookie returns a cookie that scripts cannot read. It is Lax, not Strict: the redirect
// after signing in continues a navigation that another site began, and a Strict cookie
// would not be sent with it.
func (s SessionCookie) cookie(name string) *http.Cookie {
	c := &http.Cookie{Name: name, Path: "/", Domain: s.Domain, Secure: s.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if s.HostPrefix {
		c.Name, c.Domain, c.Secure = hostPrefix+name, "", true
	}
	return c
}

// Read returns the token in the values of the Cookie header, or "" if there is none. It
// returns Unauthenticated if there are several, even if they are equal: a page of a sibling
// domain can plant a cookie in addition to the visitor's own.
func (s SessionCookie) Read(lines []string) (token string, err error) {
	switch tokens := s.tokens(lines); len(tokens) {
	case 0:
		return "", nil
	case 1:
		return tokens[0], nil
	}
	return "", Unauthenticated("several cookies of a session")
}

// In reports whether the values of the Cookie header have the cookie, once or more often.
func (s SessionCookie) In(lines []string) bool { return len(s.tokens(lines)) > 0 }

// tokens returns the values of the token cookies that are not empty. Cookies that are
// malformed are ignored, because another application on the same host may have set them.
func (s SessionCookie) tokens(lines []string) (tokens []string) {
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, tokenCookie) }) {
		return nil
	}
	name := tokenCookie
	if s.HostPrefix {
		name = hostPrefix + tokenCookie
	}
	r := http.Request{Header: http.Header{"Cookie": lines}}
	for _, c := range r.CookiesNamed(name) {
		if c.Value != "" {
			tokens = append(tokens, c.Value)
		}
	}
	return tokens
}
