package config

import (
	"strconv"
	"strings"
	"time"
)

// Session configures the sessions of people, and their cookies.
type Session struct {
	Domain         string        `key:"domain"`
	Secure         string        `key:"secure" default:"auto" options:"auto true false" fold:"true"`
	HostPrefix     bool          `key:"host_prefix" default:"false"`
	TokenLifetime  time.Duration `key:"token_lifetime" default:"24h" min:"1m" max:"720h"`
	CLILifetime    time.Duration `key:"cli_lifetime" default:"12h" min:"1m" max:"720h"`
	StateLifetime  time.Duration `key:"state_lifetime" default:"10m" min:"1m" max:"1h"`
	MaxPerIdentity int           `key:"max_per_identity" default:"20" min:"1" max:"1000"`
	CSRF           CSRF          `key:"csrf"`
}

// CSRF configures which pages may write with the session cookie.
type CSRF struct {
	TrustedOrigins []string `key:"trusted_origins"`
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
