package config

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/handler/login/provider"
)

const oidcKey = "authentication.methods.oidc"

// OIDC configures how people sign in with OpenID Connect.
type OIDC struct {
	Enabled      bool                 `key:"enabled" default:"false"`
	Cleanup      Cleanup              `key:"cleanup"`
	EmailMatches []string             `key:"email_matches"`
	Providers    map[string]*Provider `key:"providers"`
}

// Provider configures one OpenID provider.
type Provider struct {
	IssuerURL       string            `key:"issuer_url"`
	ClientID        string            `key:"client_id"`
	ClientSecret    string            `key:"client_secret" secret:"true"`
	RedirectAddress string            `key:"redirect_address" defaultText:"server.public_url"`
	DisplayName     string            `key:"display_name" defaultText:"the name of the provider"`
	Scopes          []string          `key:"scopes" default:"openid profile email"`
	UsePKCE         bool              `key:"use_pkce" default:"true"`
	AuthorizeParams map[string]string `key:"authorize_params" keepCase:"true"`
	Userinfo        bool              `key:"userinfo" default:"false"`
	GroupsClaim     string            `key:"groups_claim" default:"groups"`
	RolesClaim      string            `key:"roles_claim"`
	SigningAlgs     []string          `key:"signing_algs" default:"RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"`

	AllowedEmails        []string `key:"allowed_emails"`
	AllowedDomains       []string `key:"allowed_domains"`
	AllowedGroups        []string `key:"allowed_groups"`
	AllowEveryone        bool     `key:"allow_everyone" default:"false"`
	TrustUnverifiedEmail bool     `key:"trust_unverified_email" default:"false"`

	Logout string `key:"logout" default:"local" options:"local provider" fold:"true"`
	CAPath string `key:"ca_path" defaultText:"the authorities of the system"`
}

// Label returns the text of the sign-in button of the provider with the name.
func (p *Provider) Label(name string) string {
	return cmp.Or(p.DisplayName, name)
}

// OpenIDProvider returns the configuration of the provider with the name.
func (c *Config) OpenIDProvider(name string, observer provider.Observer) oidc.Config {
	methods := c.Authentication.Methods
	p := methods.OIDC.Providers[name]
	binds := func(kind string) bool { return c.Authorization.binds("oidc:" + name + ":" + kind + ":") }
	return oidc.Config{
		Name: name, Issuer: p.IssuerURL, ClientID: p.ClientID, ClientSecret: p.ClientSecret,
		RedirectURI: c.callbackURL(p.RedirectAddress, "oidc/"+name),
		Scopes:      p.Scopes, PKCE: p.UsePKCE, AuthorizeParams: p.AuthorizeParams, Algorithms: p.SigningAlgs, CAPath: p.CAPath,
		Userinfo: p.Userinfo, GroupsClaim: p.GroupsClaim, RolesClaim: p.RolesClaim, TrustUnverifiedEmail: p.TrustUnverifiedEmail,
		NeedEmail:  len(p.AllowedEmails)+len(p.AllowedDomains)+len(methods.OIDC.EmailMatches) > 0 || binds("email") || binds("domain"),
		NeedGroups: len(p.AllowedGroups) > 0 || binds("group"), GroupsAdmit: len(p.AllowedGroups) > 0, Observer: observer, Now: time.Now,
	}
}

func (c *Config) checkOIDC(found *problems) {
	o := c.Authentication.Methods.OIDC
	if !o.Enabled {
		return
	}
	at := found.in(oidcKey)
	c.requirePublicURL(at)
	if len(o.Providers) == 0 {
		at.key("providers", "must have at least one provider if "+oidcKey+".enabled is true")
	}
	for _, pattern := range o.EmailMatches {
		at.check("email_matches", checkEmailPattern(pattern))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Providers)) {
		at := found.in(oidcKey + ".providers." + name)
		_, err := oidc.New(c.OpenIDProvider(name, nil))
		at.fields(err)
		c.checkRedirect(at, o.Providers[name].RedirectAddress)
		o.Providers[name].check(len(o.EmailMatches) > 0, at)
	}
}

func (p *Provider) check(matched bool, at scope) {
	at.check("display_name", checkDisplayName(p.DisplayName))
	if len(p.AllowedGroups) > 0 && p.GroupsClaim == "" {
		at.key("allowed_groups", "requires groups_claim")
	}
	checkAdmission(at, p.AllowEveryone, matched, []allowList{
		{"allowed_emails", p.AllowedEmails, checkEmail}, {"allowed_domains", p.AllowedDomains, checkDomain},
		{"allowed_groups", p.AllowedGroups, provider.CheckName},
	})
}

// checkEmailPattern returns an error unless the regular expression matches only up to the
// end of an address: @corp.example would also match a@corp.example.evil.
func checkEmailPattern(pattern string) error {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return fmt.Errorf("must be regular expressions: %w", err)
	}
	if !endsInDollar(parsed) {
		return fmt.Errorf(`must be regular expressions that end in $, also in each alternative, such as @corp\.example$, not %q`, pattern)
	}
	_, err = regexp.Compile(pattern)
	return err
}

// endsInDollar reports whether each match ends where the text does.
func endsInDollar(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEndText:
		return true
	case syntax.OpConcat:
		return endsInDollar(re.Sub[len(re.Sub)-1])
	case syntax.OpCapture, syntax.OpPlus:
		return endsInDollar(re.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !endsInDollar(sub) })
	}
	return false
}

// publicIssuers are the hosts of providers where anyone can get an account.
var publicIssuers = append([]string{"accounts.google.com", "gitlab.com", "appleid.apple.com", "www.facebook.com", "www.linkedin.com", "api.login.yahoo.com", "codeberg.org"}, oidc.EntraHosts...)

// public reports whether anyone can get an account at the provider.
func (p *Provider) public() bool {
	return slices.Contains(publicIssuers, strings.ToLower(parsed(p.IssuerURL).Hostname()))
}
