package issuer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// MaxClaim is the maximum length of names and ids in claims, in characters.
const MaxClaim = 255

// IsName reports whether the text can be a name or an id: 1 to [MaxClaim] characters that
// are all [IsClean].
func IsName(text string) bool {
	return text != "" && utf8.RuneCountInString(text) <= MaxClaim && service.IsClean(text)
}

// ClaimTexts returns the strings of an array, or the one string that the value is, each once.
// It skips other values, and strings that are not valid.
func ClaimTexts(value any, valid func(string) bool) []string {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	var texts []string
	seen := map[string]bool{}
	for _, value := range values {
		text, ok := value.(string)
		if ok && !seen[text] && valid(text) {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	return texts
}

// ClaimText returns a string as it is, "" for nil, and any other value as JSON.
func ClaimText(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	}
	return string(change.Encode(value))
}

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
