package service_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// configured returns the bindings as the configuration has them.
func configured(t testing.TB, texts ...string) *service.Bindings {
	t.Helper()
	b, err := service.ConfiguredBindings(texts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stored returns the bindings as the database has them.
func stored(t testing.TB, texts ...string) *service.Bindings {
	t.Helper()
	var all []*service.Binding
	for i, text := range texts {
		b, err := service.ParseBinding(text)
		if err != nil {
			t.Fatal(err)
		}
		b.ID, b.Source = fmt.Sprint("b-", i), service.SourceDatabase
		all = append(all, &b)
	}
	return service.NewBindings(all)
}

// usual are the default roles of the configuration.
var usual = service.DefaultRoles{
	service.MethodToken: service.RoleAdmin, service.MethodOIDC: service.RoleViewer, service.MethodCodehost: service.RoleViewer,
	service.MethodKubernetes: service.RoleClient, service.MethodJWT: service.RoleClient,
}

// everyone admits everybody for whom the usual providers vouch.
var everyone = map[string]service.Admission{
	"oidc:google": &service.AllowList{Everyone: true}, "oidc:entra": &service.AllowList{Everyone: true},
	"codehost": &service.AllowList{Everyone: true}, "kubernetes": service.ServiceAccounts(nil),
	"jwt": &service.AllowList{Everyone: true},
}

// roles returns what the authentication may do, such as "editor@shop,pay-* viewer@*".
func roles(a *service.Authentication) string {
	var all []string
	for _, g := range a.Grants() {
		all = append(all, g.Role.String()+"@"+strings.Join(g.Namespaces, ","))
	}
	return strings.Join(all, " ")
}

func ada(subjects ...string) *service.Authentication {
	return &service.Authentication{Method: service.MethodOIDC, Subject: "oidc:google:sub:ada", Subjects: subjects}
}

// authenticated returns the authentication that the policy makes of a stored one, or nil.
func authenticated(t testing.TB, p *service.Policy, bindings *service.Bindings, all ...*service.Authentication) *service.Authentication {
	t.Helper()
	for i, a := range all {
		a.TokenHash = service.HashToken(fmt.Sprint("token-", i))
		if a.ID == "" {
			a.ID = fmt.Sprint("id-", i)
		}
	}
	set := service.AuthenticationDelta{Created: all, Bindings: bindings}.Set()
	s := service.NewService(&fixedTokens{set: set}, time.Now).WithPolicy(p)
	a, _, err := s.Authenticate(t.Context(), service.Demand{}, "", "token-0")
	if err != nil {
		return nil
	}
	return a
}

// TestPolicy: what bindings, claims and defaults give to stored authentications.
func TestPolicy(t *testing.T) {
	none := service.DefaultRoles{}
	denied := service.DefaultRoles{service.MethodOIDC: service.RoleNone, service.MethodToken: service.RoleNone}
	pod := &service.Authentication{Method: service.MethodKubernetes, Subject: "kubernetes:serviceaccount:shop/checkout", Subjects: []string{"kubernetes:namespace:shop"}}
	hosted := &service.Authentication{Method: service.MethodCodehost, Subject: "codehost:id:1", Subjects: []string{"codehost:email:ada@example.com", "codehost:org:acme", "codehost:team:acme/backend"}}
	withRoles := func(roles ...string) *service.Authentication {
		a := ada()
		a.Roles = roles
		return a
	}
	for _, test := range []struct {
		name       string
		a          *service.Authentication
		defaults   service.DefaultRoles
		configured []string
		stored     []string
		want       string // see roles; "" is nothing
	}{
		{"OpenID Connect by default", ada(), usual, nil, nil, "viewer@*"},
		{"code host by default", hosted, usual, nil, nil, "viewer@*"},
		{"Kubernetes by default", pod, usual, nil, nil, "client@*"},
		{"no default", ada(), none, nil, nil, ""},
		{"the default none", ada(), denied, nil, nil, ""},
		{"default of another method", ada(), service.DefaultRoles{service.MethodCodehost: service.RoleAdmin, service.MethodToken: service.RoleAdmin}, nil, nil, ""},

		{"bound by the configuration", ada(), usual, []string{"admin=oidc:google:sub:ada"}, nil, "admin@*"},
		{"bound in the database", ada(), usual, nil, []string{"admin=oidc:google:sub:ada"}, "admin@*"},
		{"bound by both", ada(), usual, []string{"editor@shop=oidc:google:sub:ada"}, []string{"viewer=oidc:google:sub:ada"}, "editor@shop viewer@*"},
		{"less than the default", ada(), usual, nil, []string{"evaluator@shop=oidc:google:sub:ada"}, "evaluator@shop"},
		{"bound without a default", ada(), denied, nil, []string{"evaluator=oidc:google:sub:ada"}, "evaluator@*"},
		{"by e-mail", ada("oidc:google:email:ada@example.com"), usual, []string{"editor=oidc:google:email:Ada@Example.com"}, nil, "editor@*"},
		{"by domain", ada("oidc:google:domain:example.com"), usual, nil, []string{"editor=oidc:google:domain:example.com"}, "editor@*"},
		{"by two groups", ada("oidc:google:group:a", "oidc:google:group:b"), usual, []string{"editor@a=oidc:google:group:a", "editor@b=oidc:google:group:b"}, nil, "editor@a editor@b"},
		{"group in another case", ada("oidc:google:group:Payments"), usual, []string{"editor=oidc:google:group:payments"}, nil, "viewer@*"},
		{"everybody of the provider", ada(), usual, []string{"editor=oidc:google:*"}, nil, "editor@*"},
		{"everybody and one", ada(), usual, []string{"evaluator=oidc:google:*", "admin=oidc:google:sub:ada"}, nil, "admin@*"},

		{"somebody else", ada(), usual, []string{"admin=oidc:google:sub:adam", "admin=oidc:google:sub:Ada"}, nil, "viewer@*"},
		{"the same of another provider", ada(), usual, []string{"admin=oidc:entra:sub:ada", "admin=oidc:entra:*", "admin=codehost:*", "admin=kubernetes:*", "admin=jwt:*"}, nil, "viewer@*"},
		{"a provider with a name that begins alike", &service.Authentication{Method: service.MethodOIDC, Subject: "oidc:google2:sub:ada"}, usual, []string{"admin=oidc:google:*"}, nil, "unknown"},
		{"a group that looks like a subject", ada("oidc:google:group:oidc:entra:*", "oidc:google:group:codehost:*"), usual, []string{"admin=oidc:entra:*", "admin=codehost:*"}, nil, "viewer@*"},

		{"organization", hosted, usual, []string{"editor@shop=codehost:org:Acme"}, nil, "editor@shop"},
		{"team", hosted, usual, nil, []string{"editor=codehost:team:Acme/Backend"}, "editor@*"},
		{"everybody of the code host", hosted, usual, nil, []string{"client=codehost:*"}, "client@*"},
		{"service account", pod, usual, []string{"evaluator=kubernetes:serviceaccount:shop/checkout"}, nil, "evaluator@*"},
		{"namespace of Kubernetes", pod, usual, []string{"evaluator@shop=kubernetes:namespace:shop"}, nil, "evaluator@shop"},
		{"everybody of Kubernetes", pod, usual, []string{"viewer=kubernetes:*"}, nil, "viewer@*"},

		{"roles claim", withRoles("editor@shop,pay-*"), usual, nil, nil, "editor@shop,pay-*"},
		{"roles claim and binding", withRoles("editor@shop"), usual, nil, []string{"viewer=oidc:google:sub:ada"}, "editor@shop viewer@*"},
		{"roles claim less than the default", withRoles("evaluator@shop"), usual, nil, nil, "evaluator@shop"},
		{"roles of another program", withRoles("Owner", "admin ", "", "none", "admin@", "a@b"), usual, nil, nil, "viewer@*"},
		{"some of them ours", withRoles("Owner", "client"), usual, nil, nil, "client@*"},

		{"highest first, once", ada(), usual, []string{"viewer=oidc:google:*", "admin=oidc:google:sub:ada", "editor@shop=oidc:google:sub:ada"}, []string{"admin=oidc:google:sub:ada"}, "admin@*"},
		{"beginnings cover keys and longer beginnings", ada(), usual, []string{"editor@pay-*=oidc:google:*", "viewer@pay-eu,pay-eu-*,pa*,shop=oidc:google:sub:ada"}, nil, "editor@pay-* viewer@pa*,shop"},
		{"a lower role covers no higher one", ada(), usual, []string{"viewer=oidc:google:*", "editor@pay-*=oidc:google:*"}, nil, "editor@pay-* viewer@*"},

		{"token", &service.Authentication{Method: service.MethodToken}, usual, []string{"viewer=oidc:google:*"}, nil, "admin@*"},
		{"token with a role", &service.Authentication{Method: service.MethodToken, Role: service.RoleViewer, Namespaces: []string{"shop"}}, usual, nil, nil, "viewer@shop"},
		{"token by default", &service.Authentication{Method: service.MethodToken}, service.DefaultRoles{service.MethodToken: service.RoleViewer}, nil, nil, "viewer@*"},
		{"token in some namespaces by default", &service.Authentication{Method: service.MethodToken, Namespaces: []string{"shop"}}, service.DefaultRoles{service.MethodToken: service.RoleViewer}, nil, nil, "viewer@shop"},
		{"token with a role above the default", &service.Authentication{Method: service.MethodToken, Role: service.RoleAdmin}, service.DefaultRoles{service.MethodToken: service.RoleViewer}, nil, nil, "admin@*"},
		{"token, nothing by default", &service.Authentication{Method: service.MethodToken}, denied, nil, nil, "none@*"},

		{"Flipt's OpenID Connect", &service.Authentication{Method: service.MethodOIDC, Metadata: map[string]string{"io.flipt.auth.oidc.email": "ada@example.com"}}, usual, []string{"admin=oidc:google:*"}, nil, "viewer@*"},
		{"Flipt's cloud", &service.Authentication{Method: service.MethodCloud}, usual, nil, nil, ""},
		{"Flipt's none", &service.Authentication{Method: service.MethodNone}, usual, nil, nil, ""},
		{"a method of later", &service.Authentication{Method: 99}, usual, nil, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &service.Policy{Enforced: true, Defaults: test.defaults, Bindings: configured(t, test.configured...), Admissions: everyone}
			a := authenticated(t, p, stored(t, test.stored...), test.a)
			if test.want == "unknown" {
				if a != nil {
					t.Errorf("got %q, want it not to be admitted", roles(a))
				}
				return
			}
			if a == nil {
				t.Fatal("it is not admitted")
			}
			if got := roles(a); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if a.MayAnywhere(service.RoleEvaluator) != (test.want != "" && test.want != "none@*") || a.May(service.RoleEvaluator, "other") != strings.Contains(test.want, "@*") && a.MayAnywhere(service.RoleEvaluator) {
				t.Errorf("anywhere %t, elsewhere %t with %q", a.MayAnywhere(service.RoleEvaluator), a.May(service.RoleEvaluator, "other"), test.want)
			}
		})
	}
}

// TestPolicyMay: roles hold in the namespaces that the grants name, and the highest counts.
func TestPolicyMay(t *testing.T) {
	p := &service.Policy{Enforced: true, Defaults: usual, Admissions: everyone}
	a := authenticated(t, p, stored(t, "editor@shop,pay-*=oidc:google:*", "viewer=oidc:google:*", "evaluator@shop=oidc:google:sub:ada"), ada())
	for _, test := range []struct {
		need      service.Role
		namespace string
		want      bool
	}{
		{service.RoleEditor, "shop", true}, {service.RoleViewer, "shop", true}, {service.RoleAdmin, "shop", false},
		{service.RoleEditor, "pay-eu", true}, {service.RoleEditor, "pay", false}, {service.RoleEditor, "Shop", false},
		{service.RoleViewer, "other", true}, {service.RoleViewer, service.Everywhere, true}, {service.RoleEditor, service.Everywhere, false},
	} {
		if got := a.May(test.need, test.namespace); got != test.want {
			t.Errorf("%v on %q: got %t, want %t", test.need, test.namespace, got, test.want)
		}
	}
	if !a.MayAnywhere(service.RoleEditor) || a.MayAnywhere(service.RoleAdmin) || a.Unlimited() {
		t.Errorf("anywhere: got %q", roles(a))
	}
}

// TestPolicyNotEnforced: everybody who is admitted may do everything, but tokens with a role
// or namespaces.
func TestPolicyNotEnforced(t *testing.T) {
	defaults := service.DefaultRoles{service.MethodToken: service.RoleViewer}
	p := &service.Policy{Defaults: defaults, Bindings: configured(t, "viewer=oidc:google:*"), Admissions: everyone}
	for name, test := range map[string]struct {
		a    *service.Authentication
		want string
	}{
		"person":                   {ada(), "admin@*"},
		"Flipt's person":           {&service.Authentication{Method: service.MethodOIDC}, "admin@*"},
		"token":                    {&service.Authentication{Method: service.MethodToken}, "admin@*"},
		"token with a role":        {&service.Authentication{Method: service.MethodToken, Role: service.RoleClient}, "client@*"},
		"token in some namespaces": {&service.Authentication{Method: service.MethodToken, Namespaces: []string{"shop"}}, "admin@shop"},
	} {
		a := authenticated(t, p, nil, test.a)
		if a == nil || roles(a) != test.want {
			t.Errorf("%s: got %+v, want %q", name, a, test.want)
		}
	}
	stranger := &service.Authentication{Method: service.MethodOIDC, Subject: "oidc:other:sub:1"}
	if a := authenticated(t, p, nil, stranger); a != nil {
		t.Errorf("a stranger may do %q", roles(a))
	}
}

// TestTokenSessions: a session of a static token may do what that may now, as long as that
// is there.
func TestTokenSessions(t *testing.T) {
	soon, later := time.Now().Add(time.Minute), time.Now().Add(time.Hour)
	session := func() *service.Authentication {
		return &service.Authentication{
			Method: service.MethodToken, Client: service.ClientBrowser, Parent: "token", ExpiresAt: later,
			Role: service.RoleAdmin, Namespaces: []string{"stale"}, Metadata: map[string]string{service.MetadataTokenName: "ci", service.MetadataSessionName: "laptop"},
		}
	}
	for _, test := range []struct {
		name   string
		token  *service.Authentication // nil is deleted
		want   string                  // "" is that the session has ended
		expiry time.Time
	}{
		{"everything", &service.Authentication{}, "admin@*", later},
		{"a role", &service.Authentication{Role: service.RoleViewer, Namespaces: []string{"shop"}}, "viewer@shop", later},
		{"scope", &service.Authentication{Metadata: map[string]string{service.MetadataTokenNamespace: "shop"}}, "admin@shop", later},
		{"scope and role", &service.Authentication{Role: service.RoleEditor, Metadata: map[string]string{service.MetadataTokenNamespace: "shop"}}, "editor@shop", later},
		{"ends first", &service.Authentication{ExpiresAt: soon}, "admin@*", soon},
		{"ends later", &service.Authentication{ExpiresAt: later.Add(time.Hour)}, "admin@*", later},
		{"has ended", &service.Authentication{ExpiresAt: time.Now().Add(-time.Second)}, "", later},
		{"deleted", nil, "", later},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := []*service.Authentication{session()}
			if test.token != nil {
				test.token.ID, test.token.Method = "token", service.MethodToken
				all = append(all, test.token)
			}
			for _, p := range []*service.Policy{{}, {Enforced: true, Defaults: usual, Bindings: configured(t, "viewer=jwt:*")}} {
				a := authenticated(t, p, nil, all...)
				switch {
				case test.want == "" && a != nil:
					t.Errorf("the session lives on with %q", roles(a))
				case test.want != "" && (a == nil || roles(a) != test.want || !a.ExpiresAt.Equal(test.expiry)):
					t.Errorf("got %+v, want %q until %v", a, test.want, test.expiry)
				case test.want != "" && (a.Actor().ID != "token:token" || a.Metadata[service.MetadataSessionName] != "laptop"):
					t.Errorf("actor %+v, metadata %v", a.Actor(), a.Metadata)
				}
			}
		})
	}
	limited := &service.Policy{Enforced: true, Defaults: service.DefaultRoles{service.MethodToken: service.RoleClient}}
	if a := authenticated(t, limited, nil, session(), &service.Authentication{ID: "token", Method: service.MethodToken}); a == nil || roles(a) != "client@*" {
		t.Errorf("the default role of tokens: got %+v", a)
	}
	scoped := session()
	scoped.Metadata[service.MetadataTokenNamespace] = "shop"
	a := authenticated(t, &service.Policy{}, nil, scoped, &service.Authentication{ID: "token", Method: service.MethodToken})
	if _, limited := a.Scope(); limited {
		t.Error("the session is still limited to a namespace, the token no longer")
	}
}

