package store_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/store"
)

// Open does not connect to a server, so the test checks only how the URL was parsed.
func TestOpenServers(t *testing.T) {
	for _, c := range []struct{ url, dialect, path string }{
		{"postgres://u:secret@db.example:6543/flags?sslmode=verify-full", "postgres", "db.example:6543/flags"},
		{"postgresql://u:secret@db.example/flags", "postgres", "db.example:5432/flags"},
		{"POSTGRES://u@db.example/flags?default_query_exec_mode=simple_protocol", "postgres", "db.example:5432/flags"},
		{"host=db.example user=u password=secret dbname=flags sslmode=disable", "postgres", "db.example:5432/flags"},
		{"user=u password='sec:ret://' host=db.example dbname=flags", "postgres", "db.example:5432/flags"},
		{"cockroachdb://u:secret@db.example:26257/flags", "cockroach", "db.example:26257/flags"},
		{"cockroach://u@db.example:26257/flags", "cockroach", "db.example:26257/flags"},
		{"crdb://u@db.example:26257/flags", "cockroach", "db.example:26257/flags"},
		{"mysql://u:secret@db.example:3307/flags", "mysql", "db.example:3307/flags"},
		{"mysql://u:s%2Fe%40c@db.example/flags?tls=skip-verify&readTimeout=30s", "mysql", "db.example:3306/flags"},
		{"mariadb://u:secret@db.example/flags?ssl-mode=REQUIRED", "mysql", "db.example:3306/flags"},
		{"mysql://u:secret@/flags?socket=/run/mysqld.sock", "mysql", "/run/mysqld.sock/flags"},
		{"u:sec:ret@tcp(db.example:3306)/flags?tls=true", "mysql", "db.example:3306/flags"},
		{"u@unix(/run/mysqld.sock)/flags", "mysql", "/run/mysqld.sock/flags"},
		{"tcp(db.example)/flags", "mysql", "db.example:3306/flags"},
	} {
		db, err := store.Open(t.Context(), c.url, store.Options{Exclusive: true})
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if db.Dialect() != c.dialect || db.Path() != c.path || !db.Shared() {
			t.Errorf("%s: got %s at %s, shared %t; want %s at %s", c.url, db.Dialect(), db.Path(), db.Shared(), c.dialect, c.path)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A server handles many requests concurrently. A function handles one, and hundreds
// of functions share the database. Explicit options take precedence in both.
func TestPoolDefaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		options store.Options
		writers int
	}{
		{"a server", store.Options{}, 16},
		{"a function", store.Options{Lambda: true}, 1},
		{"a server with an explicit limit", store.Options{MaxOpenConns: 6}, 4},
		{"a function with an explicit limit", store.Options{Lambda: true, MaxOpenConns: 6}, 4},
	} {
		for _, url := range []string{"postgres://u@db.example/flags", "mysql://u@db.example/flags"} {
			db, err := store.Open(t.Context(), url, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := db.SQL().Stats().MaxOpenConnections; got != c.writers {
				t.Errorf("%s: %d connections may write, want %d", c.name, got, c.writers)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// The error for an invalid URL does not show its password.
func TestOpenHidesPasswords(t *testing.T) {
	for _, url := range []string{
		"postgres://u:hunter2@db.example:port/flags",
		"postgres://u:hunter2%zz@db.example/flags",
		"postgres://u:hunter2@db.example/flags?sslmode=hunter2",
		"postgres://u:hun ter2@db.example:1:2/flags",
		"host=db.example password=hunter2 port=many",
		"host=db.example password='hunter2",
		"cockroach://u:hunter2@[::1/flags",
		"mysql://u:hunter2@db.example:port/flags",
		"mysql://u:hunter2@db.example/",
		"mysql://u:hunter2@db.example/flags?ssl-mode=SOMETIMES",
		"mysql://u:hunter2@db.example/flags?ssl-ca=/nowhere.pem",
		"mysql://u:hunter2@db.example/flags?tls=nowhere",
		"mysql://u:hunter2@db.example/flags?timeout=long",
		"u:hunter2@tcp(db.example)/flags?timeout=long",
		"u:hunter2@db.example/flags",
		"u:hunter2",
		"jdbc:mysql://u:hunter2@db.example/flags",
	} {
		db, err := store.Open(t.Context(), url, store.Options{})
		if err == nil {
			_ = db.Close()
			t.Errorf("%s: opened", url)
		} else if strings.Contains(err.Error(), "ter2") {
			t.Errorf("%s: the error shows the password: %v", url, err)
		}
	}
}
