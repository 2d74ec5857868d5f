package exchange

import (
	"net/http"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
)

// exposure determines which checks a route needs against requests that pages of other
// origins make a browser send.
type exposure struct {
	writes    bool // changes a namespace or authentications
	signs     bool // signs somebody in or out
	anonymous bool // a credential in the header is no reason to accept a write
	apiKey    bool // X-API-Key is a credential
	anyHost   bool // served under any host name
}

func (t *Router) exposureOf(o *call.Operation) exposure {
	protected, required := t.invoker.Protects(o.Area), t.invoker.Required()
	return exposure{
		writes: o.Changes(),
		signs:  o.SignsInOrOut(),
		// Signing in needs no credential, but it has no effect on requests with one.
		anonymous: !protected && !(o.SignsInOrOut() && required),
		apiKey:    o.Area == call.AreaOFREP,
		anyHost:   o.Evaluates() || protected || o.Area == call.AreaPublic && required,
	}
}

// exposureOfPages returns the exposure of mounts. Pages have forms, among them those for
// signing in, so any request that is not safe may write or sign somebody in.
func (t *Router) exposureOfPages() exposure {
	required := t.invoker.Required()
	return exposure{writes: true, signs: true, anonymous: !required, anyHost: required}
}

// originChecks rejects requests that a page of another origin makes a browser send
// without the user's knowledge. Requests of other clients pass: they send neither Origin
// nor Sec-Fetch-Site.
type originChecks struct {
	session http.CrossOriginProtection // with a session, or if one may begin or end; trusts our own and the trusted origins
	writes  http.CrossOriginProtection // if a write needs no credential; also trusts some CORS origins
	hosts   hostRule
	cookie  call.SessionCookie
}

// newOriginChecks returns the checks. own are the origins of the configuration in the form
// of [ParseOrigin]. Of the CORS origins only those listed exactly may write: a pattern can
// match pages that the operator does not know.
func newOriginChecks(config Config, own ownOrigins) *originChecks {
	hosts := slices.Clone(config.AllowedHosts)
	if own.public != "" {
		hosts = append(hosts, hostOfOrigin(own.public))
	}
	c := &originChecks{hosts: newHostRule(hosts), cookie: config.Invoker.Session()}
	for _, origin := range own.all() {
		_ = c.session.AddTrustedOrigin(origin) // they are valid
		_ = c.writes.AddTrustedOrigin(origin)
	}
	if config.CORS == nil {
		return c
	}
	for _, origin := range lower(config.CORS.AllowedOrigins) {
		if !strings.Contains(origin, "*") {
			_ = c.writes.AddTrustedOrigin(origin) // an invalid origin matches no page anyway
		}
	}
	return c
}

// The errors of the checks. Each states the remedy.
var (
	errSessionOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: pages of other origins cannot use the session cookie; present a token in the Authorization header")
	errSigningOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: only pages of this service can send it without a token in the Authorization header")
	errWriteOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: present a token in the Authorization header, or name the page's origin in cors.allowed_origins (exactly, not by a pattern)")
	errAnonymousOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: name the page's origin in cors.allowed_origins (exactly, not by a pattern)")
)

// check returns PermissionDenied if the request may come from a page that must not send
// it. It uses only the method, the host and the header.
func (c *originChecks) check(r *http.Request, e exposure) error {
	session := c.usesSession(r.Header, e.apiKey)
	if (session || e.signs && !hasCredential(r.Header)) && !passes(&c.session, r) {
		if session {
			return errSessionOrigin
		}
		return errSigningOrigin
	}
	if e.writes && (e.anonymous || !hasCredential(r.Header)) && !passes(&c.writes, r) {
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
// not add by itself: a page of another origin can only send it if CORS allows that.
func hasCredential(header http.Header) bool {
	return len(header["Authorization"]) > 0 || First(header, "X-Api-Key") != ""
}

// usesSession reports whether the session cookie is the credential of a request. An API
// key replaces it only if the route accepts those.
func (c *originChecks) usesSession(header http.Header, apiKey bool) bool {
	if len(header["Authorization"]) > 0 || apiKey && First(header, "X-Api-Key") != "" {
		return false
	}
	return c.cookie.In(header["Cookie"])
}

// passes reports whether the request is safe, or passes the protection. No browser sends
// one of the headers twice, and a second one does not become ours by the first.
func passes(protection *http.CrossOriginProtection, r *http.Request) bool {
	if len(r.Header["Origin"]) > 1 || len(r.Header["Sec-Fetch-Site"]) > 1 {
		return isSafe(r.Method)
	}
	return protection.Check(r) == nil
}

// isSafe reports whether requests with the method change nothing (RFC 9110 9.2.1).
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
