package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/service"
)

// Authentication configures which requests need a credential, and how they are issued.
type Authentication struct {
	Required      bool    `key:"required" default:"false"`
	RecordAddress bool    `key:"record_address" default:"false"`
	Exclude       Exclude `key:"exclude"`
	Session       Session `key:"session"`
	Methods       Methods `key:"methods"`

	FailureLimit FailureLimit `key:"failure_limit"`
	RequestLimit RequestLimit `key:"request_limit"`
}

// FailureLimit configures the limits of failed credentials.
type FailureLimit struct {
	PerAddress int  `key:"per_address" default:"10" min:"0" max:"1000000"`
	Total      int  `key:"total" default:"1000" min:"0" max:"1000000"`
	Loopback   bool `key:"loopback" default:"false"`
}

// RequestLimit configures the limit of requests with one credential.
type RequestLimit struct {
	PerToken int `key:"per_token" default:"0" min:"0" max:"1000000"`
}

// Exclude selects the parts of the API that need no token.
type Exclude struct {
	Management bool `key:"management" default:"false"`
	Evaluation bool `key:"evaluation" default:"false"`
	OFREP      bool `key:"ofrep" default:"false"`
}

// Methods configures the authentication methods.
type Methods struct {
	Token      Token      `key:"token"`
	OIDC       OIDC       `key:"oidc"`
	Codehost   Codehost   `key:"codehost"`
	Kubernetes Kubernetes `key:"kubernetes"`
	JWT        JWT        `key:"jwt"`
}

// Token configures static tokens.
type Token struct {
	Enabled   bool      `key:"enabled" default:"false"`
	Cleanup   Cleanup   `key:"cleanup"`
	Bootstrap Bootstrap `key:"bootstrap"`
}

// Cleanup configures when expired authentications of a method are removed.
type Cleanup struct {
	Interval    time.Duration `key:"interval" default:"1h" min:"1ms"`
	GracePeriod time.Duration `key:"grace_period" default:"30m" min:"1ms"`
}

// Bootstrap configures the first token.
type Bootstrap struct {
	Token      string            `key:"token" secret:"true"`
	Expiration time.Duration     `key:"expiration" default:"0s" min:"0s"`
	Metadata   map[string]string `key:"metadata" secret:"true"`
}

// Enabled returns the enabled methods, in the order of [service.Methods].
func (m Methods) Enabled() []service.Method {
	on := map[service.Method]bool{
		service.MethodToken: m.Token.Enabled, service.MethodOIDC: m.OIDC.Enabled, service.MethodCodehost: m.Codehost.Enabled,
		service.MethodKubernetes: m.Kubernetes.Enabled, service.MethodJWT: m.JWT.Enabled,
	}
	return slices.DeleteFunc(service.Methods(), func(method service.Method) bool { return !on[method] })
}

func (c *Config) checkAuthentication(found *problems) {
	a := c.Authentication
	if a.Required && len(a.Methods.Enabled()) == 0 {
		found.key("authentication.required", "would reject every request, because no authentication method is enabled; set authentication.methods.token.enabled (GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED) to true, or enable another one")
	}
	// Other tokens cannot be sent in a header.
	token := a.Methods.Token.Bootstrap.Token
	if strings.TrimSpace(token) != token || strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
		found.key("authentication.methods.token.bootstrap.token",
			"must consist of printable ASCII characters, without leading or trailing spaces")
	}
	c.checkOIDC(found)
	c.checkCodehost(found)
	c.checkKubernetes(found)
	c.checkJWT(found)
}

// Cleanups returns the cleanup of each method that has one.
func (m Methods) Cleanups() map[service.Method]Cleanup {
	return map[service.Method]Cleanup{
		service.MethodToken: m.Token.Cleanup, service.MethodOIDC: m.OIDC.Cleanup,
		service.MethodCodehost: m.Codehost.Cleanup, service.MethodKubernetes: m.Kubernetes.Cleanup,
	}
}

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
		if sent, err := exchange.ParseOrigin(origin); err != nil || sent != origin {
			found.key("authentication.session.csrf.trusted_origins", "must be origins as browsers send them, such as https://admin.example, in lower case and without path and default port, not "+strconv.Quote(origin))
		}
	}
}

// within reports whether the host is the domain or below it.
func within(host, domain string) bool {
	host, domain = strings.ToLower(host), strings.ToLower(domain)
	return host == domain || strings.HasSuffix(host, "."+domain)
}
