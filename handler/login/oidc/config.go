package oidc

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// Config configures a [Provider]. Name, Issuer, ClientID and RedirectURI are required.
type Config struct {
	Name         string // see [service.IsProviderName]
	Issuer       string // exactly that of the discovery document
	ClientID     string
	ClientSecret string // "" for a public client
	RedirectURI  string // the whole URL of the callback

	Scopes          []string // none is openid, profile and email; openid is always sent
	PKCE            bool
	AuthorizeParams map[string]string // further parameters of authorization requests
	Algorithms      []string          // of signatures; nil is all of [issuer.DefaultAlgorithms]
	CAPath          string            // see [provider.Config]

	// Userinfo asks the userinfo endpoint for claims that the ID token lacks, also if none of
	// them is needed.
	Userinfo    bool
	GroupsClaim string // a [issuer.ClaimPath]; "" is none
	RolesClaim  string // a [issuer.ClaimPath]; "" is none
	// TrustUnverifiedEmail accepts e-mail addresses without email_verified. An explicit
	// false is never accepted.
	TrustUnverifiedEmail bool
	// NeedEmail and NeedGroups must be set if verified e-mail addresses or groups decide who
	// is admitted or what people may do. If the ID token lacks them, the userinfo endpoint
	// is asked.
	NeedEmail, NeedGroups bool
	// GroupsAdmit rejects people whose groups the provider leaves out because there are too
	// many. It must be set if sign-in depends on groups.
	GroupsAdmit bool

	Observer provider.Observer // optional
	Now      func() time.Time  // nil is time.Now
}

const (
	defaultGroups = "groups"
	scopeOpenID   = "openid"
)

// withDefaults returns the configuration with what its zero values mean.
func (c Config) withDefaults() Config {
	if len(c.Scopes) == 0 {
		c.Scopes = []string{"profile", "email"}
	}
	scopes := []string{scopeOpenID}
	for _, scope := range c.Scopes {
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	c.Scopes = scopes
	if c.Algorithms == nil {
		c.Algorithms = issuer.DefaultAlgorithms()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// check returns all that is wrong with the configuration.
func (c Config) check() error {
	return errors.Join(
		provider.Invalid("issuer_url", checkIssuer(c.Issuer)),
		provider.Invalid("client_id", provider.CheckCredential(c.ClientID)),
		provider.Invalid("client_secret", provider.Optional(c.ClientSecret, provider.CheckCredential)),
		provider.Invalid("scopes", provider.CheckScopes(c.Scopes)),
		provider.Invalid("authorize_params", checkParams(c.AuthorizeParams)),
		provider.Invalid("groups_claim", issuer.ClaimPath(c.GroupsClaim).Check()),
		provider.Invalid("roles_claim", issuer.ClaimPath(c.RolesClaim).Check()),
		provider.Invalid("signing_algs", issuer.CheckAlgorithms(c.Algorithms)),
	)
}

// EntraHosts are those of Entra ID, where sharedTenants stand for all tenants: each token has
// the issuer of its own tenant.
var (
	EntraHosts = []string{"login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn",
		"login.chinacloudapi.cn"}
	sharedTenants = []string{"common", "organizations", "consumers"}
)

// checkIssuer returns an error for a URL that cannot be an issuer. The error does not quote it.
func checkIssuer(issuer string) error {
	if issuer == "" {
		return errors.New("is required")
	}
	if err := provider.CheckBaseURL(issuer); err != nil {
		return err
	}
	if strings.ContainsAny(issuer, "{}<> ") {
		return errors.New("must not contain a placeholder")
	}
	u, err := url.Parse(issuer)
	if err != nil {
		return errors.New("must be a URL")
	}
	tenant, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(u.Path, "/")), "/")
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if slices.Contains(EntraHosts, host) && slices.Contains(sharedTenants, tenant) {
		return fmt.Errorf("must contain the id of one tenant instead of %s, which is no issuer", tenant)
	}
	return nil
}

// reserved are the parameters that cannot be configured: our own, a secret that must not
// be in URLs, and those that replace the request or change the form of the response.
var reserved = []string{
	"client_id", "client_secret", "code_challenge", "code_challenge_method", "code_verifier", "nonce", "redirect_uri",
	"response_type", "scope", "state", "request", "request_uri", "response_mode",
}

// The maximum lengths of a parameter and its name, in bytes.
const (
	maxParam     = 1024
	maxParamName = 64
)

var paramName = regexp.MustCompile(`^[A-Za-z0-9._~-]+$`)

// checkParams returns an error unless the parameters can be added to an authorization request.
func checkParams(params map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		switch {
		case len(name) > maxParamName || !paramName.MatchString(name):
			return fmt.Errorf("must have names of at most 64 letters, digits and ._~-, not %q", name)
		case slices.Contains(reserved, strings.ToLower(name)):
			return fmt.Errorf("must not contain %s", name)
		case len(params[name]) > maxParam:
			return fmt.Errorf("%s must not be longer than %d bytes", name, maxParam)
		}
	}
	return nil
}
