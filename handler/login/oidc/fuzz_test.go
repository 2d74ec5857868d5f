package oidc_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/service"
)

// FuzzIdentity: no claims give an identity that exceeds its limits, or has subjects of
// another provider.
func FuzzIdentity(f *testing.F) {
	const everything = `{"email":"Ada@Example.com","email_verified":true,"name":"n","picture":"https://a.example/","groups":["a","b"],"roles":"admin@x","hd":"x.y"}`
	f.Add([]byte(everything), []byte(`{}`), "groups", "roles")
	f.Add([]byte(`{"email":"a@b@c","email_verified":"true"}`), []byte(`{"email":"a@b","email_verified":true}`), "/groups/0", "/roles")
	f.Add([]byte(`{"_claim_names":{"groups":"s"},"hasgroups":true}`), []byte(everything), "/a~1b", "/x/y")
	f.Add([]byte(`{"groups":["a\u0000","\u202e"],"email":"\u212a@x","email_verified":true}`), []byte(manyGroups(2100)), "groups", "")
	f.Fuzz(func(t *testing.T, token, info []byte, groups, roles string) {
		c := valid()
		c.GroupsClaim, c.RolesClaim, c.GroupsAdmit = groups, roles, true
		p, err := oidc.New(c)
		if err != nil {
			return
		}
		tokenClaims, err := issuer.ParseClaims(token)
		if err != nil {
			return
		}
		infoClaims, _ := issuer.ParseClaims(info)
		identity, err := p.IdentityOf("ada", tokenClaims, infoClaims)
		if err != nil {
			if guidon.CodeOf(err) != guidon.PermissionDenied {
				t.Errorf("got %v, want PermissionDenied", err)
			}
			return
		}
		checkIdentity(t, identity)
	})
}

func checkIdentity(t *testing.T, identity *service.Identity) {
	t.Helper()
	if identity.Subject != "oidc:acme:sub:ada" || len(identity.Subjects) > 2002 || len(identity.Roles) > 100 {
		t.Errorf("subject %q, %d subjects, %d roles", identity.Subject, len(identity.Subjects), len(identity.Roles))
	}
	for _, subject := range identity.Subjects {
		kind, value, _ := strings.Cut(strings.TrimPrefix(subject, "oidc:acme:"), ":")
		if !strings.HasPrefix(subject, "oidc:acme:") || value == "" || !service.IsClean(value) || len(value) > 4*issuer.MaxClaim {
			t.Errorf("subject %q", subject)
		}
		switch kind {
		case "group":
		case "email":
			if strings.Count(value, "@") != 1 || strings.ContainsAny(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") {
				t.Errorf("e-mail %q", value)
			}
		case "domain":
			if strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
				t.Errorf("domain %q", value)
			}
		default:
			t.Errorf("subject %q of an unknown kind", subject)
		}
	}
	size := 0
	for key, value := range identity.Metadata {
		size += len(key) + len(value)
		if !strings.HasPrefix(key, "io.service.auth.") || len(value) > 1024 || !service.IsClean(value) {
			t.Errorf("metadata %q: %q", key, value)
		}
	}
	if size > 8192 {
		t.Errorf("%d bytes of metadata", size)
	}
}
