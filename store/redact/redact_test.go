package redact_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/store/redact"
)

// The redacted URL identifies the database and contains nothing of the password,
// however badly it is written.
func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"file:/data/guidon.db":                               "file:/data/guidon.db",
		"file:/data@home/guidon.db":                          "file:/data@home/guidon.db",
		"file:guidon.db?_pragma=key('hunter2')":              "file:guidon.db",
		"file:guidon.db?_auth&_auth_pass=hunter2":            "file:guidon.db",
		"sqlite:///data/guidon.db?key=hunter2":               "sqlite:///data/guidon.db",
		"file://u:hunter2@host/guidon.db":                    "file:",
		"file://u:hunter2/x@host/guidon.db":                  "file:",
		"file:u:hunter2@host/guidon.db":                      "file:",
		"file://u:hunter2?@host/guidon.db":                   "file:",
		"postgres://u:hunter2@db/x?sslpassword=hunter2":      "postgres://db/x",
		"postgresql://db:5432/x?user=u&password=hun@ter2":    "postgresql://db:5432/x",
		"postgres://u:hunter2@a:1,b:2/x":                     "postgres://a:1,b:2/x",
		"postgres://u:hunter2@[::1]:5432/x":                  "postgres://[::1]:5432/x",
		"postgres://u:12@hunter2/x@db/x":                     "postgres:",
		"postgres://u:12/hunter2@db/x":                       "postgres:",
		"postgres://u:hun@ter2@db/x":                         "postgres:",
		"postgres://u:12?a=hunter2@db/x":                     "postgres:",
		"postgres://u:12#hunter2@db/x":                       "postgres:",
		"crdb://u:hun/ter2@db/x":                             "crdb:",
		"mysql://u:hun@ter2@db/x":                            "mysql://db/x",
		"mysql://u:hun?ter2@db/x":                            "mysql:",
		"mysql://u:hunter2%40@db:3306/x?tls=true":            "mysql://db:3306/x",
		"mysql://u:hunter2@db/x#y":                           "mysql://db/x",
		"redis://:hun@ter2/1@db/0":                           "redis:",
		"https://flags.example/base?token=hunter2":           "https://flags.example/base",
		"https://flags.example?token=hun@ter2":               "https:",
		"jdbc:mysql://u:hunter2@db/x":                        "",
		"u:hunter2@tcp(db:3306)/x?tls=true":                  "tcp(db:3306)/x",
		"u:hun@ter2@tcp(db:3306)/x":                          "mysql:",
		"u:hunter2@unix(/run/mysqld.sock)/x":                 "unix(/run/mysqld.sock)/x",
		"host=db port=5432 user=u password=hunter2 dbname=x": "host=db port=5432 dbname=x",
		"host=db password='x host=hunter2' dbname=x":         "postgres:",
		"hunter2":   "",
		"u:hunter2": "",
		"":          "",
	} {
		if got := redact.URL(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://u:p@db/x":                   "",
		"postgres://u:p%40%2F@db/x%40y":         "",
		"postgres://u:p@q@db/x":                 "%40",
		"mysql://u:p@q@db/x":                    "",
		"redis://:p@q@db":                       "",
		"postgres://db/x?user=a@b&password=c@d": "",
		"postgres://u:p/q@db/x":                 "%2F",
		"postgres://u:p@q/r@db/x":               "%2F",
		"postgres://u:p@db/x?options=a@b":       "%2F",
		"redis://u:p?q@db":                      "%2F",
		"file:/data@home/guidon.db":             "",
		"file:///data@home/guidon.db":           "",
		"file://u:p@host/guidon.db":             "%2F",
		"file:guidon.db?_auth&_auth_pass=p":     "name only the file",
		"host=db password=p@q/r":                "",
		"u:p@q@tcp(db)/x":                       "",
	} {
		err := redact.Check(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got error %v, want one with %q", text, err, want)
		}
	}
}
