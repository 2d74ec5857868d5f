package settings_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestServer: everybody sees what the server is, and administrators how it is configured,
// without addresses and secrets.
func TestServer(t *testing.T) {
	configured := func(c *handler.Config) {
		c.Info = diagnostics.Info{Version: "1.2.3", Commit: "abc123", BuildDate: "2026-11-22"}
		c.Configuration = func() json.RawMessage {
			return json.RawMessage(`{"db":{"url":"postgres://user:pw-secret@db-secret.example/flags"},"cache":{"mode":"bounded"},` +
				`"changes":{"retention":7776000000000000},"authorization":{"required":true}}`)
		}
	}
	s := webtest.New(t, webtest.Options{Handler: configured, Page: func(c *page.Config) { c.Streams = true }})
	r := s.Get("/settings/server").Check(200).Contains(
		"Version 1.2.3", "Commit abc123", "Built 2026-11-22", "Address http://flags.test", "Authentication required", "Changes allowed", "Live updates on",
		"Revision of Default", "Database PostgreSQL", "Cache bounded:", "Roles enforced", "Changes are kept for 90 days",
	).Lacks("secret", "Administrators")
	if strings.Contains(r.Body, "secret") {
		t.Error("the page has a secret")
	}
	viewer := s.As(s.SignIn(service.TokenInput{Name: "viewer", Role: service.RoleViewer}))
	viewer.Get("/settings/server").Check(200).Contains("Version 1.2.3", "Administrators of everything see more here").Lacks("Database", "Cache", "Roles")
	other := webtest.New(t, webtest.Options{Open: true, ReadOnly: true, Page: func(c *page.Config) { c.PublicURL = "https://flags.example/base/" }})
	other.Get("/settings/server", "X-Forwarded-Proto", "http").Check(200).Contains("Roles not enforced",
		"Address https://flags.example/base Authentication off", "Changes refused", "Live updates off", "Changes are kept for ever")
}

// TestShortcuts: the list has the keys, and says if single letters are switched off.
func TestShortcuts(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get("/shortcuts").Check(200).Contains("⌘K Search or jump to", "g then f Flags", "? This list").Lacks("Single letters are switched off")
	if diff := cmp.Diff([]string{"/settings/profile", "/settings/profile"}, r.Links()); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	s.Get("/shortcuts", "Cookie", "guidon_preferences=keys=off").Check(200).Contains("Single letters are switched off")
}
