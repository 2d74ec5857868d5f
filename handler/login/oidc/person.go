package oidc

import "github.com/guidonhq/guidon/handler/login/issuer"

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
