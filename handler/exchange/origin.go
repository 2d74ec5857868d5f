package exchange

import (
	"net/http"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
)

// exposure determines which checks a route needs against requests that pages of other
// origins make a browser send.
type exposure struct {
	writes    bool // changes a namespace or authentications
	anonymous bool // credentials are not checked
	apiKey    bool // X-API-Key is a credential
	anyHost   bool // served under any host name
	page      bool // only pages of this origin may make it change anything
}

func (t *Router) exposureOf(o *call.Operation) exposure {
	anonymous := !t.invoker.Protects(o.Area)
	return exposure{
		writes:    o.Changes(),
		anonymous: anonymous,
		apiKey:    o.Area == call.AreaOFREP,
		anyHost:   o.Evaluates() || !anonymous || o.Area == call.AreaPublic && t.invoker.Required(),
	}
}

// originChecks rejects requests that a page of another origin makes a browser send
// without the user's knowledge. Requests of other clients pass: they send neither Origin
// nor Sec-Fetch-Site.
type originChecks struct {
	session http.CrossOriginProtection // if the cookie is the credential; trusts no other origin
	writes  http.CrossOriginProtection // if a write needs no credential; trusts some CORS origins
	hosts   hostRule
	cookie  call.SessionCookie
}

// init configures the checks. Of the CORS origins only those listed exactly may write: a
// pattern can match pages that the operator does not know.
func (c *originChecks) init(config Config) {
	c.hosts, c.cookie = newHostRule(config.AllowedHosts), config.Invoker.Session()
	if config.CORS == nil {
		return
	}
	for _, origin := range lower(config.CORS.AllowedOrigins) {
		if !strings.Contains(origin, "*") {
			_ = c.writes.AddTrustedOrigin(origin) // an invalid origin matches no page anyway
		}
	}
}

// The errors of the checks. Each states the remedy.
var (
	errSessionOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: pages of other origins cannot use the session cookie; present a token in the Authorization header")
	errWriteOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: present a token in the Authorization header, or name the page's origin in cors.allowed_origins (exactly, not by a pattern)")
	errAnonymousOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: name the page's origin in cors.allowed_origins (exactly, not by a pattern)")
)

// check returns PermissionDenied if the request may come from a page that must not send
// it. It uses only the method, the host and the header.
func (c *originChecks) check(r *http.Request, e exposure) error {
	if (e.page || c.usesSession(r.Header, e.apiKey)) && c.session.Check(r) != nil {
		return errSessionOrigin
	}
	if e.writes && (e.anonymous || !hasCredential(r.Header)) && c.writes.Check(r) != nil {
		if e.anonymous {
			return errAnonymousOrigin
		}
		return errWriteOrigin
	}
	if !e.anyHost {
		return c.hosts.check(r.Host)
	}
	return nil
}

// hasCredential reports whether the header has a credential that a browser does
// not add by itself.
func hasCredential(header http.Header) bool {
	return len(header["Authorization"]) > 0 || First(header, "X-Api-Key") != ""
}

// usesSession reports whether the session cookie is the credential of a request.
// An API key replaces it only if the route accepts those.
func (c *originChecks) usesSession(header http.Header, apiKey bool) bool {
	if len(header["Authorization"]) > 0 || apiKey && First(header, "X-Api-Key") != "" {
		return false
	}
	return c.cookie.In(header["Cookie"])
}
