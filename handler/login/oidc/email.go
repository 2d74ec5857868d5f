package oidc

import "github.com/guidonhq/guidon/handler/login/issuer"

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
