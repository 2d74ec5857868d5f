package service_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// fill stores so many bindings in one transaction.
func fill(t testing.TB, s service.Store, count int) {
	t.Helper()
	err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		for i := range count {
			b, err := service.NewBinding(service.RoleViewer, fmt.Sprint("jwt:sub:stored-", i), nil)
			if err != nil {
				return err
			}
			b.ID, b.Source = fmt.Sprint("b-", i), service.SourceDatabase
			if err := tx.PutBinding(ctx, &b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// admins is a database in which somebody is an administrator.
type admins struct {
	s       *service.Service
	token   *service.Authentication // a static token with the role admin
	page    *service.Authentication // a session of it
	person  *service.Authentication // bound by the binding, if there is one
	binding *service.Binding
}

// TestKeepAdmin: the last way in which anybody is an administrator stays. Everything else
// can be removed.
func TestKeepAdmin(t *testing.T) {
	deleteToken := func(by func(a *admins) *service.Authentication, which func(a *admins) *service.Authentication) func(*admins) error {
		return func(a *admins) error {
			return a.s.DeleteAuthentication(context.Background(), writeBy(by(a)), which(a).ID)
		}
	}
	deleteBinding := func(by func(a *admins) *service.Authentication) func(*admins) error {
		return func(a *admins) error {
			return a.s.DeleteBinding(context.Background(), writeBy(by(a)), a.binding.ID)
		}
	}
	revoke := func(who func(a *admins) *service.Authentication, everywhere bool) func(*admins) error {
		return func(a *admins) error { return a.s.RevokeSelf(context.Background(), writeBy(who(a)), everywhere) }
	}
	token := func(a *admins) *service.Authentication { return a.token }
	page := func(a *admins) *service.Authentication { return a.page }
	person := func(a *admins) *service.Authentication { return a.person }
	nobody := func(*admins) *service.Authentication { return nil }
	const bound = "admin=oidc:google:sub:ada"
	otherToken := func(in service.TokenInput) func(*testing.T, *admins) {
		in.Name = "other"
		return func(t *testing.T, a *admins) {
			if _, _, err := a.s.CreateToken(t.Context(), service.Write{}, in); err != nil {
				t.Fatal(err)
			}
		}
	}
	expire := func(who func(a *admins) *service.Authentication, in time.Duration) func(*admins) error {
		return func(a *admins) error {
			at := time.Now().Add(in)
			return a.s.ExpireSelf(context.Background(), writeBy(who(a)), &at)
		}
	}
	expireNow := func(a *admins) error { return a.s.ExpireSelf(context.Background(), writeBy(a.token), nil) }
	bind := func(text string) func(*testing.T, *admins) {
		return func(t *testing.T, a *admins) { mustBind(t, a.s, service.Write{}, text) }
	}
	past, soon, late := time.Now().Add(-time.Minute), time.Now().Add(time.Hour), time.Now().Add(48*time.Hour)
	for _, test := range []struct {
		name       string
		change     func(*service.Policy)
		binding    string // "" is none
		roles      []string
		noToken    bool
		besides    func(t *testing.T, a *admins)
		remove     func(a *admins) error
		wantRefuse bool
	}{
		{name: "the last token, by itself", remove: deleteToken(token, token), wantRefuse: true},
		{name: "the last token, by its session", remove: deleteToken(page, token), wantRefuse: true},
		{name: "the last token signs out", remove: revoke(token, false), wantRefuse: true},
		{name: "the last token signs out everywhere", remove: revoke(token, true), wantRefuse: true},
		{name: "the last token without roles", change: func(p *service.Policy) { p.Enforced = false }, remove: deleteToken(token, token), wantRefuse: true},
		{name: "a session of the last token", remove: revoke(page, false)},
		{name: "by the command line on the database", remove: deleteToken(nobody, token)},
		{name: "another token", besides: otherToken(service.TokenInput{}), remove: deleteToken(token, token)},
		{name: "another token with the role", besides: otherToken(service.TokenInput{Role: service.RoleAdmin}), remove: deleteToken(token, token)},
		{name: "another token that has expired", besides: otherToken(service.TokenInput{ExpiresAt: &past}), remove: deleteToken(token, token), wantRefuse: true},
		{name: "another token that expires soon", besides: otherToken(service.TokenInput{ExpiresAt: &soon}), remove: deleteToken(token, token), wantRefuse: true},
		{name: "another token that expires late", besides: otherToken(service.TokenInput{ExpiresAt: &late}), remove: deleteToken(token, token)},
		{name: "the last token ends itself", remove: expireNow, wantRefuse: true},
		{name: "the last token ends itself soon", remove: expire(token, time.Hour), wantRefuse: true},
		{name: "the last token ends itself late", remove: expire(token, 48*time.Hour)},
		{name: "the last token ends its session", remove: expire(page, time.Second)},
		{name: "one of two tokens ends itself", besides: otherToken(service.TokenInput{}), remove: expireNow},
		{name: "a binding for another provider", besides: bind("admin=oidc:gone:*"), remove: deleteToken(token, token), wantRefuse: true},
		{name: "the configuration has one for another provider", change: func(p *service.Policy) { p.Bindings = mustConfigure("admin=oidc:gone:sub:bob") }, remove: deleteToken(token, token), wantRefuse: true},
		{name: "a binding for tokens of others, which are off", change: func(p *service.Policy) { p.Admissions = without("jwt") }, besides: bind("admin=jwt:*"), remove: expireNow, wantRefuse: true},
		{name: "a binding for tokens of others", besides: bind("admin=jwt:group:ops"), remove: expireNow},
		{name: "an editor's token", besides: otherToken(service.TokenInput{Role: service.RoleEditor}), remove: deleteToken(token, token), wantRefuse: true},
		{name: "an administrator of one namespace", besides: otherToken(service.TokenInput{Role: service.RoleAdmin, Namespaces: []string{"shop"}}), remove: deleteToken(token, token), wantRefuse: true},
		{name: "a token for one namespace", besides: otherToken(service.TokenInput{Namespace: "shop"}), remove: deleteToken(token, token), wantRefuse: true},
		{name: "a token without role, which gives less", change: func(p *service.Policy) { p.Defaults[service.MethodToken] = service.RoleViewer },
			noToken: true, binding: bound, besides: otherToken(service.TokenInput{}), remove: deleteBinding(person), wantRefuse: true},
		{name: "the configuration has one", change: func(p *service.Policy) { p.Bindings = mustConfigure("admin=oidc:google:sub:bob") }, remove: deleteToken(token, token)},
		{name: "the configuration has one for a namespace", change: func(p *service.Policy) { p.Bindings = mustConfigure("admin@shop=oidc:google:sub:bob") }, remove: deleteToken(token, token), wantRefuse: true},
		{name: "a binding", binding: bound, remove: deleteToken(token, token)},
		{name: "a binding of an editor", binding: "editor=oidc:google:sub:ada", remove: deleteToken(token, token), wantRefuse: true},

		{name: "the last binding, by the person", noToken: true, binding: bound, remove: deleteBinding(person), wantRefuse: true},
		{name: "the binding, with a token", binding: bound, remove: deleteBinding(person)},
		{name: "the binding, by a token", binding: "admin=oidc:google:sub:bob", remove: deleteBinding(token)},
		{name: "the binding, by the command line", noToken: true, binding: bound, remove: deleteBinding(nobody)},
		{name: "the person signs out", noToken: true, binding: bound, remove: revoke(person, false)},
		{name: "the person signs out everywhere", noToken: true, binding: bound, remove: revoke(person, true)},
		{name: "another binding of the same", noToken: true, binding: bound, besides: func(t *testing.T, a *admins) { mustBind(t, a.s, service.Write{}, "admin=oidc:google:*") }, remove: deleteBinding(person)},

		{name: "a viewer's binding, by an administrator of a claim", noToken: true, binding: "viewer=oidc:google:sub:bob", roles: []string{"admin"}, remove: deleteBinding(person)},
		{name: "the last binding, by an administrator of a claim", noToken: true, binding: "admin=oidc:google:sub:bob", roles: []string{"admin"}, remove: deleteBinding(person)},
		{name: "the last token, by an administrator of a claim", roles: []string{"admin"}, remove: deleteToken(person, token)},
		{name: "an administrator of a claim signs out", noToken: true, roles: []string{"admin"}, remove: revoke(person, false)},
		{name: "the last binding, by an administrator by default", change: func(p *service.Policy) { p.Defaults[service.MethodOIDC] = service.RoleAdmin }, noToken: true, binding: bound, remove: deleteBinding(person)},
		{name: "the last binding without roles", change: func(p *service.Policy) { p.Enforced = false }, noToken: true, binding: bound, remove: deleteBinding(person)},
		{name: "an unknown binding", noToken: true, roles: []string{"admin"}, remove: func(a *admins) error {
			return a.s.DeleteBinding(context.Background(), writeBy(a.person), "unknown")
		}},
		{name: "an unknown token", remove: func(a *admins) error {
			return a.s.DeleteAuthentication(context.Background(), writeBy(a.token), "unknown")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := usualPolicy()
			if test.change != nil {
				test.change(p)
			}
			a := &admins{s: newService(t).WithPolicy(p)}
			if !test.noToken {
				_, a.token = mustCreateToken(t, a.s, service.TokenInput{})
				var err error
				if _, a.page, err = a.s.BeginSession(t.Context(), by(a.token), service.SignIn{Client: service.ClientBrowser, Lifetime: time.Hour}); err != nil {
					t.Fatal(err)
				}
			}
			if test.binding != "" {
				a.binding = mustBind(t, a.s, service.Write{}, test.binding)
			}
			in := attempt("ada", "digest")
			in.Identity.Roles = test.roles
			session, _ := mustSignIn(t, a.s, in)
			a.person = mustAuthenticate(t, a.s, session)
			if a.page != nil {
				a.page = resolved(t, a.s, a.page)
			}
			if test.besides != nil {
				test.besides(t, a)
			}
			before, bindings := allAuthentications(t, a.s), bindingIDs(t, a.s)
			err := test.remove(a)
			switch {
			case test.wantRefuse:
				wantCode(t, "removal", err, guidon.InvalidArgument)
				if diff := cmp.Diff(before, allAuthentications(t, a.s), cmpopts.IgnoreUnexported(service.Authentication{})); diff != "" || len(bindingIDs(t, a.s)) != len(bindings) {
					t.Errorf("the refused removal has removed something: %s", diff)
				}
			case err != nil:
				t.Errorf("got %v, want it removed", err)
			}
		})
	}
}

func writeBy(a *service.Authentication) service.Write {
	if a == nil {
		return service.Write{}
	}
	return by(a)
}

// without returns all admissions but one.
func without(method string) map[string]service.Admission {
	admissions := maps.Clone(everyone)
	delete(admissions, method)
	return admissions
}

func mustConfigure(texts ...string) *service.Bindings {
	b, err := service.ConfiguredBindings(texts)
	if err != nil {
		panic(err)
	}
	return b
}

// resolved returns what requests with the session have.
func resolved(t testing.TB, s *service.Service, session *service.Authentication) *service.Authentication {
	t.Helper()
	a, _, err := s.Reauthenticate(t.Context(), service.Demand{}, "", session)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestKeepAdminConcurrently: two administrators that remove themselves, or each other, at
// the same time are not both removed.
func TestKeepAdminConcurrently(t *testing.T) {
	for _, test := range []struct {
		name   string
		remove func(t *testing.T, s *service.Service, tokens, people [2]*service.Authentication, bindings [2]*service.Binding, i int) error
		tokens bool // the administrators are tokens, otherwise people
	}{
		{"tokens themselves", func(t *testing.T, s *service.Service, tokens, _ [2]*service.Authentication, _ [2]*service.Binding, i int) error {
			return s.RevokeSelf(t.Context(), by(tokens[i]), false)
		}, true},
		{"tokens each other", func(t *testing.T, s *service.Service, tokens, _ [2]*service.Authentication, _ [2]*service.Binding, i int) error {
			return s.DeleteAuthentication(t.Context(), by(tokens[i]), tokens[1-i].ID)
		}, true},
		{"bindings of themselves", func(t *testing.T, s *service.Service, _, people [2]*service.Authentication, bindings [2]*service.Binding, i int) error {
			return s.DeleteBinding(t.Context(), by(people[i]), bindings[i].ID)
		}, false},
		{"bindings of each other", func(t *testing.T, s *service.Service, _, people [2]*service.Authentication, bindings [2]*service.Binding, i int) error {
			return s.DeleteBinding(t.Context(), by(people[i]), bindings[1-i].ID)
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			both := twoInstances(t)
			var tokens, people [2]*service.Authentication
			var bindings [2]*service.Binding
			for i, name := range []string{"ada", "bob"} {
				if test.tokens {
					_, tokens[i] = mustCreateToken(t, both[0], service.TokenInput{})
					continue
				}
				bindings[i] = mustBind(t, both[0], service.Write{}, "admin=oidc:google:sub:"+name)
				token, _ := mustSignIn(t, both[0], attempt(name, name))
				people[i] = mustAuthenticate(t, both[0], token)
			}
			var errs [2]error
			var removing sync.WaitGroup
			for i, s := range both {
				removing.Go(func() { errs[i] = test.remove(t, s, tokens, people, bindings, i) })
			}
			removing.Wait()
			if refused := errors.Is(errs[0], guidon.InvalidArgument) != errors.Is(errs[1], guidon.InvalidArgument); !refused || errs[0] != nil && errs[1] != nil {
				t.Errorf("got %v and %v, want one refused", errs[0], errs[1])
			}
			if has, err := both[0].HasAdmin(t.Context()); !has || err != nil {
				t.Errorf("there is an administrator: %t, %v", has, err)
			}
		})
	}
}

func TestHasAdmin(t *testing.T) {
	past := time.Now().Add(-time.Minute)
	for name, test := range map[string]struct {
		configured []string
		token      *service.TokenInput
		binding    string
		want       bool
	}{
		"nothing":                      {nil, nil, "", false},
		"configured":                   {[]string{"viewer=jwt:*", "admin=oidc:google:sub:ada"}, nil, "", true},
		"configured for one namespace": {[]string{"admin@shop=oidc:google:sub:ada"}, nil, "", false},
		"configured editor":            {[]string{"editor=oidc:google:sub:ada"}, nil, "", false},
		"bound":                        {nil, nil, "admin=oidc:google:sub:ada", true},
		"bound for another provider":   {nil, nil, "admin=oidc:gone:sub:ada", false},
		"token":                        {nil, &service.TokenInput{}, "", true},
		"token of an editor":           {nil, &service.TokenInput{Role: service.RoleEditor}, "", false},
		"token for one namespace":      {nil, &service.TokenInput{Namespace: "shop"}, "", false},
		"token in some namespaces":     {nil, &service.TokenInput{Namespaces: []string{"shop", "pay-*"}}, "", false},
		"token that has expired":       {nil, &service.TokenInput{ExpiresAt: &past}, "", false},
		"token in all namespaces":      {nil, &service.TokenInput{Role: service.RoleAdmin, Namespaces: []string{"shop", "*"}}, "", true},
	} {
		p := usualPolicy()
		p.Bindings = configured(t, test.configured...)
		s := newService(t).WithPolicy(p)
		if test.token != nil {
			test.token.Name = "token"
			if _, _, err := s.CreateToken(t.Context(), service.Write{}, *test.token); err != nil {
				t.Fatal(err)
			}
		}
		if test.binding != "" {
			mustBind(t, s, service.Write{}, test.binding)
		}
		mustSignIn(t, s, attempt("eve", "digest"))
		if got, err := s.HasAdmin(t.Context()); got != test.want || err != nil {
			t.Errorf("%s: got %t, %v, want %t", name, got, err, test.want)
		}
	}
}
