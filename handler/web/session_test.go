package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
)

// having returns the elements with the attribute.
func having(r *webtest.Reply, name string) (found []*html.Node) {
	for _, n := range r.All("") {
		if webtest.Has(n, name) {
			found = append(found, n)
		}
	}
	return found
}

// lasting returns a server whose sessions last as long.
func lasting(t *testing.T, lifetime time.Duration) *webtest.Server {
	t.Helper()
	return webtest.New(t, webtest.Options{
		Page:    func(c *page.Config) { c.Session.Lifetime = lifetime },
		Handler: func(c *handler.Config) { c.Session.Lifetime = lifetime },
	})
}

// TestEndingSession: every page says that the session ends within ten minutes, and how to go
// on. Other pages know when it ends.
func TestEndingSession(t *testing.T) {
	soon, later := lasting(t, 9*time.Minute), lasting(t, 11*time.Minute)
	for _, path := range []string{"/namespaces/default/flags", "/namespaces/default/flags/dark-mode?edit=2", "/settings/profile", "/namespaces/default/flags/none"} {
		r := soon.Get(path)
		notes := having(r, "data-ending")
		if len(notes) != 1 || !strings.HasPrefix(webtest.TextOf(notes[0]), "Your session ends in 8 min. Sign in again in another tab") {
			t.Fatalf("%s: %d notes: %s", path, len(notes), r.Text())
		}
		if webtest.Attribute(notes[0], "role") != "status" || len(having(r, "data-session-ends")) > 0 {
			t.Errorf("%s: got %s", path, r.Body)
		}
		for n := range notes[0].Descendants() {
			if n.Data == "a" {
				soon.Get(webtest.Attribute(n, "href")).Check(http.StatusOK).Contains("Sign in to Guidon", "Token")
			}
		}
		if r := later.Get(path); len(having(r, "data-ending")) > 0 || len(having(r, "data-session-ends")) != 1 {
			t.Errorf("%s: a session that ends later: %s", path, r.Text())
		}
	}
	open := webtest.New(t, webtest.Options{Open: true}).Get("/settings/profile")
	if len(having(open, "data-ending"))+len(having(open, "data-session-ends"))+len(having(open, "data-account")) > 0 {
		t.Errorf("without sign-in: %s", open.Body)
	}
}

// TestEndedSession: a form that was sent after the session has ended is kept, to be sent
// again by the same fields. Nothing was done.
func TestEndedSession(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	form := url.Values{"type": {"boolean"}, "name": {"Gift <b>\"cards'"}, "key": {"gift-cards"}, "description": {"a\nb\n"}, "many": {"2", "1"}, "empty": {""}, "do": {"save"}}
	const path = "/namespaces/default/new-flag?type=boolean"
	r := s.As("").Post(path, form).Check(http.StatusUnauthorized).Contains("Your session has ended")
	action, kept := r.Form("")
	for _, b := range having(r, "name") { // what was pressed is the button that sends it again
		if b.Data == "button" && webtest.Attribute(b, "name") == "do" {
			kept.Add("do", webtest.Attribute(b, "value"))
		}
	}
	if action != path || kept.Encode() != form.Encode() {
		t.Errorf("the form for %s has %v, want that for %s with %v", action, kept, path, form)
	}
	if got, want := r.Links()[0], "/sign-in?return_to=%2Fsign-in%3Fback%3Dyes"; got != want {
		t.Errorf("the link leads to %s, want %s", got, want)
	}
	s.Get("/namespaces/default/flags/gift-cards").Check(http.StatusNotFound)
	s.Post(action, kept).Location()
	s.Get("/namespaces/default/flags/gift-cards").Check(http.StatusOK)

	s.Get("/sign-in?back=yes").Check(http.StatusOK).Contains("You are signed in", "You can close this tab")
	s.Get("/sign-in").Check(http.StatusOK).Contains("You are signed in").Lacks("You can close this tab")
}

// TestSendAgainBelowPath: behind a proxy that serves the pages below a path, a form is sent again
// below that path, and so is the page that people look at first.
func TestSendAgainBelowPath(t *testing.T) {
	away := false
	s := webtest.New(t, webtest.Options{
		Page: func(c *page.Config) { c.PublicPath = "/below" },
		Fault: func() error {
			if away {
				return guidon.Errorf(guidon.Unavailable, "the database is away")
			}
			return nil
		},
	})
	const path = "/namespaces/default/new-flag?type=boolean"
	form := url.Values{"type": {"boolean"}, "name": {"Gift cards"}, "key": {"gift-cards"}, "do": {"save"}}
	ended := s.As("").Post(path, form).Check(http.StatusUnauthorized)
	away = true
	unknown := s.Post(path, form).Check(http.StatusServiceUnavailable)
	for _, r := range []*webtest.Reply{ended, unknown} {
		if action, _ := r.Form(""); action != "/below"+path {
			t.Errorf("%d: the form is sent to %s, want %s", r.Status, action, "/below"+path)
		}
		if links := r.Links(); len(links) == 0 || !strings.HasPrefix(links[0], "/below/") {
			t.Errorf("%d: the links are %v, want the first below the path", r.Status, links)
		}
	}
}
