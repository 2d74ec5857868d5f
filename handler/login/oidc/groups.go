package oidc

import (
	"strings"

	"github.com/guidonhq/guidon/handler/login/claims"
	"github.com/guidonhq/guidon/service"
)

const (
	maxGroups = 200 // that are kept of a person
	maxRoles  = 100
	maxRole   = 1 << 10 // bytes of one role and its namespaces
)

// groups returns the names of the groups at the path.
func (w person) groups(path claims.Path) []string {
	return claims.Texts(w.lookup(path), claims.IsName)
}

// hasTooManyGroups reports whether the provider says that there are groups at the path
// which it leaves out. Entra ID does so above 200.
func (w person) hasTooManyGroups(path claims.Path) bool {
	name := path.First()
	for _, source := range []claims.Object{w.token, w.info} {
		if elsewhere, ok := source["_claim_names"].(claims.Object); ok && elsewhere.Has(name) {
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

// groupSubjects returns the subjects of the groups: if there are too many, those that the
// configuration chooses.
func (p *Provider) groupSubjects(groups []string) []string {
	choose := len(groups) > maxGroups && p.config.Keep != nil
	var subjects []string
	for _, group := range groups {
		subject := p.subject("group", group)
		if len(subjects) < maxGroups && (!choose || p.config.Keep(subject)) {
			subjects = append(subjects, subject)
		}
	}
	return subjects
}

// roles returns the values at the path that begin with the name of a role.
func (w person) roles(path claims.Path) []string {
	if path == "" {
		return nil
	}
	roles := claims.Texts(w.lookup(path), isRole)
	return roles[:min(len(roles), maxRoles)]
}

// isRole reports whether the text is that of a role, with or without namespaces. Providers
// send the roles of other applications, too.
func isRole(text string) bool {
	name, _, _ := strings.Cut(text, "@")
	role, err := service.ParseRole(name)
	return err == nil && role != service.RoleUnset && len(text) <= maxRole && claims.IsClean(text)
}
