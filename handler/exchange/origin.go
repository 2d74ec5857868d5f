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
	writes  bool // changes a namespace or authentications
	signs   bool // starts or ends a session
	secret  bool // must not be read by a page of another origin, even if CORS allows that elsewhere
	tokens  bool // identifies its callers by a token in a header, if there is one
	apiKeys bool // X-API-Key may have that token
	anyHost bool // served under any host name
}

func (t *Router) exposureOf(o *call.Operation) exposure {
	protected, required := t.invoker.Protects(o.Area), t.invoker.Required()
	return exposure{
		writes:  o.Changes(),
		signs:   o.Has(call.SignsInOrOut),
		tokens:  protected,
		apiKeys: o.Area == call.AreaOFREP,
		anyHost: o.Evaluates() || protected || o.Area == call.AreaPublic && required,
	}
}

// exposureOfPages returns the exposure of mounts. Pages have forms, among them those for
// signing in, so any request that is not safe may write or start a session. They identify
// their visitors by the cookie alone: a proxy in front of them may need the Authorization
// header, and then browsers add it to the requests of all pages.
func (t *Router) exposureOfPages() exposure {
	return exposure{writes: true, signs: true, anyHost: t.invoker.Required()}
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
	errPageOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: only pages of this service can send it, and those of authentication.session.csrf.trusted_origins")
	errWriteOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: present a token in the Authorization header, or name the page's origin in cors.allowed_origins (exactly, not by a pattern)")
	errAnonymousOrigin = guidon.Errorf(guidon.PermissionDenied,
		"permission denied: cross-origin request: name the page's origin in cors.allowed_origins (exactly, not by a pattern)")
)

// check returns PermissionDenied if the request may come from a page that must not send
// it. It uses only the method, the host and the header.
func (c *originChecks) check(r *http.Request, e exposure) error {
	if !e.presentsToken(r.Header) {
		session := c.cookie.In(r.Header["Cookie"])
		if (session || e.signs || e.secret) && !passes(&c.session, e.asked(r)) {
			return e.sessionError(session)
		}
		if e.writes && !passes(&c.writes, r) {
			return e.writeError()
		}
	}
	if !e.anyHost {
		return c.hosts.check(r.Host)
	}
	return nil
}

// asked returns the request as it is checked: reading a secret is as bad as a write.
func (e exposure) asked(r *http.Request) *http.Request {
	if !e.secret {
		return r
	}
	write := *r
	write.Method = http.MethodPost
	return &write
}

// presentsToken reports whether the credential of a request is a token in its header. A
// page of another origin can only send it if CORS allows that. Everything else, such as
// the credentials that a browser adds for a proxy, is none.
func (e exposure) presentsToken(header http.Header) bool {
	switch {
	case !e.tokens:
		return false
	case len(header["Authorization"]) > 0: // then X-API-Key does not count
		return call.HasToken(header["Authorization"])
	}
	return e.apiKeys && First(header, "X-Api-Key") != ""
}

// sessionError returns the error for a request with the session cookie, or for one that
// starts or ends a session or reads a secret.
func (e exposure) sessionError(session bool) error {
	switch {
	case !e.tokens:
		return errPageOrigin
	case session:
		return errSessionOrigin
	}
	return errSigningOrigin
}

func (e exposure) writeError() error {
	if e.tokens {
		return errWriteOrigin
	}
	return errAnonymousOrigin
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
