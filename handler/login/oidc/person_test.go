package oidc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/service"
)

// newProvider returns a provider for claims that are verified already.
func newProvider(t testing.TB, change func(*oidc.Config)) *oidc.Provider {
	t.Helper()
	c := valid()
	if change != nil {
		change(&c)
	}
	p, err := oidc.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// object returns the claims of the JSON text, or nil for "".
func object(t testing.TB, text string) issuer.Claims {
	t.Helper()
	if text == "" {
		return nil
	}
	o, err := issuer.ParseClaims([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

func identify(t testing.TB, p *oidc.Provider, token, info string) *service.Identity {
	t.Helper()
	identity, err := p.IdentityOf("ada", object(t, token), object(t, info))
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

func TestEmail(t *testing.T) {
	const subject, domain = "oidc:acme:email:ada@example.com", "oidc:acme:domain:example.com"
	both, trusted := []string{subject, domain}, newProvider(t, func(c *oidc.Config) { c.TrustUnverifiedEmail = true })
	strict := newProvider(t, nil)
	for _, test := range []struct {
		token, info string
		want        []string
		trusted     []string // with trust_unverified_email
	}{
		{`{"email":"ada@example.com","email_verified":true}`, "", both, both},
		{`{"email":"ada@example.com","email_verified":"true"}`, "", both, both},
		{`{"email":"Ada@EXAMPLE.com","email_verified":true}`, "", both, both},
		{`{"email":"ada@example.com"}`, "", nil, both},
		{`{"email":"ada@example.com","email_verified":false}`, "", nil, nil},
		{`{"email":"ada@example.com","email_verified":"false"}`, "", nil, nil},
		{`{"email":"ada@example.com","email_verified":"TRUE"}`, "", nil, nil},
		{`{"email":"ada@example.com","email_verified":1}`, "", nil, nil},
		{`{"email":"ada@example.com","email_verified":null}`, "", nil, nil},
		{`{"email":"ada@example.com","email_verified":[true]}`, "", nil, nil},
		{`{"email_verified":true}`, "", nil, nil},
		{`{"email":["ada@example.com"],"email_verified":true}`, "", nil, nil},
		{`{"email":null,"email_verified":true}`, "", nil, nil},
		{`{"email":"","email_verified":true}`, "", nil, nil},
		{`{"email":"example.com","email_verified":true}`, "", nil, nil},
		{`{"email":"@example.com","email_verified":true}`, "", nil, nil},
		{`{"email":"ada@","email_verified":true}`, "", nil, nil},
		{`{"email":"ada@evil.example@example.com","email_verified":true}`, "", nil, nil},
		{`{"email":"ada@example.com ","email_verified":true}`, "", nil, nil},
		{`{"email":"ada@example.com\n","email_verified":true}`, "", nil, nil},
		{`{"email":"ada\u0000@example.com","email_verified":true}`, "", nil, nil},
		{`{"email":"` + strings.Repeat("a", 255) + `@example.com","email_verified":true}`, "", nil, nil},
		// The Kelvin sign is no k, and a domain is ASCII.
		{`{"email":"\u212A@\u212A.example","email_verified":true}`, "", []string{"oidc:acme:email:\u212A@\u212A.example"}, []string{"oidc:acme:email:\u212A@\u212A.example"}},
		{`{"email":"ada@xn--bcher-kva.example","email_verified":true}`, "", []string{"oidc:acme:email:ada@xn--bcher-kva.example", "oidc:acme:domain:xn--bcher-kva.example"}, []string{"oidc:acme:email:ada@xn--bcher-kva.example", "oidc:acme:domain:xn--bcher-kva.example"}},
		{`{"email":"ada@example.com:x","email_verified":true}`, "", []string{"oidc:acme:email:ada@example.com:x"}, []string{"oidc:acme:email:ada@example.com:x"}},

		// What userinfo adds belongs to its own address.
		{`{}`, `{"email":"ada@example.com","email_verified":true}`, both, both},
		{`{}`, `{"email":"ada@example.com"}`, nil, both},
		{`{"email":"ada@example.com"}`, `{"email":"ada@example.com","email_verified":true}`, both, both},
		{`{"email":"ada@example.com"}`, `{"email":"eve@example.com","email_verified":true}`, nil, both},
		{`{"email":"ada@example.com"}`, `{"email":"ADA@example.com","email_verified":true}`, nil, both},
		{`{"email":"ada@example.com"}`, `{"email_verified":true}`, nil, nil},
		{`{"email_verified":true}`, `{"email":"ada@example.com"}`, nil, nil},
		{`{"email_verified":true}`, `{"email":"ada@example.com","email_verified":false}`, nil, nil},
		{`{"email_verified":false}`, `{"email":"ada@example.com","email_verified":true}`, nil, nil},
		{`{"email":"ada@example.com","email_verified":true}`, `{"email":"ada@example.com","email_verified":false}`, nil, nil},
		{`{"email":"ada@example.com","email_verified":true}`, `{"email":"eve@example.com","email_verified":false}`, both, both},
		{`{"email":"ada@example.com","email_verified":false}`, `{"email":"ada@example.com","email_verified":true}`, nil, nil},
		{`{"email":7,"email_verified":true}`, `{"email":"ada@example.com","email_verified":true}`, nil, nil},
	} {
		if diff := cmp.Diff(test.want, identify(t, strict, test.token, test.info).Subjects); diff != "" {
			t.Errorf("%s and %s (-want +got):\n%s", test.token, test.info, diff)
		}
		if diff := cmp.Diff(test.trusted, identify(t, trusted, test.token, test.info).Subjects); diff != "" {
			t.Errorf("%s and %s, unverified addresses trusted (-want +got):\n%s", test.token, test.info, diff)
		}
	}
}

// TestGoogle: there the domain is that of the organization, not that of the address.
func TestGoogle(t *testing.T) {
	p := newProvider(t, nil)
	p.SetGoogle()
	const address = `"email":"ada@corp.example","email_verified":true`
	for token, want := range map[string][]string{
		`{` + address + `}`:                               {"oidc:acme:email:ada@corp.example"},
		`{` + address + `,"hd":"Other.Example"}`:          {"oidc:acme:email:ada@corp.example", "oidc:acme:domain:other.example"},
		`{"hd":"corp.example"}`:                           {"oidc:acme:domain:corp.example"},
		`{` + address + `,"hd":["corp.example"]}`:         {"oidc:acme:email:ada@corp.example"},
		`{` + address + `,"hd":"corp.example\u0000"}`:     {"oidc:acme:email:ada@corp.example"},
		`{` + address + `,"hd":"corp.example,b.example"}`: {"oidc:acme:email:ada@corp.example"},
		`{` + address + `,"hd":""}`:                       {"oidc:acme:email:ada@corp.example"},
	} {
		if diff := cmp.Diff(want, identify(t, p, token, "").Subjects); diff != "" {
			t.Errorf("%s (-want +got):\n%s", token, diff)
		}
	}
	want := []string{"oidc:acme:email:ada@corp.example", "oidc:acme:domain:corp.example"}
	if diff := cmp.Diff(want, identify(t, newProvider(t, nil), `{`+address+`,"hd":"other.example"}`, "").Subjects); diff != "" {
		t.Errorf("hd of another provider (-want +got):\n%s", diff)
	}
}

func TestGroups(t *testing.T) {
	for _, test := range []struct {
		claim, token, info string
		want               []string
	}{
		{"groups", `{"groups":["b","a","b"]}`, "", []string{"b", "a"}},
		{"groups", `{"groups":"ops"}`, "", []string{"ops"}},
		{"groups", `{"groups":"a,b c"}`, "", []string{"a,b c"}},
		{"groups", `{"groups":["a",1,null,["b"],{"c":"d"},""," "]}`, "", []string{"a", " "}},
		{"groups", `{"groups":["a\u0000","b\nc","d\u202e","e\ufffd","f"]}`, "", []string{"f"}},
		{"groups", `{"groups":["` + strings.Repeat("x", 256) + `","` + strings.Repeat("y", 255) + `"]}`, "", []string{strings.Repeat("y", 255)}},
		{"groups", `{"groups":{"a":true}}`, "", nil},
		{"groups", `{"groups":null}`, "", nil},
		{"groups", `{"Groups":["a"]}`, "", nil},
		{"groups", `{"groups":["x:email:ada@example.com"]}`, "", []string{"x:email:ada@example.com"}},
		{"https://acme.example/groups", `{"https://acme.example/groups":["a"],"groups":["b"]}`, "", []string{"a"}},
		{"/realm/0/groups", `{"realm":[{"groups":["a"]}],"groups":["b"]}`, "", []string{"a"}},
		{"groups", `{}`, `{"groups":["a"]}`, []string{"a"}},
		{"groups", `{"groups":null}`, `{"groups":["a"]}`, []string{"a"}},
		{"groups", `{"groups":[]}`, `{"groups":["a"]}`, nil},
		{"groups", `{"groups":["b"]}`, `{"groups":["a"]}`, []string{"b"}},
		{"", `{"groups":["a"],"":["b"]}`, "", nil}, // groups_claim is empty: there are no groups
		{"/x/groups", `{"x":{}}`, `{"x":{"groups":["a"]}}`, []string{"a"}},
	} {
		p := newProvider(t, func(c *oidc.Config) { c.GroupsClaim = test.claim })
		var want []string
		for _, group := range test.want {
			want = append(want, "oidc:acme:group:"+group)
		}
		if diff := cmp.Diff(want, identify(t, p, test.token, test.info).Subjects); diff != "" {
			t.Errorf("%q of %.80s and %s (-want +got):\n%s", test.claim, test.token, test.info, diff)
		}
	}
}

// manyGroups returns the claims of a member of n groups, "g0" to "g<n-1>".
func manyGroups(n int) string {
	groups := make([]string, n)
	for i := range groups {
		groups[i] = fmt.Sprintf("g%d", i)
	}
	b, err := json.Marshal(map[string]any{"groups": groups})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestManyGroups: all groups are there, up to a limit that nobody needs.
func TestManyGroups(t *testing.T) {
	p := newProvider(t, nil)
	for count, want := range map[int]int{200: 200, 201: 201, 2000: 2000, 10_000: 10_000} {
		got := identify(t, p, manyGroups(count), "").Subjects
		if len(got) != want || got[0] != "oidc:acme:group:g0" || got[want-1] != fmt.Sprint("oidc:acme:group:g", want-1) {
			t.Errorf("of %d groups: got %d, want the first %d", count, len(got), want)
		}
	}
}

// TestOverage: groups that are left out do not count as none if they decide.
func TestOverage(t *testing.T) {
	const sources = `"_claim_sources":{"src1":{"endpoint":"https://graph.example/x"}}`
	for _, test := range []struct {
		claim, token, info string
		overage            bool
	}{
		{"groups", `{"_claim_names":{"groups":"src1"},` + sources + `}`, "", true},
		{"groups", `{"hasgroups":true}`, "", true},
		{"groups", `{"hasgroups":"true"}`, "", true},
		{"groups", `{"groups:src1":"https://graph.example/x"}`, "", true},
		{"groups", `{"groups":[],"hasgroups":true}`, "", true},
		{"groups", `{}`, `{"_claim_names":{"groups":"src1"}}`, true},
		{"/groups/names", `{"_claim_names":{"groups":"src1"}}`, "", true},
		{"groups", `{}`, "", false},
		{"groups", `{"groups":[]}`, "", false},
		{"groups", `{"hasgroups":false}`, "", false},
		{"groups", `{"_claim_names":{"address":"src1"}}`, "", false},
		{"wids", `{"_claim_names":{"groups":"src1"},"hasgroups":true}`, "", false},
		{"groups", `{"groups":["a"],"_claim_names":{"groups":"src1"}}`, "", false},
		{"groups", `{"_claim_names":{"groups":"src1"}}`, `{"groups":["a"]}`, false},
	} {
		for _, need := range []bool{true, false} {
			p := newProvider(t, func(c *oidc.Config) { c.GroupsClaim, c.GroupsAdmit = test.claim, need })
			_, err := p.IdentityOf("ada", object(t, test.token), object(t, test.info))
			if test.overage && need {
				checkCode(t, err, guidon.PermissionDenied, "use app roles with roles_claim")
				if strings.Contains(guidon.PublicMessage(err), "roles_claim") {
					t.Errorf("clients see %q", guidon.PublicMessage(err))
				}
			} else if err != nil {
				t.Errorf("%q of %s, groups needed: %v: got %v, want it accepted", test.claim, test.token, need, err)
			}
		}
	}
	w := newWorld(t, func(c *oidc.Config) { c.GroupsAdmit = true })
	w.flow.Claims = map[string]any{
		"_claim_names":   map[string]any{"groups": "src1"},
		"_claim_sources": map[string]any{"src1": map[string]any{"endpoint": w.remote.URL + "/graph"}},
	}
	_, err := w.signIn(t)
	checkCode(t, err, guidon.PermissionDenied, "too many")
	if n := w.remote.Requests("/graph"); n != 0 {
		t.Errorf("%d requests to the source of the claim, want none", n)
	}
}

func TestRoles(t *testing.T) {
	for _, test := range []struct {
		claim, token string
		want         []string
	}{
		{"", `{"roles":["admin"]}`, nil},
		{"roles", `{"roles":["admin","viewer@checkout,pay-*","admin"]}`, []string{"admin", "viewer@checkout,pay-*"}},
		{"roles", `{"roles":"editor"}`, []string{"editor"}},
		{"roles", `{"roles":["Admin","none","","@x","superuser","admin ","admin\n@x",1,null]}`, nil},
		{"roles", `{"roles":["viewer@` + strings.Repeat("x", 1024) + `","client"]}`, []string{"client"}},
		{"/x/roles", `{"x":{"roles":["client","evaluator@*"]}}`, []string{"client", "evaluator@*"}},
		{"roles", `{}`, nil},
	} {
		p := newProvider(t, func(c *oidc.Config) { c.RolesClaim = test.claim })
		if diff := cmp.Diff(test.want, identify(t, p, test.token, "").Roles); diff != "" {
			t.Errorf("%q of %.80s (-want +got):\n%s", test.claim, test.token, diff)
		}
	}
	roles := make([]string, 150)
	for i := range roles {
		roles[i] = fmt.Sprintf("viewer@n%d", i)
	}
	b, err := json.Marshal(map[string]any{"roles": roles})
	if err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, func(c *oidc.Config) { c.RolesClaim = "roles" })
	if got := identify(t, p, string(b), "").Roles; len(got) != 100 {
		t.Errorf("%d of 150 roles, want 100", len(got))
	}
}
