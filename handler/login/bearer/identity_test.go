package bearer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/bearer"
	"github.com/guidonhq/guidon/service"
)

func TestIdentity(t *testing.T) {
	f := newFixture(t, nil)
	got := f.accept(t, f.token(map[string]any{
		"groups": []any{"payments", 1, "ops", "", "a\nb", "ops", "a\u202eb"},
		"roles":  []string{"editor@checkout", "nonsense"},
		"user":   map[string]any{"email": "ada@acme.example", "sub": "7", "image": "https://acme.example/a.png", "name": "Ada", "role": "dev", "other": "x"},
		"azp":    "ci", "nested": map[string]any{"a": "b"}, "number": 1, "a=b": "c", "empty": "", "control": "\x00",
		"io.service.auth.team":       "core",
		"io.service.auth.object":     map[string]any{"a": []int{1, 2}},
		"io.service.auth.list":       []string{"a", "b"},
		"io.service.auth.number":     1.5,
		"io.service.auth.true":       true,
		"io.service.auth.control":    "a\x00b",
		"io.service.auth.empty":      "",
		"io.service.auth.jwt.issuer": "forged",
		"io.service.auth.jwt.name":   "forged",
		"io.service.authority":       "none of ours",
		"io.flipt.auth.team":         "none of ours",
	}))
	want := &service.Identity{
		Method:  service.MethodJWT,
		Subject: "jwt:sub:ada",
		Subjects: []string{
			"jwt:group:payments", "jwt:group:ops",
			"jwt:claim:aud=guidon", "jwt:claim:azp=ci",
			"jwt:claim:io.flipt.auth.team=none of ours", "jwt:claim:io.service.auth.jwt.issuer=forged", "jwt:claim:io.service.auth.jwt.name=forged",
			"jwt:claim:io.service.auth.team=core", "jwt:claim:io.service.authority=none of ours",
			"jwt:claim:iss=https://acme.example", "jwt:claim:sub=ada",
		},
		Roles: []string{"editor@checkout", "nonsense"},
		Metadata: map[string]string{
			"io.service.auth.jwt.issuer":  issuer,
			"io.service.auth.jwt.email":   "ada@acme.example",
			"io.service.auth.jwt.sub":     "7",
			"io.service.auth.jwt.picture": "https://acme.example/a.png",
			"io.service.auth.jwt.name":    "Ada",
			"io.service.auth.jwt.role":    "dev",
			"io.service.auth.team":        "core",
			"io.service.auth.object":      `{"a":[1,2]}`,
			"io.service.auth.list":        `["a","b"]`,
			"io.service.auth.number":      "1.5",
			"io.service.auth.true":        "true",
		},
		Expires: f.clock.Now().Add(time.Hour),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	fraction := float64(f.at(time.Hour)) + 0.9
	if got := f.accept(t, f.token(map[string]any{"exp": fraction})).Expires; !got.Equal(want.Expires) {
		t.Errorf("with a fraction: expires %v, want %v", got, want.Expires)
	}
}

// TestAnonymous: a token without sub is accepted if none is required. Its subject is
// neither empty nor one that a binding can name, nor that of any sub.
func TestAnonymous(t *testing.T) {
	f := newFixture(t, nil)
	got := f.accept(t, f.token(map[string]any{"sub": nil, "user": map[string]any{"sub": "ada"}}))
	if got.Subject != bearer.Anonymous {
		t.Errorf("subject %q, want %q", got.Subject, bearer.Anonymous)
	}
	for _, prefix := range []string{"jwt:sub:", "jwt:group:", "jwt:claim:sub"} {
		if slices.ContainsFunc(append(got.Subjects, got.Subject), func(s string) bool { return strings.HasPrefix(s, prefix) }) {
			t.Errorf("%s among %q", prefix, got.Subjects)
		}
	}
	if got := f.accept(t, f.token(map[string]any{"sub": "anonymous"})).Subject; got != "jwt:sub:anonymous" {
		t.Errorf("subject %q of sub anonymous", got)
	}
}

// TestLimits: what decides about access is complete, however much a token has, but for values of more
// than 255 characters. There are 8 KiB of metadata.
func TestLimits(t *testing.T) {
	f := newFixture(t, nil)
	groups, want := make([]string, 600), []string{}
	claims := map[string]any{"groups": groups, "roles": groups}
	for i := range groups {
		groups[i] = fmt.Sprint("g", i)
		want = append(want, "jwt:group:"+groups[i])
	}
	for i := range 100 {
		claims[fmt.Sprintf("c%03d", i)] = "v"
		want = append(want, fmt.Sprintf("jwt:claim:c%03d=v", i))
	}
	got := f.accept(t, f.token(claims))
	if diff := cmp.Diff(want, slices.DeleteFunc(slices.Clone(got.Subjects), func(s string) bool {
		return !strings.HasPrefix(s, "jwt:group:g") && !strings.HasPrefix(s, "jwt:claim:c")
	})); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(groups, got.Roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	got = f.accept(t, f.token(map[string]any{"long": strings.Repeat("ä", 256), "most": strings.Repeat("ä", 255), strings.Repeat("n", 256): "x"}))
	if all := strings.Join(got.Subjects, " "); strings.Contains(all, "long") || strings.Contains(all, "nn") || !strings.Contains(all, "most") {
		t.Errorf("subjects %q", got.Subjects)
	}

	got = f.accept(t, f.token(map[string]any{
		"io.service.auth.a": strings.Repeat("a", 4000), "io.service.auth.b": strings.Repeat("b", 4500), "io.service.auth.c": strings.Repeat("c", 3000),
	}))
	size := 0
	for key, value := range got.Metadata {
		size += len(key) + len(value)
	}
	if _, ok := got.Metadata["io.service.auth.b"]; ok || size > 8<<10 || len(got.Metadata) != 3 {
		t.Errorf("metadata of %d bytes, %d members", size, len(got.Metadata))
	}
}

// TestUserClaim: members of the claim user that are not strings, and pictures that pages
// must not show, are left out.
func TestUserClaim(t *testing.T) {
	f := newFixture(t, nil)
	for name, user := range map[string]any{
		"members of other types": map[string]any{"email": 1, "sub": nil, "name": []string{"x"}, "role": map[string]any{}},
		"script":                 map[string]any{"image": "javascript:alert(1)"},
		"http":                   map[string]any{"image": "http://acme.example/a.png"},
		"data":                   map[string]any{"image": "data:text/html,x"},
		"control characters":     map[string]any{"name": "a\r\nb", "email": "\x1b[2J"},
		"a text":                 "ada",
		"a list":                 []string{"ada"},
	} {
		want := map[string]string{"io.service.auth.jwt.issuer": issuer}
		if diff := cmp.Diff(want, f.accept(t, f.token(map[string]any{"user": user})).Metadata); diff != "" {
			t.Errorf("%s: metadata (-want +got):\n%s", name, diff)
		}
	}
}

// TestPointers: groups and roles may be anywhere in the token.
func TestPointers(t *testing.T) {
	f := newFixture(t, func(c *bearer.Config) { c.GroupsClaim, c.RolesClaim = "/realm/groups", "https://acme.example/roles" })
	got := f.accept(t, f.token(map[string]any{
		"groups": []string{"no"}, "realm": map[string]any{"groups": []string{"yes"}}, "https://acme.example/roles": "admin",
	}))
	if got.Subjects[0] != "jwt:group:yes" || slices.Contains(got.Subjects, "jwt:group:no") {
		t.Errorf("subjects %q", got.Subjects)
	}
	if diff := cmp.Diff([]string{"admin"}, got.Roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	none := newFixture(t, func(c *bearer.Config) { c.GroupsClaim, c.RolesClaim = "", "" })
	got = none.accept(t, none.token(map[string]any{"groups": []string{"x"}, "roles": []string{"admin"}, "": "admin"}))
	if len(got.Roles) != 0 || slices.Contains(got.Subjects, "jwt:group:x") {
		t.Errorf("roles %q and subjects %q without claims for them", got.Roles, got.Subjects)
	}
}
