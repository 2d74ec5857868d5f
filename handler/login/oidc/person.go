package oidc

import (
	"maps"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// person has the claims of the provider about a person who has signed in.
type person struct {
	sub     string
	session string        // "" if the provider names none
	token   issuer.Claims // claims of the ID token
	info    issuer.Claims // claims of the userinfo endpoint, nil if there are none
	infoErr error         // why there are none although some are needed
}

// lookup returns the value at the path, or nil if there is none. The ID token comes first.
func (w person) lookup(path issuer.ClaimPath) any {
	if value := w.token.Lookup(path); value != nil {
		return value
	}
	return w.info.Lookup(path)
}

// text returns the string of that name, or "" if there is none.
func (w person) text(name string) string {
	for _, source := range []issuer.Claims{w.token, w.info} {
		if source[name] != nil {
			text, _ := source[name].(string)
			return text
		}
	}
	return ""
}

// email is an e-mail address, or nothing.
type email struct {
	address  string // as the provider writes it, "" for none
	verified bool   // so that it may decide something
}

// email returns the e-mail address of the person. An address whose verification the
// provider does not mention is verified if trust is true.
func (w person) email(trust bool) email {
	address := w.text("email")
	if !issuer.IsEmail(address) {
		return email{}
	}
	mentioned, vouched := false, false
	for _, source := range []issuer.Claims{w.token, w.info} {
		own := source["email"]
		if own != nil && own != address || !source.Has("email_verified") {
			continue // it is about another address, or about none
		}
		mentioned = true
		if !isTrue(source["email_verified"]) {
			return email{address: address}
		}
		vouched = vouched || own != nil
	}
	return email{address: address, verified: vouched || trust && !mentioned}
}

// isTrue reports whether the value is true. Amazon Cognito and others send a string.
func isTrue(value any) bool { return value == true || value == "true" }

// domain returns the domain of a verified address, or "".
func (e email) domain() string {
	if !e.verified {
		return ""
	}
	return issuer.EmailDomain(e.address)
}

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
		if elsewhere, ok := source["_claim_names"].(map[string]any); ok && issuer.Claims(elsewhere).Has(name) {
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

// The metadata of an identity. Those that do not name OpenID Connect are the same for all
// methods.
const (
	metadataPrefix = "io.service.auth."
	metadataOIDC   = metadataPrefix + "oidc."
)

// maxMetadataValue is the maximum length of a value in bytes. All values together remain
// below 8 KiB.
const maxMetadataValue = 1 << 10

// metadata returns the facts about the person that clients see. Values that are too long or unsafe to
// show are left out. The e-mail address for all methods is only there if it is verified:
// nothing next to it says whether it is.
func (p *Provider) metadata(who person, e email) map[string]string {
	name, picture := who.text("name"), provider.SafeURL(who.text("picture"))
	values := map[string]string{
		metadataOIDC + "provider":  p.config.Name,
		metadataOIDC + "sub":       who.sub,
		metadataOIDC + "email":     e.address,
		metadataOIDC + "name":      name,
		metadataOIDC + "picture":   picture,
		metadataOIDC + "profile":   provider.SafeURL(who.text("profile")),
		metadataPrefix + "name":    name,
		metadataPrefix + "picture": picture,
	}
	if e.address != "" {
		values[metadataOIDC+"email_verified"] = strconv.FormatBool(e.verified)
	}
	if e.verified {
		values[metadataPrefix+"email"] = e.address
	}
	maps.DeleteFunc(values, func(_, value string) bool {
		return value == "" || len(value) > maxMetadataValue || !service.IsClean(value)
	})
	return values
}
