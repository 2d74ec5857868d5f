package provider

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"
	"unicode"
)

// FieldError is the error about the value of a field of the configuration.
type FieldError struct {
	Field string // its key
	Err   error
}

// Error returns the field and what is wrong with it.
func (e *FieldError) Error() string { return "invalid " + e.Field + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// Invalid returns a [FieldError], or nil if err is nil.
func Invalid(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{field, err}
}

// Optional returns the result of the check, or nil if the value is empty.
func Optional(value string, check func(string) error) error {
	if value == "" {
		return nil
	}
	return check(value)
}

// CheckURL returns an error if the URL is not absolute, is neither https nor, where
// allowHTTP is true, http on a loopback address, or has a user or a fragment.
func CheckURL(raw string, allowHTTP bool) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("must be a URL")
	case u.Host == "" || u.Hostname() == "":
		return errors.New("must be a URL with a host")
	case u.User != nil:
		return errors.New("must be a URL without a user")
	case u.Fragment != "":
		return errors.New("must be a URL without a fragment")
	case u.Scheme == "https", allowHTTP && IsLocalHTTP(raw):
		return nil
	}
	return errors.New("must be an https URL")
}

// CheckBaseURL returns an error unless paths can be appended to the URL of a service: https,
// or http on this machine, without user, query and fragment. The error does not quote the URL.
func CheckBaseURL(raw string) error {
	if strings.ContainsAny(raw, "?#") {
		return errors.New("must be a URL without query and fragment")
	}
	if u, err := url.Parse(raw); err == nil && u.Scheme == "http" && !IsLocalHTTP(raw) {
		return errors.New("must be https; http is only for localhost and loopback addresses")
	}
	return CheckURL(raw, true)
}

// Limits of texts, in bytes.
const (
	MaxName       = 255
	maxCredential = 4096
)

// CheckName returns an error for a text that cannot be the name of a group, an organization or an audience.
func CheckName(text string) error {
	if text == "" || text == "*" || len(text) > MaxName || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("must be names of at most %d bytes, without patterns, not %q", MaxName, text)
	}
	return nil
}

// CheckNames returns the first error of [CheckName].
func CheckNames(texts []string) error {
	for _, text := range texts {
		if err := CheckName(text); err != nil {
			return err
		}
	}
	return nil
}

// CheckCredential returns an error for a text that cannot be the id or the secret of a client. It does not quote it.
func CheckCredential(text string) error {
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

var scopePattern = regexp.MustCompile(`^[!#-\[\]-~]{1,255}$`) // RFC 6749 3.3

// CheckScopes returns an error if one of the scopes is malformed.
func CheckScopes(scopes []string) error {
	for _, scope := range scopes {
		if !scopePattern.MatchString(scope) {
			return fmt.Errorf("must be scopes of printable ASCII characters, without spaces, quotes and backslashes, not %q", scope)
		}
	}
	return nil
}

// SafeURL returns the URL if a page may show it, otherwise "".
func SafeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	return raw
}

// IsLocalHTTP reports whether the URL is one of plain HTTP on this machine: its host is
// localhost or a loopback address.
func IsLocalHTTP(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

// ReadFile returns the content of a file that the operator names, which has at most that many bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New(path + " is a directory, not a file")
	case info.Size() > most:
		return nil, fmt.Errorf("%s is too large: at most %d bytes are allowed", path, most)
	}
	return os.ReadFile(path) // #nosec G304 -- the operator names it
}
