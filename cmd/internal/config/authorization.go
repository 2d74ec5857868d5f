package config

import (
	"fmt"

	"github.com/guidonhq/guidon/service"
)

// Authorization configures the permissions of identities.
type Authorization struct {
	Required     string       `key:"required" default:"auto" options:"auto true false" fold:"true" doc:"Whether roles are enforced. auto means true if authentication is required and a method other than token is enabled or a binding is configured here. If false, every identity may do everything, except that tokens keep the role and the namespaces that they were created with. true requires authentication.required."`
	DefaultRoles DefaultRoles `key:"default_roles" doc:"Roles, in all namespaces, of identities that match no binding and have no roles claim. none denies them access."`
	Bindings     []string     `key:"bindings" doc:"Roles of identities, as role=subject or role@namespace,namespace=subject, at most 1000. Roles are evaluator, client, viewer, editor and admin. Namespaces are keys, beginnings such as pay-*, or *, which is the default. Subjects are oidc:<provider>:{sub|email|domain|group}:<value>, codehost:{id|email|domain|org|team}:<value>, kubernetes:namespace:<namespace>, kubernetes:serviceaccount:<namespace>/<name>, jwt:{sub|group}:<value> or jwt:claim:<name>=<value>; oidc:<provider>:*, codehost:*, kubernetes:* and jwt:* match every identity. Write a space as %20."`
}

// DefaultRoles configures the roles of identities that match no binding, by method.
type DefaultRoles struct {
	OIDC       string `key:"oidc" default:"viewer" options:"none evaluator client viewer editor admin" doc:"Role of people who signed in with OpenID Connect."`
	Codehost   string `key:"codehost" default:"viewer" options:"none evaluator client viewer editor admin" doc:"Role of people who signed in with a code host."`
	Kubernetes string `key:"kubernetes" default:"client" options:"none evaluator client viewer editor admin" doc:"Role of Kubernetes service accounts."`
	JWT        string `key:"jwt" default:"client" options:"none evaluator client viewer editor admin" doc:"Role of JSON Web Tokens."`
	Token      string `key:"token" default:"admin" options:"none evaluator client viewer editor admin" doc:"Role of static tokens that were created without a role."`
}

// Role returns the default role of the method, which is RoleNone for unknown methods.
func (d DefaultRoles) Role(method service.Method) service.Role {
	role := service.RoleNone
	name := map[service.Method]string{
		service.MethodOIDC: d.OIDC, service.MethodCodehost: d.Codehost, service.MethodKubernetes: d.Kubernetes,
		service.MethodJWT: d.JWT, service.MethodToken: d.Token,
	}[method]
	if name != "" {
		_ = role.UnmarshalText([]byte(name)) // never fails; an unknown name becomes RoleNone
	}
	return role
}

// maxBindings is the maximum number of configured bindings.
const maxBindings = 1000

// ParsedBindings returns the bindings, which Load has checked.
func (a Authorization) ParsedBindings() []service.Binding {
	var bindings []service.Binding
	for _, text := range a.Bindings {
		if b, err := service.ParseBinding(text); err == nil {
			b.Source = service.SourceConfiguration
			bindings = append(bindings, b)
		}
	}
	return bindings
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
