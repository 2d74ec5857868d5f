package config_test

import (
	"strings"
	"testing"
)

// TestDatabaseParts: the parts of a URL are combined as in Flipt, escaped where a URL needs
// that, and a URL wins.
func TestDatabaseParts(t *testing.T) {
	const password = "a@b:c/d?e#f %"
	for _, test := range []struct {
		name, file string
		variables  []string
		want       string
	}{
		{"postgres", "db: {protocol: postgres, host: db.example, port: 5433, name: flags, user: ada, password: 'a@b:c/d?e#f %'}", nil,
			"postgres://ada:a%40b%3Ac%2Fd%3Fe%23f%20%25@db.example:5433/flags"},
		{"mysql from the environment", "", []string{"GUIDON_DB_PROTOCOL=MySQL", "GUIDON_DB_HOST=db", "GUIDON_DB_NAME=flags", "GUIDON_DB_USER=ada", "GUIDON_DB_PASSWORD_FILE=" + write(t, "password", password+"\n")},
			"mysql://ada:a%40b%3Ac%2Fd%3Fe%23f%20%25@db/flags"},
		{"cockroach without a password", "db: {protocol: cockroachdb, host: db, name: flags, user: ada}", nil, "cockroachdb://ada@db/flags"},
		{"IPv6", "db: {protocol: postgres, host: '::1', name: flags}", nil, "postgres://[::1]/flags"},
		{"IPv6 and a port", "db: {protocol: postgres, host: '[::1]', port: 5432, name: flags}", nil, "postgres://[::1]:5432/flags"},
		{"a socket", "db: {protocol: postgres, host: /run/postgresql, port: 5433, name: flags, user: ada}", nil, "postgres://ada@/flags?host=%2Frun%2Fpostgresql&port=5433"},
		{"a file", "db: {protocol: file, name: /data/flags.db}", nil, "file:/data/flags.db"},
		{"a file in a folder", "db: {protocol: sqlite, host: data, name: flags.db}", nil, "file:data/flags.db"},
		{"a name with a slash", "db: {protocol: postgres, host: db, name: 'a?b'}", nil, "postgres://db/a%3Fb"},
		{"a service called guidon-db", "db: {protocol: postgres, host: guidon-db, name: flags}", []string{"GUIDON_DB_PORT=tcp://10.0.0.1:5432", "GUIDON_DB_SERVICE_HOST=10.0.0.1"}, "postgres://guidon-db/flags"},
		{"a URL as well", "db: {protocol: postgres, host: db, name: flags}", []string{"GUIDON_DB_URL=file:/data/x.db"}, "file:/data/x.db"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := load(t, test.file, test.variables...)
			if err != nil {
				t.Fatal(err)
			}
			if c.DB.URL != test.want {
				t.Errorf("got %q, want %q", c.DB.URL, test.want)
			}
			if text := string(c.JSON()); strings.Contains(text, password[:3]) || strings.Contains(text, "a%40b") {
				t.Errorf("the password is shown: %s", text)
			}
			warned := strings.Contains(strings.Join(c.Warnings, ""), "so db.protocol, db.host, db.name has no effect")
			if want := test.name == "a URL as well"; warned != want {
				t.Errorf("got the warnings %q", c.Warnings)
			}
		})
	}
}

func TestBadDatabaseParts(t *testing.T) {
	for _, test := range []struct{ db, want string }{
		{"host: db, password: hunter2", "db.protocol (GUIDON_DB_PROTOCOL): is required with db.host, db.password; or set db.url instead"},
		{"protocol: postgres, name: x", "db.host (GUIDON_DB_HOST): is required with db.protocol postgres"},
		{"protocol: postgres, host: db", "db.name (GUIDON_DB_NAME): is required with db.protocol, db.host"},
		{"protocol: libsql, host: db, name: x", "db.protocol (GUIDON_DB_PROTOCOL): must be one of sqlite, file, postgres"},
		{"protocol: sqlite, name: x, port: 1", "db.protocol (GUIDON_DB_PROTOCOL): must not be that of an SQLite file with db.port"},
		{"protocol: mysql, host: /run/mysqld.sock, name: x", "?socket=/path"},
		{"protocol: mysql, host: 'ada:hunter2@db', name: x", "db.host (GUIDON_DB_HOST): must be a host name or an IP address, without scheme, user and port"},
		{"protocol: mysql, host: db, name: x, password: hunter2", "db.password (GUIDON_DB_PASSWORD): requires db.user"},
		{"protocol: mysql, host: db, name: x, port: 70000", "must be from 0 to 65535"},
	} {
		_, err := load(t, "db: {"+test.db+"}")
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", test.db, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "db.url (") {
			t.Errorf("%s: got a problem with db.url, too: %v", test.db, err)
		}
	}
}

// TestDatabasePartsByReference: the password can be a reference to a secret.
func TestDatabasePartsByReference(t *testing.T) {
	c, err := load(t, "db: {protocol: postgres, host: db, name: flags, user: ada, password: vault://token}")
	if err != nil {
		t.Fatal(err)
	}
	if want := "postgres://ada:first@db/flags"; c.DB.URL != want {
		t.Errorf("got %q, want %q", c.DB.URL, want)
	}
}
