package oidc

import (
	"regexp"
	"strings"

	"github.com/guidonhq/guidon/handler/login/claims"
)

// maxEmail is the maximum length of an e-mail address in bytes (RFC 5321 4.5.3.1.3).
const maxEmail = 254

// email is an e-mail address, or nothing.
type email struct {
	address  string // as the provider writes it, "" for none
	verified bool   // so that it may decide something
}

// email returns the e-mail address of the person. An address whose verification the
// provider does not mention is verified if trust is true.
func (w person) email(trust bool) email {
	address := w.text("email")
	if !isAddress(address) {
		return email{}
	}
	mentioned, vouched := false, false
	for _, source := range []claims.Object{w.token, w.info} {
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

// isAddress reports whether the text is an e-mail address with exactly one "@".
func isAddress(text string) bool {
	local, domain, _ := strings.Cut(text, "@")
	return len(text) <= maxEmail && local != "" && domain != "" && !strings.ContainsAny(domain, "@") &&
		!strings.ContainsAny(text, " ") && claims.IsClean(text)
}

// domain returns the domain of a verified address, or "".
func (e email) domain() string {
	if !e.verified {
		return ""
	}
	_, domain, _ := strings.Cut(e.address, "@")
	return domainOf(domain)
}

var domainPattern = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)

// domainOf returns the domain in lower case, or "" if the text is no domain in ASCII:
// different domains may look the same in other alphabets.
func domainOf(text string) string {
	domain := lower(text)
	if len(domain) > maxEmail || !domainPattern.MatchString(domain) {
		return ""
	}
	return domain
}

// lower returns the text with its ASCII letters in lower case. Other letters stay: that of
// the Kelvin sign is an ASCII k, but addresses with one and the other are different.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