// TestRecognize: an identity without a stored token, such as of a JWT, has the roles of its
// subjects, and loses them with the bindings.
func TestRecognize(t *testing.T) {
	id := &service.Identity{
		Method: service.MethodJWT, Subject: "jwt:sub:robot", Subjects: []string{"jwt:group:ci", "jwt:claim:team=shop"}, Expires: time.Now().Add(time.Minute),
		Metadata: map[string]string{"io.service.auth.jwt.sub": "robot"},
	}
	for text, want := range map[string]string{
		"": "client@*", "editor=jwt:sub:robot": "editor@*", "editor@shop=jwt:group:ci": "editor@shop", "viewer=jwt:claim:team=shop": "viewer@*",
		"evaluator=jwt:*": "evaluator@*", "admin=jwt:sub:robot2": "client@*", "admin=jwt:claim:team=other": "client@*", "admin=oidc:google:sub:robot": "client@*",
	} {
		var texts []string
		if text != "" {
			texts = []string{text}
		}
		tokens := &fixedTokens{set: service.AuthenticationDelta{Bindings: stored(t, texts...)}.Set()}
		s := service.NewService(tokens, time.Now).WithPolicy(usualPolicy())
		a, _, err := s.Recognize(t.Context(), service.Demand{}, "", id)
		if err != nil || roles(a) != want || a.ID != "" || a.TokenHash != "" || a.Actor().ID != "jwt:sub:robot" {
			t.Errorf("%q: got %+v, %v, want %q", text, a, err, want)
			continue
		}
		if again, _, err := s.Recognize(t.Context(), service.Demand{}, "", id); again != a || err != nil {
			t.Errorf("%q: the second time it was computed again, %v", text, err)
		}
		tokens.set = tokens.set.Apply(service.AuthenticationDelta{Bindings: stored(t, "evaluator@x=jwt:*")})
		for name, recognize := range map[string]func() (*service.Authentication, time.Duration, error){
			"recognized": func() (*service.Authentication, time.Duration, error) {
				return s.Recognize(t.Context(), service.Demand{}, "", id)
			},
			"reauthenticated": func() (*service.Authentication, time.Duration, error) {
				return s.Reauthenticate(t.Context(), service.Demand{}, "", a)
			},
		} {
			if again, _, err := recognize(); err != nil || roles(again) != "evaluator@x" {
				t.Errorf("%q, %s after a change: got %+v, %v", text, name, again, err)
			}
		}
	}
}

