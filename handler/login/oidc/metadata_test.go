package oidc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/issuer"
)

func TestMetadata(t *testing.T) {
	const (
		oidcPrefix = "io.service.auth.oidc."
		allMethods = "io.service.auth."
	)
	p := newProvider(t, nil)
	for _, test := range []struct {
		name, token string
		want        map[string]string // besides provider and sub
	}{
		{"nothing", `{}`, nil},
		{"e-mail not verified", `{"email":"a@b.example"}`, map[string]string{
			oidcPrefix + "email": "a@b.example", oidcPrefix + "email_verified": "false",
		}},
		{"name", `{"name":"Ada é"}`, map[string]string{oidcPrefix + "name": "Ada é", allMethods + "name": "Ada é"}},
		{"name of 1 KiB", `{"name":"` + strings.Repeat("x", 1024) + `"}`, map[string]string{
			oidcPrefix + "name": strings.Repeat("x", 1024), allMethods + "name": strings.Repeat("x", 1024),
		}},
		{"longer name", `{"name":"` + strings.Repeat("x", 1025) + `"}`, nil},
		{"name with a newline", `{"name":"Ada\nroot"}`, nil},
		{"name with an escape", `{"name":"Ada\u001b[31m"}`, nil},
		{"name with a change of direction", `{"name":"Ada\u202e"}`, nil},
		{"name of another type", `{"name":["Ada"]}`, nil},
		{"picture by HTTP", `{"picture":"http://a.example/x.png"}`, nil},
		{"picture by data URL", `{"picture":"data:image/png;base64,AA"}`, nil},
		{"picture by script", `{"picture":"javascript:alert(1)"}`, nil},
		{"picture without host", `{"picture":"https:///x"}`, nil},
		{"picture with user", `{"picture":"https://a@b.example/x"}`, nil},
		{"relative picture", `{"picture":"/x.png"}`, nil},
		{"picture", `{"picture":"https://a.example/x.png"}`, map[string]string{
			oidcPrefix + "picture": "https://a.example/x.png", allMethods + "picture": "https://a.example/x.png",
		}},
		{"profile", `{"profile":"https://a.example/x"}`, map[string]string{oidcPrefix + "profile": "https://a.example/x"}},
		{"profile by script", `{"profile":"javascript:alert(1)"}`, nil},
		{"other claims", `{"phone_number":"1","claims":"x","io.service.auth.name":"x"}`, nil},
	} {
		want := map[string]string{oidcPrefix + "provider": "acme", oidcPrefix + "sub": "ada"}
		for key, value := range test.want {
			want[key] = value
		}
		if diff := cmp.Diff(want, identify(t, p, test.token, "").Metadata); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestMetadataTotal: all values of the greatest length do not exceed the limit together.
func TestMetadataTotal(t *testing.T) {
	long := func(prefix string) string { return prefix + strings.Repeat("x", 1024-len(prefix)) }
	token := issuer.Claims{
		"name": long(""), "picture": long("https://a.example/"), "profile": long("https://a.example/"),
		"email": strings.Repeat("e", 242) + "@example.com", "email_verified": true,
	}
	identity, err := newProvider(t, nil).IdentityOf(strings.Repeat("\U0001f600", 255), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for key, value := range identity.Metadata {
		size += len(key) + len(value)
	}
	if size > 8192 || len(identity.Metadata) < 9 {
		t.Errorf("%d bytes in %d values, want at least 9 values and at most 8192 bytes", size, len(identity.Metadata))
	}
}
