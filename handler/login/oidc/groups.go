package oidc

import (
	"strings"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/service"
)

const (
	maxRoles = 100
	maxRole  = 1 << 10 // bytes of one role and its namespaces
)

// groups returns the names of the groups at the path. They may be many more than are
// stored: which of them decide something is known when the session is created.
func (w person) groups(path issuer.ClaimPath) []string {
	return issuer.ClaimTexts(w.lookup(path), issuer.IsName)
}

// hasTooManyGroups reports whether the provider says that there are groups at the path
// which it leaves out. Entra ID does so above 200.
func (w person) hasTooManyGroups(path issuer.ClaimPath) bool {
	name := path.First()
	for _, source := range []issuer.Claims{w.token, w.info} {
		if elsewhere, ok := source["_claim_names"].(issuer.Claims); ok && elsewhere.Has(name) {
			return true
		}
		if source.Has(name + ":src1") {
			return true
		}
		if has := source["hasgroups"]; name == defaultGroups && has != nil && has != false && has != "false" {
			return true
		}
	}
	return false
}

// roles returns the values at the path that begin with the name of a role.
func (w person) roles(path issuer.ClaimPath) []string {
	roles := issuer.ClaimTexts(w.lookup(path), isRole)
	return roles[:min(len(roles), maxRoles)]
}

// isRole reports whether the text is that of a role, with or without namespaces. Providers
// also send the roles of other applications.
func isRole(text string) bool {
	name, _, _ := strings.Cut(text, "@")
	role, err := service.ParseRole(name)
	return err == nil && role != service.RoleUnset && len(text) <= maxRole && service.IsClean(text)
}
