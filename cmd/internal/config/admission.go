package config

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// Limits of texts, in bytes.
const (
	maxName       = 255
	maxCredential = 4096
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

// checkName accepts the name of a group or organization, as it is.
func checkName(text string) error {
	if text == "" || text == "*" || len(text) > maxName || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("must be names of at most %d bytes, without patterns, not %q", maxName, text)
	}
	return nil
}

// checkCredential accepts the id or the secret of a client. Its errors do not quote it.
func checkCredential(text string) error {
	switch {
	case text == "":
		return errors.New("is required")
	case len(text) > maxCredential:
		return fmt.Errorf("must not be longer than %d bytes", maxCredential)
	case strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("must not contain control characters, nor begin or end with a space")
	}
	return nil
}

func checkDisplayName(text string) error {
	if len(text) > maxName || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("must not be longer than %d bytes, nor contain control characters", maxName)
	}
	return nil
}

// checkAuthorities accepts a file with certificates.
func checkAuthorities(path string) error {
	if err := checkFile(path); err != nil {
		return err
	}
	_, err := provider.New(provider.Config{Name: "ca_path", CAPath: path})
	return errors.Unwrap(err)
}

// redirectBase holds the settings that the callback URLs of browser methods depend on.
type redirectBase struct {
	publicURL string // "" if it is not configured
	insecure  bool   // plain HTTP is accepted
}

// required adds a problem to the key if there is no public URL.
func (b redirectBase) required(at scope, key string) {
	if b.publicURL == "" {
		at.key(key, "requires server.public_url (GUIDON_SERVER_PUBLIC_URL)")
	}
}

// check checks a redirect_address.
func (b redirectBase) check(at scope, address string) {
	const key = "redirect_address"
	address = strings.TrimRight(address, "/")
	switch {
	case address == "":
	case !isPublicURL(address):
		at.key(key, "must be a URL such as https://flags.example, without query")
	case parsed(address).Scheme != "https" && !provider.IsLocalHTTP(address) && !b.insecure:
		at.key(key, "must be https, because others could read the code of a sign-in; authentication.session.secure (GUIDON_AUTHENTICATION_SESSION_SECURE) false allows http")
	}
}

// RedirectBase returns the URL of this service in a callback URL: the redirect_address or
// else the public URL, without a trailing slash.
func RedirectBase(address, publicURL string) string {
	return strings.TrimRight(cmp.Or(address, publicURL), "/")
}
