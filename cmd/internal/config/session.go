package config

import (
	"strconv"
	"strings"
	"time"
)

// Session configures the sessions of people, and their cookies.
type Session struct {
	Domain         string        `key:"domain" doc:"Domain of the session cookie, which is then also sent to all hosts below it. None, the best choice, means only the host that people use."`
	Secure         string        `key:"secure" default:"auto" options:"auto true false" fold:"true" doc:"Whether browsers send the cookies over https only. auto means that they do if server.public_url is https, or if it is not set and server.protocol is https."`
	HostPrefix     bool          `key:"host_prefix" default:"false" doc:"Gives the cookies names that begin with __Host-, and reads no others, so that pages of sibling hosts cannot plant a session. Requires https, and no domain."`
	TokenLifetime  time.Duration `key:"token_lifetime" default:"24h" min:"1m" max:"720h" doc:"Lifetime of a session in a browser, from the sign-in. It is never extended."`
	CLILifetime    time.Duration `key:"cli_lifetime" default:"12h" min:"1m" max:"720h" doc:"Lifetime of a session of the command line, from the sign-in."`
	StateLifetime  time.Duration `key:"state_lifetime" default:"10m" min:"1m" max:"1h" doc:"How long one attempt to sign in may take."`
	MaxPerIdentity int           `key:"max_per_identity" default:"20" min:"1" max:"1000" doc:"Maximum number of sessions of one person. A further one ends the oldest."`
	CSRF           CSRF          `key:"csrf" doc:"Protection against writes by pages of other origins, which is always on."`
}

// CSRF configures which pages may write with the session cookie.
type CSRF struct {
	TrustedOrigins []string `key:"trusted_origins" doc:"Origins such as https://admin.example whose pages may write with the session cookie, besides that of server.public_url."`
}

// insecure reports whether the operator accepts cookies over plain HTTP.
func (s Session) insecure() bool { return s.Secure == "false" }

// SecureCookies reports whether browsers send the cookies over https only.
func (c *Config) SecureCookies() bool {
	switch c.Authentication.Session.Secure {
	case "true":
		return true
	case "false":
		return false
	}
	if c.Server.PublicURL == "" {
		return c.Server.TLS()
	}
	return c.Server.publicHTTPS()
}

func (c *Config) checkSession(found *problems) {
	s := c.Authentication.Session
	const domainKey, prefixKey = "authentication.session.domain", "authentication.session.host_prefix"
	switch domain := s.Domain; {
	case domain == "":
	case !isHostName(domain):
		found.key(domainKey, "must be a domain such as flags.example, without scheme and port, not "+strconv.Quote(domain))
	case c.Server.PublicHost() != "" && !within(c.Server.PublicHost(), domain):
		found.key(domainKey, "must be the host of server.public_url (GUIDON_SERVER_PUBLIC_URL) or a domain above it, because browsers ignore cookies of other domains")
	}
	if s.HostPrefix && s.Domain != "" {
		found.key(prefixKey, "must not be set together with "+domainKey)
	}
	if s.HostPrefix && (!c.SecureCookies() || c.Server.PublicURL != "" && !c.Server.publicHTTPS()) {
		found.key(prefixKey, "requires https: set server.public_url (GUIDON_SERVER_PUBLIC_URL) to an https URL")
	}
	for _, origin := range s.CSRF.TrustedOrigins {
		if canonicalOrigin(origin) != origin {
			found.key("authentication.session.csrf.trusted_origins", "must be origins as browsers send them, such as https://admin.example, in lower case and without path and default port, not "+strconv.Quote(origin))
		}
	}
}

// within reports whether the host is the domain or below it.
func within(host, domain string) bool {
	host, domain = strings.ToLower(host), strings.ToLower(domain)
	return host == domain || strings.HasSuffix(host, "."+domain)
}