// TestAllowList: who is admitted by which list.
func TestAllowList(t *testing.T) {
	person := ada("oidc:google:email:ada@example.com", "oidc:google:domain:example.com", "oidc:google:group:ops")
	matches := func(patterns ...string) (all []*regexp.Regexp) {
		for _, pattern := range patterns {
			all = append(all, regexp.MustCompile(pattern))
		}
		return all
	}
	for _, test := range []struct {
		name string
		list service.AllowList
		a    *service.Authentication
		want bool
	}{
		{"nothing", service.AllowList{}, person, false},
		{"everyone", service.AllowList{Everyone: true}, ada(), true},
		{"e-mail", service.AllowList{Subjects: []string{"oidc:google:email:ada@example.com"}}, person, true},
		{"one of two", service.AllowList{Subjects: []string{"oidc:google:group:dev", "oidc:google:group:ops"}}, person, true},
		{"the subject itself", service.AllowList{Subjects: []string{"oidc:google:sub:ada"}}, ada(), true},
		{"another", service.AllowList{Subjects: []string{"oidc:google:domain:example.org", "oidc:google:group:Ops"}}, person, false},
		{"of another provider", service.AllowList{Subjects: []string{"oidc:entra:domain:example.com"}}, person, false},
		{"no verified e-mail", service.AllowList{Subjects: []string{"oidc:google:domain:example.com"}}, ada(), false},
		{"only a match", service.AllowList{EmailMatches: matches(`^.*@example\.com$`)}, person, true},
		{"one of two matches", service.AllowList{EmailMatches: matches(`@example\.org$`, `@example\.com$`)}, person, true},
		{"no match", service.AllowList{EmailMatches: matches(`@example\.org$`)}, person, false},
		{"no match without e-mail", service.AllowList{EmailMatches: matches(`.*$`)}, ada("oidc:google:group:ops"), false},
		{"a match and listed", service.AllowList{Subjects: []string{"oidc:google:group:ops"}, EmailMatches: matches(`@example\.com$`)}, person, true},
		{"a match and not listed", service.AllowList{Subjects: []string{"oidc:google:group:dev"}, EmailMatches: matches(`@example\.com$`)}, person, false},
		{"listed and no match", service.AllowList{Subjects: []string{"oidc:google:group:ops"}, EmailMatches: matches(`@example\.org$`)}, person, false},
		{"everyone and no match", service.AllowList{Everyone: true, EmailMatches: matches(`@example\.org$`)}, person, false},
		{"a group like an address", service.AllowList{EmailMatches: matches(`@example\.com$`)}, ada("oidc:google:group:email:eve@example.com", "oidc:google:domain:x@example.com"), false},
	} {
		if got := test.list.Admits(test.a); got != test.want {
			t.Errorf("%s: got %t, want %t", test.name, got, test.want)
		}
	}
}

