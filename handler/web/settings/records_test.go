package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestRecords: administrators see who created and deleted tokens, signed in and gave roles.
func TestRecords(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t), Handler: enforced})
	ctx, by := t.Context(), service.Caller{Actor: change.Actor{ID: "cli:ada"}, Address: "192.0.2.1"}
	write := service.Write{By: by, Message: "for <b>checkout"}
	_, a, err := s.Service.CreateToken(ctx, write, service.TokenInput{Name: "shop", Role: service.RoleEditor, Namespaces: []string{"default", "pay-*"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Service.CreateToken(ctx, write, service.TokenInput{Name: "plain"}); err != nil {
		t.Fatal(err)
	}
	person(t, s, "ada", "Ada", service.ClientCLI)
	if err := s.Service.DeleteAuthentication(ctx, service.Write{By: service.Caller{Actor: by.Actor}}, a.ID); err != nil {
		t.Fatal(err)
	}
	b, err := s.Service.CreateBinding(ctx, write, service.RoleEditor, "oidc:google:email:ada@example.com", []string{"default"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Service.DeleteBinding(ctx, write, b.ID); err != nil {
		t.Fatal(err)
	}
	r := s.Get("/settings/records").Check(200)
	want := []string{
		"Token shop deleted ada (command line) just now",
		"Signed in with the provider google on the command line Ada just now",
		"Token plain created: the role of tokens without one everywhere for <b>checkout ada (command line) 192.0.2.1 just now",
		"Token shop created: Edit in default, pay-* for <b>checkout ada (command line) 192.0.2.1 just now",
	}
	if diff := cmp.Diff(want, rows(r)[:len(want)]); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	want = []string{
		"E-mail ada@example.com (google) lost Edit in default for <b>checkout ada (command line) 192.0.2.1 just now",
		"E-mail ada@example.com (google) was given Edit in default for <b>checkout ada (command line) 192.0.2.1 just now",
	}
	if diff := cmp.Diff(want, rows(s.Get("/settings/records?kind=binding").Check(200))); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	s.Get("/settings/records?page=x").Check(400)
}

// TestRecordPages: each record is on one page.
func TestRecordPages(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for range 60 {
		if _, _, err := s.Service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	seen, address := 0, "/settings/records"
	for range 3 {
		r := s.Get(address).Check(200)
		seen += len(rows(r))
		address = ""
		for _, link := range r.Links() {
			if strings.Contains(link, "page=") {
				address = link
			}
		}
		if address == "" {
			break
		}
	}
	if address != "" || seen < 60 {
		t.Errorf("%d records, and another page at %q", seen, address)
	}
}
