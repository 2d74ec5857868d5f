package service

import "strings"

// escapedSpace stands for a space in a subject written as text, because lists of bindings
// in variables are separated by spaces.
const escapedSpace = "%20"

// ParseBinding returns the binding written as role[@namespace[,namespace…]]=subject, such
// as "editor@checkout,pay-*=oidc:google:group:payments". Without namespaces it holds
// everywhere. In the subject, "%20" stands for a space. Only the role, the subject and the
// namespaces of the result are set.
func ParseBinding(text string) (Binding, error) {
	granted, subject, ok := strings.Cut(text, "=")
	if !ok {
		return Binding{}, invalidField("binding", "must have the form role=subject or role@namespace,namespace=subject")
	}
	grant, err := ParseGrant(granted)
	if err != nil {
		return Binding{}, err
	}
	return NewBinding(grant.Role, strings.ReplaceAll(subject, escapedSpace, " "), grant.Namespaces)
}

// ParseGrant returns the grant written as role[@namespace[,namespace…]], such as "viewer"
// or "editor@checkout,pay-*", which is also a value of a claim for roles. Without
// namespaces it holds everywhere. A namespace whose key has a comma cannot be written.
func ParseGrant(text string) (Grant, error) {
	name, list, limited := strings.Cut(text, "@")
	role, err := ParseRole(name)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Role: role, Namespaces: []string{Everywhere}}
	if limited {
		g.Namespaces = strings.Split(list, ",")
	}
	if err := g.validate(); err != nil {
		return Grant{}, err
	}
	return g, nil
}
