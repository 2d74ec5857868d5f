package config

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// allowList configures which people may sign in.
type allowList struct {
	key    string
	values []string
	check  func(string) error
}

// checkAdmission checks the allow lists. If matched is true, email_matches is one, too.
func checkAdmission(at scope, everyone, matched bool, lists []allowList) {
	var keys []string
	limited := matched
	for _, list := range lists {
		keys = append(keys, list.key)
		for _, value := range list.values {
			at.check(list.key, list.check(value))
		}
		if len(list.values) == 0 {
			continue
		}
		limited = true
		if everyone {
			at.key("allow_everyone", "must not be set together with "+list.key)
		}
	}
	if !limited && !everyone {
		at.key("allow_everyone", "must be true if everyone with an account there may sign in; otherwise, set one of "+strings.Join(keys, ", "))
	}
}

func checkEmail(text string) error {
	if !service.IsEmail(text) {
		return fmt.Errorf("must be e-mail addresses such as ada@example.com, not %q", text)
	}
	return nil
}

func checkDomain(text string) error {
	if !service.IsDomain(text) {
		return fmt.Errorf("must be domains such as example.com, without @ and pattern, not %q", text)
	}
	return nil
}

func checkDisplayName(text string) error {
	if len(text) > provider.MaxName || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("must not be longer than %d bytes, nor contain control characters", provider.MaxName)
	}
	return nil
}

// requirePublicURL adds a problem if there is no public URL.
func (c *Config) requirePublicURL(at scope) {
	if c.Server.PublicURL == "" {
		at.key("enabled", "requires server.public_url (GUIDON_SERVER_PUBLIC_URL)")
	}
}

// checkRedirect checks a redirect_address.
func (c *Config) checkRedirect(at scope, address string) {
	const key = "redirect_address"
	switch {
	case address == "":
	case !isPublicURL(strings.TrimRight(address, "/")):
		at.key(key, "must be a URL such as https://flags.example, without query")
	case parsed(address).Scheme != "https" && !provider.IsLocalHTTP(address) && !c.Authentication.Session.insecure():
		at.key(key, "must be https, because others could read the code of a sign-in; authentication.session.secure (GUIDON_AUTHENTICATION_SESSION_SECURE) false allows http")
	}
}

// callbackURL returns the URL of the callback of a method, below the redirect_address or else the public URL.
func (c *Config) callbackURL(address, method string) string {
	return strings.TrimRight(cmp.Or(address, c.Server.PublicURL), "/") + "/auth/v1/method/" + method + "/callback"
}
