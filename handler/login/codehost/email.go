package codehost

import (
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/service"
)

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
	if !issuer.IsEmail(raw) {
		return ""
	}
	return service.FoldCase(raw)
}
