package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/service"
)

// Authorization configures the permissions of identities.
type Authorization struct {
	Required     string       `key:"required" default:"auto" options:"auto true false" fold:"true"`
	DefaultRoles DefaultRoles `key:"default_roles"`
	Bindings     []string     `key:"bindings"`
}

// DefaultRoles configures the roles of identities that match no binding, by method.
type DefaultRoles struct {
	OIDC       string `key:"oidc" default:"viewer" options:"none evaluator client viewer editor admin"`
	Codehost   string `key:"codehost" default:"viewer" options:"none evaluator client viewer editor admin"`
	Kubernetes string `key:"kubernetes" default:"client" options:"none evaluator client viewer editor admin"`
	JWT        string `key:"jwt" default:"client" options:"none evaluator client viewer editor admin"`
	Token      string `key:"token" default:"admin" options:"none evaluator client viewer editor admin"`
}

// Role returns the default role of the method, which is RoleNone for unknown methods.
func (d DefaultRoles) Role(method service.Method) service.Role {
	name := map[service.Method]string{
		service.MethodOIDC: d.OIDC, service.MethodCodehost: d.Codehost, service.MethodKubernetes: d.Kubernetes,
		service.MethodJWT: d.JWT, service.MethodToken: d.Token,
	}[method]
	role, _ := service.ParseRole(cmp.Or(name, "none"))
	return role
}

// maxBindings is the maximum number of configured bindings.
const maxBindings = 1000

// ParsedBindings returns the bindings, and none if one is malformed.
func (a Authorization) ParsedBindings() []*service.Binding {
	bindings, _ := service.ConfiguredBindings(a.Bindings)
	return bindings.All()
}

// binds reports whether a binding has a subject with the prefix.
func (a Authorization) binds(prefix string) bool {
	return slices.ContainsFunc(a.ParsedBindings(), func(b *service.Binding) bool { return strings.HasPrefix(b.Subject, prefix) })
}

// RolesEnforced reports whether roles limit identities.
func (c *Config) RolesEnforced() bool {
	switch c.Authorization.Required {
	case "true":
		return true
	case "false":
		return false
	}
	methods := c.Authentication.Methods.Enabled()
	others := len(methods) > 1 || len(methods) == 1 && methods[0] != service.MethodToken
	return c.Authentication.Required && (others || len(c.Authorization.Bindings) > 0)
}

func (c *Config) checkAuthorization(found *problems) {
	if c.Authorization.Required == "true" && !c.Authentication.Required {
		found.key("authorization.required",
			"requires authentication.required (GUIDON_AUTHENTICATION_REQUIRED), because otherwise credentials are not checked")
	}
	if c.Authentication.Exclude.Management && c.RolesEnforced() {
		found.key("authentication.exclude.management", "must be false if roles are enforced (authorization.required, GUIDON_AUTHORIZATION_REQUIRED), because anyone could otherwise change flags without a role")
	}
	if n := len(c.Authorization.Bindings); n > maxBindings {
		found.key("authorization.bindings", fmt.Sprintf("must not have more than %d elements, not %d", maxBindings, n))
		return
	}
	for _, text := range c.Authorization.Bindings {
		if _, err := service.ParseBinding(text); err != nil {
			found.key("authorization.bindings", fmt.Sprintf("%q: %v", text, err))
		}
	}
}
