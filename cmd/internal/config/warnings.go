package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/service"
)

// warnings collects settings that are valid, but have no effect, are dangerous, or are not tested.
type warnings []string

func (w *warnings) key(key, text string) {
	*w = append(*w, fmt.Sprintf("%s (%s): %s", key, variableOf(key), text))
}

// warnings returns those of a valid configuration. The keys are parts of the database's URL
// that are not used.
func (c *Config) warnings(env environment, unused []string) []string {
	var found warnings
	if len(unused) > 0 {
		found.key("db.url", "takes precedence, so "+strings.Join(unused, ", ")+" has no effect")
	}
	if EngineOf(c.DB.URL) == EngineCockroach {
		found.key("db.url", "CockroachDB is expected to work, but Guidon is not tested on it")
	}
	c.warnFlipt(env, &found)
	c.warnSignIn(&found)
	c.warnRoles(&found)
	c.warnBindings(&found)
	c.warnAudit(&found)
	return found
}

func (c *Config) warnSignIn(found *warnings) {
	a := c.Authentication
	for _, browser := range []struct {
		key string
		on  bool
	}{{oidcKey, a.Methods.OIDC.Enabled}, {codehostKey, a.Methods.Codehost.Enabled}} {
		if browser.on && !a.Required {
			found.key(browser.key+".enabled", "has no effect, because authentication.required is false: anyone can change flags without signing in")
		}
	}
	if a.Session.insecure() {
		found.key("authentication.session.secure", "false lets browsers send the session cookie over plain HTTP, where others can read it")
	}
	if a.Methods.JWT.Enabled && a.Methods.JWT.ValidateClaims.AnyAudience {
		found.key(jwtKey+".validate_claims.any_audience", "accepts tokens that were issued for other services, which can then use them here")
	}
	if k := a.Methods.Kubernetes; k.Enabled && k.Verify == kubernetes.Review && !kubernetes.HasToken(k.ServiceAccountTokenPath) {
		found.key(kubernetesKey+".service_account_token_path",
			"there is no token for the API server, so it will not review any; outside a cluster, set "+kubernetesKey+".verify to keys")
	}
}

// public returns the keys of the enabled providers where anyone can get an account.
func (m Methods) public() []string {
	var keys []string
	for name, p := range m.OIDC.Providers {
		if m.OIDC.Enabled && p.public() {
			keys = append(keys, oidcKey+".providers."+name)
		}
	}
	slices.Sort(keys)
	if m.Codehost.Enabled && m.Codehost.public() {
		keys = append(keys, codehostKey)
	}
	return keys
}

// notEnforced is why a setting for roles has no effect.
const notEnforced = "has no effect, because roles are not enforced (authentication.required, authorization.required)"

func (c *Config) warnRoles(found *warnings) {
	public := c.Authentication.Methods.public()
	if c.Authorization.Required == "false" && len(public) > 0 && c.Authentication.Required {
		found.key("authorization.required", "false lets everyone who can sign in with "+strings.Join(public, ", ")+" do everything")
	}
	if c.Authorization.DefaultRoles.Token != "admin" && !c.RolesEnforced() {
		found.key("authorization.default_roles.token", notEnforced)
	}
	if c.RolesEnforced() && !c.AdminConfigured() {
		found.key("authorization.bindings", `no identity is an admin by this configuration; unless the database has such a binding or token, create one there with "guidon binding create" or "guidon token create --role admin"`)
	}
}

// AdminConfigured reports whether the configuration alone makes any identity an admin of all
// namespaces: with a default role, such as that of tokens, a binding or a roles claim.
func (c *Config) AdminConfigured() bool {
	m := c.Authentication.Methods
	for _, method := range m.Enabled() {
		if c.Authorization.DefaultRoles.Role(method) == service.RoleAdmin {
			return true
		}
	}
	for _, b := range c.Authorization.ParsedBindings() {
		if b.Role == service.RoleAdmin && slices.Contains(b.Namespaces, service.Everywhere) && m.vouches(b.Subject) == "" {
			return true
		}
	}
	claims := m.JWT.Enabled && m.JWT.RolesClaim != ""
	for _, p := range m.OIDC.Providers {
		claims = claims || m.OIDC.Enabled && p.RolesClaim != ""
	}
	return claims
}

// vouches returns the key that must be configured for an identity with the subject to exist,
// or "" if none is missing.
func (m Methods) vouches(subject string) string {
	if provider, ok := service.SubjectProvider(subject); ok && m.OIDC.Enabled {
		if m.OIDC.Providers[provider] == nil {
			return oidcKey + ".providers." + provider
		}
		return ""
	}
	method := service.SubjectMethod(subject)
	if map[string]bool{"codehost": m.Codehost.Enabled, "kubernetes": m.Kubernetes.Enabled, "jwt": m.JWT.Enabled}[method] {
		return ""
	}
	return "authentication.methods." + method + ".enabled"
}

// warnBindings names the bindings that cannot have an effect.
func (c *Config) warnBindings(found *warnings) {
	if len(c.Authorization.Bindings) > 0 && !c.RolesEnforced() {
		found.key("authorization.bindings", notEnforced)
		return
	}
	for i, b := range c.Authorization.ParsedBindings() {
		if missing := c.Authentication.Methods.vouches(b.Subject); missing != "" {
			found.key("authorization.bindings", fmt.Sprintf("%q has no effect without %s", c.Authorization.Bindings[i], missing))
		}
	}
}
