package codehost

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEmail is the maximum length of an e-mail address in bytes (RFC 5321).
const maxEmail = 254

// address is an e-mail address of a person, as GitHub and Gitea describe it.
type address struct {
	Email             string
	Primary, Verified bool
}

// primaryVerified returns the primary address if it is verified, or "".
func primaryVerified(addresses []address) string {
	for _, a := range addresses {
		if a.Primary && a.Verified {
			return normalizeEmail(a.Email)
		}
	}
	return ""
}

// normalizeEmail returns the address in lower case, or "" if it is not one.
func normalizeEmail(raw string) string {
	local, domain, found := strings.Cut(raw, "@")
	if !found || local == "" || domain == "" || strings.Contains(domain, "@") || len(raw) > maxEmail || !utf8.ValidString(raw) ||
		strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return ""
	}
	return lowerASCII(raw)
}

// domainOf returns the domain of a normalized address, or "" if it is not ASCII: such a
// domain has more than one spelling.
func domainOf(email string) string {
	_, domain, _ := strings.Cut(email, "@")
	if strings.ContainsFunc(domain, func(r rune) bool { return r > unicode.MaxASCII }) {
		return ""
	}
	return domain
}

// lowerASCII returns the text with its ASCII letters in lower case. Other letters stay:
// the lower case of some, such as the Kelvin sign, is an ASCII letter.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}
