// Package redact keeps passwords out of logs and errors. It returns the part of the
// URL of a database, of Redis or of a service that may be shown, and rejects URLs
// that cannot be divided into parts unambiguously.
//
// If a password contains an unescaped @ / ? or #, programs split the URL inside the
// password, so that a part of it becomes a host or the name of a database, which are
// shown. Where that is possible the URL is ambiguous: only its scheme is shown, and
// it must not be used.
//
// All functions are safe for concurrent use.
package redact

import (
	"errors"
	"regexp"
	"strings"

	"github.com/guidonhq/guidon/internal/lists"
)

var (
	scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	file   = regexp.MustCompile(`^(?i:file|sqlite):`)
	// host=db user=guidon dbname=guidon
	keywords = regexp.MustCompile(`^\s*(host|hostaddr|port|user|password|dbname|service|sslmode)\s*=`)
	// user:password@tcp(db:3306)/guidon?tls=true
	driver = regexp.MustCompile(`^([^/]*@)?(tcp|unix)\([^)]*\)/`)

	// URLs whose user and password end at the last @ for every program that parses
	// them. The driver of PostgreSQL takes the first one.
	lastEndsUser = regexp.MustCompile(`^(?i:mysql|mariadb|rediss?|unix):`)

	// The parameters that contain credentials, in which an @ is allowed.
	credentials = regexp.MustCompile(`([?&](?:user|username|password|sslpassword)=)[^&#]*`)
	// The parameters of a URL for SQLite, some of which are credentials.
	fileParameters = regexp.MustCompile(`(?s)\?.*=`)
	// A user and a host, which SQLite does not have: //user:password@host/path, or
	// user:password@host/path if the scheme was left out.
	credentialsInPath = regexp.MustCompile(`(?s)^(//[^/]|[^/\\:]+:[^/\\]).*@`)
)

// What may be shown of each form, without the user. If the rest does not match, a
// part of a password may have been mistaken for something else.
var (
	shownURL     = regexp.MustCompile(`^[A-Za-z0-9.,:_\[\]-]*(/[A-Za-z0-9._/-]*)?$`)
	shownDriver  = regexp.MustCompile(`^(tcp|unix)\([A-Za-z0-9./:_\[\]-]*\)/[A-Za-z0-9._-]*$`)
	shownKeyword = regexp.MustCompile(`(?:^|\s)((?:host|hostaddr|port|dbname)=[A-Za-z0-9./,:_-]+)`)
)

// IsKeywords reports whether text is a DSN of libpq, such as host=… dbname=….
func IsKeywords(text string) bool { return keywords.MatchString(text) }

// IsDriver reports whether text is a DSN of Go's MySQL driver, such as
// user:password@tcp(host)/database.
func IsDriver(text string) bool { return driver.MatchString(text) }

// errAmbiguous does not quote the URL.
var errAmbiguous = errors.New("has an @ that does not end the user and password; write the special characters of a password as %xx, such as %2F for a slash and %40 for an @")

// errParameters does not quote the URL either.
var errParameters = errors.New("has parameters, which are not supported for SQLite; name only the file")

// Check returns an error if the URL is ambiguous, or names an SQLite file and has
// parameters. The error shows nothing of the URL. Its text is a predicate, such as
// "has parameters", to be prefixed with the name of the setting.
func Check(text string) error {
	switch {
	case file.MatchString(text):
		if fileParameters.MatchString(text) {
			return errParameters
		}
		_, path, _ := strings.Cut(text, ":")
		if credentialsInPath.MatchString(path) {
			return errAmbiguous
		}
	case scheme.MatchString(text):
		authority, rest := split(text)
		if strings.Contains(credentials.ReplaceAllString(rest, "$1"), "@") {
			return errAmbiguous
		}
		if strings.Count(authority, "@") > 1 && !lastEndsUser.MatchString(text) {
			return errAmbiguous
		}
	}
	return nil
}

// split splits a URL without its scheme at the end of the authority.
func split(text string) (authority, rest string) {
	_, text, _ = strings.Cut(text, "://")
	if i := strings.IndexAny(text, "/?#"); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// URL returns the part of a URL or DSN that may be shown. It omits the user, the
// password and the parameters, which may be credentials too. If text is ambiguous or
// not well formed, URL returns the scheme and a colon, or "" if the scheme is
// unknown.
func URL(text string) string {
	name := scheme.FindStringSubmatch(text)
	switch {
	case file.MatchString(text):
		prefix, path, _ := strings.Cut(text, ":")
		if credentialsInPath.MatchString(path) {
			return prefix + ":"
		}
		path, _, _ = strings.Cut(path, "?")
		return prefix + ":" + path
	case name != nil:
		if shown := shownOf(text); shown != "" && Check(text) == nil {
			return name[1] + "://" + shown
		}
		return name[1] + ":"
	case IsKeywords(text):
		if !strings.ContainsAny(text, `'"\`) { // quoted values may contain spaces
			shown := lists.Map(shownKeyword.FindAllStringSubmatch(text, -1), func(match []string) string { return match[1] })
			return strings.Join(shown, " ")
		}
		return "postgres:"
	case IsDriver(text):
		shown := text[strings.LastIndexByte(text, '@')+1:]
		shown, _, _ = strings.Cut(shown, "?")
		if strings.Count(text, "@") <= 1 && shownDriver.MatchString(shown) {
			return shown
		}
		return "mysql:"
	}
	return ""
}

// shownOf returns the host and path of a URL, or "" if they do not match shownURL.
func shownOf(text string) string {
	authority, rest := split(text)
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	if shown := authority[strings.LastIndexByte(authority, '@')+1:] + rest; shownURL.MatchString(shown) {
		return shown
	}
	return ""
}
