package login

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type record struct {
	Kind, Key, Action string
	Actor             struct{ ID, Name, Method string }
	RequestID         string
	Before, After     map[string]any
}

// records returns the change records of the kind, the oldest first.
func (s *service) records(t *testing.T, kind string) []record {
	t.Helper()
	all := decode[struct{ Changes []record }](t, s.status(t, 200, "GET", "/api/v1/namespaces/default/changes?limit=500&kind="+kind, "", asAdmin)).Changes
	slices.Reverse(all)
	return all
}

// TestRecords: sign-ins and sign-outs are change records, and events of the log.
func TestRecords(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	before := len(s.records(t, "authentication"))
	b := s.browser(t)
	in := b.signIn(p)
	self := decode[authentication](t, b.get("/auth/v1/self"))
	out := b.send("DELETE", "/auth/v1/self/revoke", "")

	all := s.records(t, "authentication")
	if len(all) != before+2 {
		t.Fatalf("%d new records, want 2: %+v", len(all)-before, all)
	}
	slices.SortStableFunc(all[before:], func(x, y record) int { return strings.Compare(x.Action, y.Action) })
	for i, want := range []struct{ action, request string }{{"create", in.Header.Get("X-Request-Id")}, {"delete", out.Header.Get("X-Request-Id")}} {
		got := all[before+i]
		if got.Action != want.action || got.RequestID != want.request || got.Key != self.ID || got.Actor.ID != "oidc:google:sub:ada" ||
			!slices.Contains([]string{"Ada Lovelace", "google.ada@corp.example"}, got.Actor.Name) {
			t.Errorf("record %+v, want %+v by the person", got, want)
		}
		for _, side := range []map[string]any{got.Before, got.After} {
			for name := range side {
				if strings.Contains(strings.ToLower(name), "hash") || strings.Contains(strings.ToLower(name), "token") {
					t.Errorf("%s: has %s", want.action, name)
				}
			}
		}
	}
	for _, r := range []response{in, out} {
		e := s.event(t, r)
		if e["subject"] != "oidc:google:sub:ada" && e["actor"] != "oidc:google:sub:ada" {
			t.Errorf("event %v, want the subject", e)
		}
	}
	if e := s.event(t, in); e["provider"] != "google" || e["reason"] != nil || e["sign_in_method"] != "oidc" {
		t.Errorf("event %v", e)
	}
	metrics := s.send(t, "GET", "/metrics", "", asAdmin).body
	if want := `guidon_sign_in_total{method="oidc",provider="google",result="ok"} 1`; !strings.Contains(metrics, want) {
		t.Errorf("the metrics have no %s", want)
	}
}

// TestPersonalBindings: what a provider says of a person gives them the roles bound to it,
// and what another says does not.
func TestPersonalBindings(t *testing.T) {
	t.Parallel()
	google, entra := newProvider(t, "google"), newProvider(t, "entra")
	s := start(t, slices.Concat(google.settings("ROLES_CLAIM=/app/roles"), entra.settings(),
		[]string{"AUTHORIZATION_BINDINGS=editor@configured=oidc:google:email:ada@corp.example", "AUTHORIZATION_DEFAULT_ROLES_OIDC=viewer"})...)
	for subject, ns := range map[string]string{
		"oidc:google:sub:bound": "by-sub", "oidc:google:email:Bound@Corp.example": "by-email", "oidc:google:domain:bound.example": "by-domain",
		"oidc:google:group:Pay": "by-group", "oidc:google:*": "by-provider",
	} {
		s.bind(t, "editor", subject, ns)
	}
	everyone := grant{"editor", []string{"by-provider"}}
	for name, c := range map[string]struct {
		p      *provider
		claims map[string]any
		want   []grant
	}{
		"nothing":               {google, nil, []grant{everyone}},
		"sub":                   {google, map[string]any{"sub": "bound"}, []grant{{"editor", []string{"by-sub"}}, everyone}},
		"sub in another case":   {google, map[string]any{"sub": "Bound"}, []grant{everyone}},
		"e-mail":                {google, map[string]any{"email": "bound@corp.example"}, []grant{{"editor", []string{"by-email"}}, everyone}},
		"e-mail not verified":   {google, map[string]any{"email": "bound@corp.example", "email_verified": false}, []grant{everyone}},
		"domain":                {google, map[string]any{"email": "x@BOUND.example"}, []grant{{"editor", []string{"by-domain"}}, everyone}},
		"group":                 {google, map[string]any{"groups": []string{"Pay"}}, []grant{{"editor", []string{"by-group"}}, everyone}},
		"group in another case": {google, map[string]any{"groups": []string{"pay"}}, []grant{everyone}},
		"configured":            {google, map[string]any{"email": "ada@corp.example"}, []grant{{"editor", []string{"configured"}}, everyone}},
		"roles claim":           {google, map[string]any{"app": map[string]any{"roles": []string{"admin@shop,pay-*", "emperor", "viewer"}}}, []grant{everyone, {"admin", []string{"shop", "pay-*"}}, {"viewer", []string{"*"}}}},
		"another provider":      {entra, map[string]any{"sub": "bound", "email": "bound@corp.example", "groups": []string{"Pay"}}, []grant{{"viewer", []string{"*"}}}},
		"roles of another":      {entra, map[string]any{"roles": []string{"admin"}, "app": map[string]any{"roles": []string{"admin"}}}, []grant{{"viewer", []string{"*"}}}},
	} {
		claims := map[string]any{"sub": "p-" + name}
		maps.Copy(claims, c.claims)
		b := s.signedIn(t, c.p, claims)
		got := decode[authentication](t, b.get("/auth/v1/self")).Access
		byText := func(x, y grant) int { return strings.Compare(asJSON(x), asJSON(y)) }
		slices.SortFunc(got, byText)
		slices.SortFunc(c.want, byText)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
