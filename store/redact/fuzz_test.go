package redact_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/redact"
)

// secretLength is the length of the parts of a password that must not be shown.
// Shorter parts occur in any text.
const secretLength = 4

// urlSchemes are the schemes of URLs that may contain a password.
var urlSchemes = []string{
	"postgres", "postgresql", "POSTGRES", "cockroachdb", "crdb", "mysql", "mariadb",
	"redis", "rediss", "https", "grpc", "file", "sqlite", "clickhouse",
}

// withPassword returns URLs and DSNs with the password, escaped or not, as users may
// write them.
func withPassword(scheme uint8, user, password, host, database string) []string {
	prefix := urlSchemes[int(scheme)%len(urlSchemes)] + "://"
	escaped := (&url.URL{User: url.UserPassword(user, password), Host: "h"}).String()
	escaped = strings.TrimSuffix(strings.TrimPrefix(escaped, "//"), "@h")
	quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(password)
	return []string{
		prefix + escaped + "@" + host + "/" + database,
		prefix + user + ":" + password + "@" + host + "/" + database,
		prefix + user + ":" + password + "@" + host,
		prefix + ":" + password + "@" + host + "/" + database,
		prefix + user + ":" + password + "@/" + database + "?host=" + host,
		prefix + host + "/" + database + "?user=" + user + "&password=" + url.QueryEscape(password),
		prefix + host + "/" + database + "?sslpassword=" + url.QueryEscape(password),
		"jdbc:" + prefix + user + ":" + password + "@" + host,
		"host=" + host + " user=" + user + " password='" + quoted + "' dbname=" + database,
		user + ":" + password + "@tcp(" + host + ")/" + database,
		user + ":" + password + "@" + host + "/" + database,
	}
}

// leak returns a part of the password that is in the text but in none of the others,
// or "".
func leak(text, password string, others ...string) string {
	for i := range max(0, len(password)-secretLength+1) {
		part := password[i : i+secretLength]
		if strings.Contains(text, part) && !strings.Contains(strings.Join(others, "\n"), part) {
			return part
		}
	}
	return ""
}

// FuzzPasswords checks that no part of a password is shown, whatever it contains and
// wherever its URL is split because of that. It must not be in the redacted URL, in
// the path of the DB, or in the error that rejects the URL.
func FuzzPasswords(f *testing.F) {
	for i := range urlSchemes {
		for _, password := range []string{
			"hunter2hunter2", "kiwi@mango", "12@hunter2/x", "12/hunter2", "12?hunter2=x", "12#hunter2", "hunter2:12", "a@tcp(hunter2)/b",
			"hun ter2", "hunter2%zz", "%68unter2", "[hunter2]", "hunter2'\\", "日本語hunter2", "hunter2\x00", "1/x?hunter=2", "12345@[hunter2",
		} {
			f.Add(uint8(i), "user", password, "db.example:5432", "flags")
		}
	}
	f.Fuzz(func(t *testing.T, scheme uint8, user, password, host, database string) {
		if strings.ContainsAny(user, `/\\`) || strings.ContainsAny(host, "@/?#") || strings.ContainsAny(database, "@?#") {
			t.Skip("the password is not the only part that has special characters")
		}
		for _, text := range withPassword(scheme, user, password, host, database) {
			// The parts of the URLs, errors and driver defaults that are not secret.
			others := []string{
				user, url.QueryEscape(user), errorWords, "://" + host + "/" + database, "tcp(" + host + ")/" + database,
				"host=" + host + " dbname=" + database, host + ":5432/" + database, host + ":3306/" + database,
			}
			if part := leak(redact.URL(text), password, append(others, urlSchemes...)...); part != "" {
				t.Errorf("%q is shown as %q with %q in it", text, redact.URL(text), part)
			}
			if isFile(text) {
				continue // Open would create it
			}
			db, err := store.Open(t.Context(), text, store.Options{})
			shown := ""
			if err != nil {
				shown = err.Error()
			} else {
				shown = db.Path()
				_ = db.Close()
			}
			if part := leak(shown, password, append(others, urlSchemes...)...); part != "" {
				t.Errorf("opening %q shows %q with %q in it", text, shown, part)
			}
		}
	})
}

func isFile(text string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(text), ":")
	return scheme == "file" || scheme == "sqlite"
}

// errorWords has the texts of which errors are composed.
const errorWords = `database URL has an @ that does not end the user and password; write the special characters of a
password as %xx, such as %2F for a slash and %40 for an @ has no known scheme; use sqlite:path, postgres://…,
cockroachdb://… or mysql://… has the unknown scheme cannot parse the DSN; use user:password@tcp(host:port)/database?parameters
cannot parse the database URL; use mysql://user:password@host:port/database, with special characters as %xx names no database the parameter is not supported
failed to parse as URL keyword/value DSN invalid port invalid keyword/value unterminated quoted string in connection info string
127.0.0.1:5432 127.0.0.1:3306 localhost /var/run/postgresql /tmp/.s.PGSQL.5432 root postgres sslmode file password is empty`