func TestServiceAccounts(t *testing.T) {
	for _, test := range []struct {
		patterns []string
		account  string
		want     bool
	}{
		{nil, "shop/checkout", true},
		{[]string{"shop/checkout"}, "shop/checkout", true},
		{[]string{"shop/checkout"}, "shop/checkout2", false},
		{[]string{"shop/*"}, "shop/checkout", true},
		{[]string{"shop/*"}, "shop2/checkout", false},
		{[]string{"*/checkout"}, "pay/checkout", true},
		{[]string{"*/checkout"}, "pay/other", false},
		{[]string{"*/*"}, "pay/other", true},
		{[]string{"a/b", "pay/*"}, "pay/other", true},
	} {
		a := &service.Authentication{Method: service.MethodKubernetes, Subject: "kubernetes:serviceaccount:" + test.account}
		if got := service.ServiceAccounts(test.patterns).Admits(a); got != test.want {
			t.Errorf("%q, %s: got %t, want %t", test.patterns, test.account, got, test.want)
		}
	}
}

// TestAdmissionAgain: whoever the lists no longer admit is out with the next load, whatever
// the roles; what no provider vouches for is not concerned.
func TestAdmissionAgain(t *testing.T) {
	person := func() *service.Authentication { return ada("oidc:google:group:ops") }
	for _, enforced := range []bool{false, true} {
		for _, test := range []struct {
			name       string
			a          *service.Authentication
			admissions map[string]service.Admission
			want       bool
		}{
			{"admitted", person(), everyone, true},
			{"listed", person(), map[string]service.Admission{"oidc:google": &service.AllowList{Subjects: []string{"oidc:google:group:ops"}}}, true},
			{"no longer listed", person(), map[string]service.Admission{"oidc:google": &service.AllowList{Subjects: []string{"oidc:google:group:dev"}}}, false},
			{"provider removed", person(), map[string]service.Admission{"oidc:entra": &service.AllowList{Everyone: true}, "oidc": &service.AllowList{Everyone: true}}, false},
			{"no providers", person(), nil, false},
			{"code host removed", &service.Authentication{Method: service.MethodCodehost, Subject: "codehost:id:1"}, nil, false},
			{"service account no longer allowed", &service.Authentication{Method: service.MethodKubernetes, Subject: "kubernetes:serviceaccount:a/b"}, map[string]service.Admission{"kubernetes": service.ServiceAccounts{"c/*"}}, false},
			{"token", &service.Authentication{Method: service.MethodToken}, nil, true},
			{"Flipt's person", &service.Authentication{Method: service.MethodOIDC}, nil, true},
		} {
			p := &service.Policy{Enforced: enforced, Defaults: usual, Admissions: test.admissions}
			if got := authenticated(t, p, nil, test.a) != nil; got != test.want {
				t.Errorf("%s, enforced %t: got %t, want %t", test.name, enforced, got, test.want)
			}
		}
	}
}

