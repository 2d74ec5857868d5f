package settings_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// enforced makes the configuration say that roles are.
func enforced(c *handler.Config) {
	c.Configuration = func() json.RawMessage { return json.RawMessage(`{"authorization":{"required":true}}`) }
}

// TestAccess: administrators see all bindings, and can delete those of the database.
func TestAccess(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t, "admin=oidc:google:email:ada@example.com"), Handler: enforced})
	_, fields := s.Get("/settings/new-binding").Check(200).Form("")
	r := s.Post("/settings/new-binding", with(fields, "subject", " codehost:team:Acme/Backend ", "role", "editor", "where", "some", "namespaces", "default pay-*"))
	if got := r.Location(); got != "/settings/access?done=created" {
		t.Errorf("leads to %s", got)
	}
	r = s.Get("/settings/access?done=created").Check(200).Contains("The role was given.").Lacks("Roles have no effect")
	want := []string{
		"E-mail ada@example.com (google) oidc:google:email:ada@example.com Admin All Configuration",
		"Team acme/backend (the code host) codehost:team:acme/backend Edit Default pay-* just now by a token Take away",
	}
	if diff := cmp.Diff(want, rows(r)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	all, err := s.Service.ListBindings(t.Context(), service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) string { return "/settings/access/" + all[i].ID + "/delete" }
	s.Get(at(0)).Check(200).Contains("This role is in the configuration", "authorization.bindings").Lacks("Take role away")
	s.Post(at(0), nil).Check(422)
	s.Get(at(1)).Check(200).Contains("Take this role away?", "Team acme/backend (the code host) has Edit in Default pay-* by this")
	if got := s.Post(at(1), nil).Location(); got != "/settings/access?done=deleted" {
		t.Errorf("leads to %s", got)
	}
	s.Get("/settings/access?done=deleted").Check(200).Contains("The role was taken away.").Lacks("acme/backend")
	s.Get(at(1)).Check(404).Contains("There is no such role")
	s.Post(at(1), nil).Check(404)
}

// TestNewBindingProblems: each mistake has a message at its field, and what was entered
// stays.
func TestNewBindingProblems(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true})
	_, fields := s.Get("/settings/new-binding").Check(200).Form("")
	for _, test := range []struct {
		changes []string
		want    string
	}{
		{[]string{"subject", ""}, "Say who gets the role."},
		{[]string{"subject", "ada@example.com"}, "This must have one of the forms"},
		{[]string{"subject", "oidc:google:email:ada"}, "This must be"},
		{[]string{"subject", "oidc:google:*", "role", ""}, "Choose what it may do."},
		{[]string{"subject", "oidc:google:*", "where", "some"}, "Name at least one namespace."},
		{[]string{"subject", "oidc:google:*", "where", "some", "namespaces", "a/b"}, "“a/b” is not the key of a namespace."},
	} {
		sent := with(fields, test.changes...)
		r := s.Post("/settings/new-binding", sent).Check(422).Contains("1 thing to fix", test.want, "Nothing was saved")
		if _, again := r.Form(""); again.Get("subject") != sent.Get("subject") || again.Get("namespaces") != sent.Get("namespaces") || again.Get("where") != sent.Get("where") {
			t.Errorf("%v: the form has %v", test.changes, again)
		}
	}
	s.Get("/settings/access").Check(200).Contains("No roles were given", "Roles have no effect, because authentication is off").Lacks("default_roles")
}

// TestRolesOfTokens: where nobody signs in by a provider, the roles of tokens are enforced, and
// pages do not say otherwise.
func TestRolesOfTokens(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	viewer := s.As(s.SignIn(service.TokenInput{Name: "viewer", Role: service.RoleViewer}))
	viewer.Get("/namespaces/default/new-flag").Check(403)
	s.Get("/settings/access").Check(200).Contains("Tokens have the roles that they were created with").Lacks("everybody", "default_roles")
	s.Get("/settings/server").Check(200).Contains("Roles only those of tokens are enforced").Lacks("everybody")
}

