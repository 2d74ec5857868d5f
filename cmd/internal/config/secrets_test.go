package config_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// safe maps references to secrets.
type safe map[string]string

var vault = safe{
	"vault://db":    "postgres://u:hunter2@db/guidon",
	"vault://wrong": "hunter2",
	"vault://token": "first",
}

func (safe) Knows(text string) bool { return strings.HasPrefix(text, "vault://") }

func (s safe) Fetch(_ context.Context, reference string) (string, error) {
	value, ok := s[reference]
	if !ok {
		return "", errors.New(reference + ": not found")
	}
	return value, nil
}

func TestSecretsByReference(t *testing.T) {
	c, err := load(t, "db: {url: vault://db}", "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=vault://token", "GUIDON_CACHE_REDIS_PREFIX=vault://db")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct{ name, got, want string }{
		{"db.url", c.DB.URL, vault["vault://db"]},
		{"bootstrap token", c.Authentication.Methods.Token.Bootstrap.Token, "first"},
		{"a value that is not secret", c.Cache.Redis.Prefix, "vault://db"},
	} {
		if v.got != v.want {
			t.Errorf("%s: got %q, want %q", v.name, v.got, v.want)
		}
	}
}

func TestSecretsThatCannotBeFetched(t *testing.T) {
	for _, c := range []struct{ reference, want string }{
		{"vault://nope", "db.url (GUIDON_DB_URL): vault://nope: not found"},
		{"vault://wrong", "db.url (GUIDON_DB_URL): must have a known scheme"},
	} {
		_, err := load(t, "db: {url: '"+c.reference+"'}")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "required") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", c.reference, err, c.want)
		}
	}
}

func TestAuthentication(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"postgres://u@db/guidon?sslmode=verify-full", ""},
		{"mysql://u@db/guidon?tls=true", ""},
		{"cockroachdb://u@db/guidon", "db.auth (GUIDON_DB_AUTH): aws-iam requires PostgreSQL or MySQL"},
		{"file:guidon.db", "db.auth (GUIDON_DB_AUTH): aws-iam requires PostgreSQL or MySQL"},
	} {
		_, err := load(t, "", "GUIDON_DB_URL="+c.url, "GUIDON_DB_AUTH=aws-iam")
		if got := err != nil; got != (c.want != "") || got && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.url, err, c.want)
		}
	}
}

var _ config.Secrets = vault