// TestResolvedOnce: what an authentication may do is computed once for each set.
func TestResolvedOnce(t *testing.T) {
	admission := &countingAdmission{}
	session := ada()
	session.ID, session.TokenHash = "id", service.HashToken("token")
	tokens := &fixedTokens{set: service.NewAuthenticationSet(guidon.Revision{}, []*service.Authentication{session})}
	s := service.NewService(tokens, time.Now).WithPolicy(&service.Policy{Enforced: true, Defaults: usual, Admissions: map[string]service.Admission{"oidc:google": admission}})
	authenticate := func() (*service.Authentication, error) {
		a, _, err := s.Authenticate(context.Background(), service.Demand{}, "", "token")
		return a, err
	}
	first, err := authenticate()
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = authenticate() }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
	if second, _ := authenticate(); second != first || admission.asked != 1 {
		t.Errorf("asked %d times", admission.asked)
	}
	tokens.set = tokens.set.Apply(service.AuthenticationDelta{Created: []*service.Authentication{{ID: "other", TokenHash: "x"}}})
	if _, err := authenticate(); err != nil || admission.asked != 2 {
		t.Errorf("asked %d times, %v, want again for another set", admission.asked, err)
	}
	if diff := cmp.Diff("oidc:google:sub:ada", first.Actor().ID); diff != "" {
		t.Error(diff)
	}
}

