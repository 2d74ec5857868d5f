package config

import (
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/service"
)

// Authentication configures which requests need a credential, and how they are issued.
type Authentication struct {
	Required      bool    `key:"required" default:"false" doc:"Rejects requests without a valid credential. If false, credentials are not checked."`
	RecordAddress bool    `key:"record_address" default:"false" doc:"Change records of sign-ins, sign-outs, tokens and bindings include the address of the caller, which is personal data."`
	Exclude       Exclude `key:"exclude" doc:"Parts of the API that need no token even if authentication is required."`
	Session       Session `key:"session" doc:"Sessions of people who have signed in."`
	Methods       Methods `key:"methods" doc:"Authentication methods."`

	FailureLimit FailureLimit `key:"failure_limit" doc:"How many requests with an invalid token get 401. Further ones get 429, so that guessing tokens is slow. Requests with a valid token are not limited by it."`
	RequestLimit RequestLimit `key:"request_limit" doc:"How many requests with a valid token are served. Further ones get 429."`
}

// FailureLimit configures the limits of failed credentials.
type FailureLimit struct {
	PerAddress int  `key:"per_address" default:"10" min:"0" max:"1000000" doc:"Requests with an invalid token per second from one address, or from one IPv6 network of 64 bits. As many as in ten seconds may arrive together. 0 means no limit."`
	Total      int  `key:"total" default:"1000" min:"0" max:"1000000" doc:"The same from all addresses."`
	Loopback   bool `key:"loopback" default:"false" doc:"The limits also apply to clients on this machine. These include a proxy on this machine that server.trusted_proxies does not list, and so all of its clients."`
}

// RequestLimit configures the limit of requests with one credential.
type RequestLimit struct {
	PerToken int `key:"per_token" default:"0" min:"0" max:"1000000" doc:"Evaluation and OFREP requests per second with one token. As many as in ten seconds may arrive together. A batch or bulk request counts once; an event stream only when it is opened. 0 means no limit. Each instance counts for itself."`
}

// Exclude selects the parts of the API that need no token.
type Exclude struct {
	Management bool `key:"management" default:"false" doc:"The management API (/api/v1) needs no token. It must be false if roles are enforced."`
	Evaluation bool `key:"evaluation" default:"false" doc:"Evaluation (/evaluate/v1) needs no token."`
	OFREP      bool `key:"ofrep" default:"false" doc:"OFREP (/ofrep/v1) needs no token."`
}

// Methods configures the authentication methods.
type Methods struct {
	Token      Token      `key:"token" doc:"Static tokens, created by an administrator."`
	OIDC       OIDC       `key:"oidc" doc:"People sign in with OpenID Connect."`
	Codehost   Codehost   `key:"codehost" doc:"People sign in with their account at GitHub, GitLab, Gitea or Forgejo. Only GitHub needs this: the others are OpenID providers as well."`
	Kubernetes Kubernetes `key:"kubernetes" doc:"Pods exchange the token of their service account for a client token."`
	JWT        JWT        `key:"jwt" doc:"Clients present JSON Web Tokens of another issuer. They are verified in each request, and nothing is stored."`
}

// Token configures static tokens.
type Token struct {
	Enabled   bool      `key:"enabled" default:"false" doc:"Enables static tokens. On a database that never had a token, the server creates a first one when it starts."`
	Cleanup   Cleanup   `key:"cleanup" doc:"Removal of expired tokens."`
	Bootstrap Bootstrap `key:"bootstrap" doc:"The first token of a database that never had one. Once a database has had a token, these keys have no effect."`
}

// Cleanup configures when expired authentications of a method are removed.
type Cleanup struct {
	Interval    time.Duration `key:"interval" default:"1h" min:"1ms" doc:"Interval between removals of expired tokens or sessions."`
	GracePeriod time.Duration `key:"grace_period" default:"30m" min:"1ms" doc:"How long an expired token or session is still listed before it is removed."`
}

// Bootstrap configures the first token.
type Bootstrap struct {
	Token      string            `key:"token" secret:"true" doc:"The first token. If empty, it is random and shown once in the log; a token set here is never logged. Changing it later, or deleting the token, does not create another one; the server then logs a warning when it starts."`
	Expiration time.Duration     `key:"expiration" default:"0s" min:"0s" doc:"The first token expires after this time; 0s means never."`
	Metadata   map[string]string `key:"metadata" secret:"true" doc:"Additional metadata of the first token. Keys are converted to lower case."`
}

// Enabled returns the enabled methods, in the order of [service.Methods].
func (m Methods) Enabled() []service.Method {
	on := map[service.Method]bool{
		service.MethodToken: m.Token.Enabled, service.MethodOIDC: m.OIDC.Enabled, service.MethodCodehost: m.Codehost.Enabled,
		service.MethodKubernetes: m.Kubernetes.Enabled, service.MethodJWT: m.JWT.Enabled,
	}
	return slices.DeleteFunc(service.Methods(), func(method service.Method) bool { return !on[method] })
}

// browser returns the keys of the enabled methods by which people sign in.
func (m Methods) browser() []string {
	var keys []string
	if m.OIDC.Enabled {
		keys = append(keys, oidcKey)
	}
	if m.Codehost.Enabled {
		keys = append(keys, codehostKey)
	}
	return keys
}

// check checks all but the session, which depends on the server. The public URL is "" if
// it is not configured.
func (a Authentication) check(publicURL string, found *problems) {
	if a.Required && len(a.Methods.Enabled()) == 0 {
		found.key("authentication.required", "would reject every request, because no authentication method is enabled; set authentication.methods.token.enabled (GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED) to true, or enable another one")
	}
	// Other tokens cannot be sent in a header.
	token := a.Methods.Token.Bootstrap.Token
	if strings.TrimSpace(token) != token || strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
		found.key("authentication.methods.token.bootstrap.token",
			"must consist of printable ASCII characters, without leading or trailing spaces")
	}
	base := redirectBase{publicURL: publicURL, insecure: a.Session.insecure()}
	a.Methods.OIDC.check(base, found)
	a.Methods.Codehost.check(base, found)
	a.Methods.Kubernetes.check(found)
	a.Methods.JWT.check(found)
}

// Cleanups returns the cleanup of each method that has one.
func (m Methods) Cleanups() map[service.Method]Cleanup {
	return map[service.Method]Cleanup{
		service.MethodToken: m.Token.Cleanup, service.MethodOIDC: m.OIDC.Cleanup,
		service.MethodCodehost: m.Codehost.Cleanup, service.MethodKubernetes: m.Kubernetes.Cleanup,
	}
}
