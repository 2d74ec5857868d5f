package settings_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// ends returns the values of the buttons that end a session.
func ends(r *webtest.Reply) (values []string) {
	for _, n := range r.All("button") {
		if v := webtest.Attribute(n, "value"); strings.HasPrefix(v, "end:") {
			values = append(values, v)
		}
	}
	return values
}

// rows returns the texts of the rows of the page's tables.
func rows(r *webtest.Reply) (texts []string) {
	for _, body := range r.All("tbody") {
		for n := range body.ChildNodes() {
			if n.Type == html.ElementNode {
				texts = append(texts, webtest.TextOf(n))
			}
		}
	}
	return texts
}

// TestSessions: visitors see their own sessions, and can end one, or all others.
func TestSessions(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t)})
	first := person(t, s, "ada", "Ada", service.ClientBrowser)
	cli := person(t, s, "ada", "Ada", service.ClientCLI)
	own := person(t, s, "ada", "Ada", service.ClientBrowser)
	eve := person(t, s, "eve", "Eve", service.ClientBrowser)

	r := s.As(own).Get("/settings/sessions").Check(200)
	want := []string{
		"Browser This session just now in 59 min Sign out", "Command line just now in 59 min End session", "Browser just now in 59 min End session",
	}
	if diff := cmp.Diff(want, rows(r)); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	names := make(map[string]bool)
	for _, n := range r.All("button") {
		if name := webtest.Attribute(n, "aria-label"); strings.HasPrefix(name, "End session: ") {
			names[name] = true
		}
	}
	if len(names) != 2 {
		t.Errorf("the buttons that end a session are called %v, want two names", names)
	}
	all := ends(r)
	if got := s.As(own).Post("/settings/sessions", url.Values{"do": {all[0]}}).Location(); got != "/settings/sessions?ended=1" {
		t.Errorf("leads to %s", got)
	}
	if got := s.As(cli).Get("/settings/profile").Status; got != 303 {
		t.Errorf("the command line still gets %d", got)
	}
	if got := len(rows(s.As(own).Get("/settings/sessions?ended=1").Check(200).Contains("Ended."))); got != 2 {
		t.Errorf("%d sessions, want 2", got)
	}
	// Twice is no error. Those of others cannot be ended.
	s.As(own).Post("/settings/sessions", url.Values{"do": {all[0]}}).Location()
	s.As(eve).Post("/settings/sessions", url.Values{"do": {all[1]}}).Location()
	s.As(first).Get("/settings/sessions").Check(200)

	s.As(own).Post("/settings/sessions", url.Values{"do": {"end-others"}}).Location()
	if got := s.As(first).Get("/settings/sessions").Status; got != 303 {
		t.Errorf("the other session still gets %d", got)
	}
	only := s.As(own).Get("/settings/sessions").Check(200).Lacks("End all other sessions")
	if got := len(rows(only)); got != 1 {
		t.Errorf("%d sessions, want 1", got)
	}
	s.As(eve).Get("/settings/sessions").Check(200)
	s.As(own).Post("/settings/sessions", url.Values{"do": {"elsewhere"}}).Check(400).Contains("the form does not say which session to end")

	open := webtest.New(t, webtest.Options{Open: true})
	open.Get("/settings/sessions").Check(200).Contains("There are no sessions")
	open.Post("/settings/sessions", url.Values{"do": {"end-others"}}).Check(400)
}

// TestManySessions: a page has 200 of them, the newest.
func TestManySessions(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t)})
	for range 203 {
		person(t, s, "ada", "Ada", service.ClientBrowser)
	}
	own := person(t, s, "ada", "Ada", service.ClientBrowser)
	r := s.As(own).Get("/settings/sessions").Check(200).Contains("There are 4 older ones")
	if got := len(rows(r)); got != 200 {
		t.Errorf("%d rows", got)
	}
}