type countingAdmission struct{ asked int }

// Names implements [service.Admission].
func (*countingAdmission) Names(string) bool { return false }

func (c *countingAdmission) Admits(*service.Authentication) bool {
	c.asked++
	return true
}

// TestOrigins: each role says where it comes from.
func TestOrigins(t *testing.T) {
	claiming := ada("oidc:google:group:ops")
	claiming.Roles = []string{"editor@pay"}
	enforced := &service.Policy{Enforced: true, Defaults: usual, Admissions: everyone, Bindings: configured(t, "viewer=oidc:google:*")}
	for _, test := range []struct {
		name   string
		p      *service.Policy
		a      *service.Authentication
		stored []string
		want   string
	}{
		{"bindings and a claim", enforced, claiming, []string{"admin@shop=oidc:google:group:ops"}, "admin@shop database oidc:google:group:ops, editor@pay claim, viewer@* configuration oidc:google:*"},
		{"the default", &service.Policy{Enforced: true, Defaults: usual, Admissions: everyone}, ada(), nil, "viewer@* default"},
		{"a token", enforced, &service.Authentication{Method: service.MethodToken, Role: service.RoleEditor}, nil, "editor@* token"},
		{"roles that are not enforced", &service.Policy{Admissions: everyone}, ada(), nil, "admin@* open"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := authenticated(t, test.p, stored(t, test.stored...), test.a)
			if a == nil {
				t.Fatal("it is not admitted")
			}
			var got []string
			for _, g := range a.Grants() {
				got = append(got, strings.TrimSpace(g.Role.String()+"@"+strings.Join(g.Namespaces, ",")+" "+string(g.Origin)+" "+g.Subject))
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
