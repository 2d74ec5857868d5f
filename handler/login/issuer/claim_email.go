package issuer

import (
	"strings"
	"unicode"

	"github.com/guidonhq/guidon/service"
)

// maxEmail is the maximum length of an e-mail address in bytes (RFC 5321 4.5.3.1.3).
const maxEmail = 254

// IsEmail reports whether the text is an e-mail address with exactly one "@".
func IsEmail(text string) bool {
	local, domain, _ := strings.Cut(text, "@")
	return len(text) <= maxEmail && local != "" && domain != "" && !strings.Contains(domain, "@") &&
		!strings.ContainsFunc(text, unicode.IsSpace) && service.IsClean(text)
}

// EmailDomain returns the [Domain] of an e-mail address.
func EmailDomain(address string) string {
	_, domain, _ := strings.Cut(address, "@")
	return Domain(domain)
}

// Domain returns the domain in lower case, or "" if the text is no domain in ASCII:
// different domains may look the same in other alphabets, and have several spellings.
func Domain(text string) string {
	if len(text) > maxEmail || !service.IsDomain(text) {
		return ""
	}
	return service.FoldCase(text)
}