// TestManyBindings: pages of 200 link to each other.
func TestManyBindings(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true})
	for i := range 203 {
		if _, err := s.Service.CreateBinding(t.Context(), service.Write{}, service.RoleViewer, fmt.Sprintf("jwt:sub:person-%03d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	s.Get("/settings/access").Check(200).Contains("person-000", "person-199", "203 roles, page 1 of 2", "Next page").Lacks("person-200", "Previous page")
	s.Get("/settings/access?page=2").Check(200).Contains("person-200", "Previous page").Lacks("person-199", "Next page")
	s.Get("/settings/access?page=3").Check(200).Contains("person-000")
	s.Get("/settings/access?page=-1").Check(200).Contains("person-000")
}

// TestEndAccess: administrators end everything of an account, after a question.
func TestEndAccess(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t), Handler: enforced})
	ada, cli := person(t, s, "ada", "Ada", service.ClientBrowser), person(t, s, "ada", "Ada", service.ClientCLI)
	eve := person(t, s, "eve", "Eve", service.ClientBrowser)
	r := s.Get("/settings/access").Check(200)
	if diff := cmp.Diff([]string{"Ada oidc:google:sub:ada 2 End all", "Eve oidc:google:sub:eve 1 End all"}, rows(r)); diff != "" {
		t.Errorf("signed in (-want +got):\n%s", diff)
	}
	links := r.Links()
	link := links[len(links)-2]
	action, fields := s.Get(link).Check(200).Contains("End all sessions of “Ada”?", "oidc:google:sub:ada", "2 sessions end immediately").Form("")
	if got := s.Post(action, with(fields, "do", "confirm")).Location(); got != "/settings/access?done=ended" {
		t.Errorf("leads to %s", got)
	}
	for _, session := range []string{ada, cli} {
		if got := s.As(session).Get("/settings/profile").Status; got != 303 {
			t.Errorf("got %d, the session goes on", got)
		}
	}
	s.As(eve).Get("/settings/profile").Check(200)
	s.Get(link).Check(200).Contains("No account “oidc:google:sub:ada” has a session or token.")
	s.Get("/settings/end-access").Check(200).Contains("End all sessions of an account")
	if got := s.Post("/settings/end-access", url.Values{"subject": {"oidc:google:sub:eve"}}).Location(); got != "/settings/end-access?subject=oidc%3Agoogle%3Asub%3Aeve" {
		t.Errorf("without a confirmation it leads to %s", got)
	}
	s.As(eve).Get("/settings/profile").Check(200)
	s.Post("/settings/end-access", url.Values{"do": {"confirm"}}).Check(422)
}

// TestManyAccounts: the page lists 50 accounts, and says how to name another one.
func TestManyAccounts(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t), Handler: enforced})
	for i := range 120 {
		person(t, s, fmt.Sprintf("p-%03d", i), "", service.ClientBrowser)
	}
	r := s.Get("/settings/access").Check(200).Contains("These are 50 of them")
	if got := len(rows(r)); got != 50 {
		t.Errorf("%d rows", got)
	}
	if !strings.Contains(r.Text(), "p-049") {
		t.Error(r.Text())
	}
}

// TestUncountedSessions: the page reads the oldest sessions only, however many there are, and says that there are more.
func TestUncountedSessions(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t), Handler: enforced})
	const read = 1000
	for range read {
		person(t, s, "ada", "Ada", service.ClientBrowser)
	}
	person(t, s, "eve", "Eve", service.ClientBrowser)
	r := s.Get("/settings/access").Check(200).Contains("These are 1 of them", "There are more", "guidon token list --subject")
	// One of those that are read is that of the visitor.
	if got := rows(r); len(got) != 1 || !strings.HasPrefix(got[0], "Ada oidc:google:sub:ada 998 ") && !strings.HasPrefix(got[0], "Ada oidc:google:sub:ada 999 ") {
		t.Errorf("got the rows %q", got)
	}
}
