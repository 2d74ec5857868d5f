package settings_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// create creates a namespace.
func create(t *testing.T, s *webtest.Server, in service.NamespaceInput) {
	t.Helper()
	if _, _, err := s.Service.CreateNamespace(t.Context(), service.Write{}, in); err != nil {
		t.Fatal(err)
	}
}

// namespace returns a namespace.
func namespace(t *testing.T, s *webtest.Server, key string) (*guidon.Namespace, error) {
	t.Helper()
	v, err := s.Service.View(t.Context(), key, service.Demand{Fresh: true})
	if err != nil {
		return nil, err
	}
	return v.Snapshot.Namespace(), nil
}

// dots returns the classes of the dots with colors in an element.
func dots(n *html.Node) (classes []string) {
	for n := range n.Descendants() {
		if class := webtest.Attribute(n, "class"); n.Type == html.ElementNode && strings.HasPrefix(class, "dot") {
			classes = append(classes, class)
		}
	}
	return classes
}

// TestNamespaces: visitors see the namespaces that they may view, with what they may do
// there.
func TestNamespaces(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	violet, yes := guidon.Violet, true
	create(t, s, service.NamespaceInput{Key: "staging", Name: "Staging", Description: "What comes next", Color: &violet, ConfirmChanges: &yes})
	create(t, s, service.NamespaceInput{Key: "other", Name: "Other"})
	r := s.Get("/settings/namespaces").Check(200)
	got := rows(r)
	want := []string{"Default Protected Default namespace default Admin Settings", "Staging Asks first What comes next staging Admin Settings", "Other other Admin Settings"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got := dots(r.All("tbody")[0]); !cmp.Equal(got, []string{"dot", "dot violet", "dot"}) {
		t.Errorf("dots %v", got)
	}
	if got := dots(r.All("header")[0]); !cmp.Equal(got, []string{"dot", "dot", "dot violet", "dot"}) {
		t.Errorf("dots of the menu %v", got)
	}
	viewer := s.As(s.SignIn(service.TokenInput{Name: "viewer", Role: service.RoleViewer, Namespaces: []string{"staging"}}))
	r = viewer.Get("/settings/namespaces").Check(200).Lacks("New namespace")
	if diff := cmp.Diff([]string{"Staging Asks first What comes next staging View Settings"}, rows(r)); diff != "" {
		t.Errorf("rows of a viewer (-want +got):\n%s", diff)
	}
}

// TestBand: the pages of a namespace with a color have it above them.
func TestBand(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	teal := guidon.Teal
	create(t, s, service.NamespaceInput{Key: "warehouse", Name: "Warehouse", Color: &teal})
	bands := func(path string) (classes []string) {
		for _, n := range s.Get(path).Check(200).All("div") {
			if class := webtest.Attribute(n, "class"); strings.HasPrefix(class, "band-line") {
				classes = append(classes, class)
			}
		}
		return classes
	}
	if got := bands("/namespaces/warehouse/settings"); !cmp.Equal(got, []string{"band-line teal"}) {
		t.Errorf("got %v", got)
	}
	for _, path := range []string{"/namespaces/default/settings", "/settings/profile"} {
		if got := bands(path); len(got) > 0 {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

// TestNewNamespace: a namespace is created as the form says.
func TestNewNamespace(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	_, fields := s.Get("/settings/new-namespace").Check(200).Form("")
	sent := with(fields, "name", " Pay EU ", "key", "pay-eu", "description", "Payments", "color", "amber", "confirm", "yes", "do", "save")
	if got := s.Post("/settings/new-namespace", sent).Location(); got != "/namespaces/pay-eu/flags" {
		t.Errorf("leads to %s", got)
	}
	n, err := namespace(t, s, "pay-eu")
	if err != nil {
		t.Fatal(err)
	}
	if n.Name != "Pay EU" || n.Description != "Payments" || n.Color != guidon.Amber || !n.ConfirmChanges {
		t.Errorf("got %+v", n)
	}
	for _, test := range []struct {
		changes []string
		want    string
		suggest string
	}{
		{[]string{"name", "", "key", "new"}, "A name is needed.", ""},
		{[]string{"key", "", "name", "日本"}, "A key is needed.", ""},
		{[]string{"key", "Check out!"}, "Letters, digits, - and _ only.", "check-out"},
		{[]string{"key", "ä"}, "Letters, digits, - and _ only.", "ae"},
		{[]string{"key", "?"}, "Letters, digits, - and _ only.", ""},
		{[]string{"key", strings.Repeat("k", 256)}, "255 characters at most, this has 256.", ""},
		{[]string{"key", "pay-eu"}, "The namespace “Pay EU” has this key. Take another one.", ""},
		{[]string{"key", "new", "color", "mauve"}, "Choose one of the colors.", ""},
		{[]string{"key", "new", "description", strings.Repeat("x", 10_001)}, "10,000 characters at most, this has 10,001.", ""},
	} {
		wrong := with(sent, test.changes...)
		r := s.Post("/settings/new-namespace", wrong).Check(422).Contains("1 thing to fix", test.want, "Nothing was saved").CheckEnter("", "save")
		_, again := r.Form("")
		for _, name := range []string{"name", "key", "description", "confirm"} {
			if again.Get(name) != strings.TrimSpace(wrong.Get(name)) {
				t.Errorf("%.40v: %s is %q", test.changes, name, again.Get(name))
			}
		}
		if suggested := strings.Contains(r.Text(), "Did you mean"); suggested != (test.suggest != "") || suggested && !strings.Contains(r.Text(), "Did you mean "+test.suggest) {
			t.Errorf("%.40v: %s", test.changes, r.Text())
		}
	}
	if got, want := s.Post("/settings/new-namespace", with(sent, "key", "", "name", "Pay in Österreich")).Location(), "/namespaces/pay-in-oesterreich/flags"; got != want {
		t.Errorf("without a key: leads to %s, want %s", got, want)
	}
	taken := s.Post("/settings/new-namespace", with(sent, "key", "Check out!", "do", "key:check-out")).Check(200)
	if got := value(taken, "key"); got != "check-out" {
		t.Errorf("the key is %q", got)
	}
	if _, err := namespace(t, s, "check-out"); !errors.Is(err, guidon.NotFound) {
		t.Errorf("it was created: %v", err)
	}
}

// TestKeyOfOthers: the key of a namespace that the visitor may not see is taken, too.
func TestKeyOfOthers(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	create(t, s, service.NamespaceInput{Key: "pay-hidden", Name: "Hidden"})
	admin := s.As(s.SignIn(service.TokenInput{Name: "pay", Role: service.RoleAdmin, Namespaces: []string{"pay-*"}}))
	create(t, s, service.NamespaceInput{Key: "secret", Name: "Secret"})
	form := url.Values{"name": {"X"}, "key": {"pay-hidden"}}
	admin.Post("/settings/new-namespace", form).Check(422).Contains("has this key. Take another one.")
	admin.Post("/settings/new-namespace", with(form, "key", "secret")).Check(403).Lacks("Secret")
	admin.Post("/settings/new-namespace", with(form, "key", "pay-new")).Location()
}

// TestNamespaceSettings: an administrator of the namespace changes its settings, unless
// somebody else has since the form was shown.
func TestNamespaceSettings(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	create(t, s, service.NamespaceInput{Key: "staging", Name: "Staging"})
	const path = "/namespaces/staging/settings"
	action, fields := s.Get(path).Check(200).Contains("Settings of Staging").Form("")
	// A change of something else in the namespace does not matter.
	if _, _, err := s.Service.CreateFlag(t.Context(), service.Write{}, "staging", guidon.Flag{Key: "a", Name: "A"}); err != nil {
		t.Fatal(err)
	}
	r := s.Post(action, with(fields, "name", "Stage", "color", "pink", "confirm", "yes", "description", "d"))
	if got := r.Location(); got != path+"?saved=1" {
		t.Errorf("leads to %s", got)
	}
	s.Get(path+"?saved=1").Check(200).Contains("Saved.", "Settings of Stage")
	n, err := namespace(t, s, "staging")
	if err != nil || n.Name != "Stage" || n.Color != guidon.Pink || !n.ConfirmChanges || n.Description != "d" {
		t.Errorf("got %+v, %v", n, err)
	}
	// The form that was shown before is in conflict now.
	r = s.Post(action, with(fields, "name", "Mine", "description", "my text")).Check(409).Contains("Somebody else has changed these settings", "Stored now", "Stage", "pink")
	_, kept := r.Form("")
	if kept.Get("name") != "Mine" || kept.Get("description") != "my text" {
		t.Errorf("the form has %v", kept)
	}
	if n, _ := namespace(t, s, "staging"); n.Name != "Stage" {
		t.Errorf("it was saved as %s", n.Name)
	}
	s.Post(action, kept).Location() // after a look at theirs
	if n, _ := namespace(t, s, "staging"); n.Name != "Mine" || n.Color != "" || n.ConfirmChanges {
		t.Errorf("got %+v", n)
	}
	_, fields = s.Get(path).Form("")
	s.Post(action, with(fields, "name", " ", "description", "kept")).Check(422).Contains("A name is needed.", "kept")
	s.Post(action, with(fields, "base", "x")).Check(409)
}

// TestNamespaceViewOnly: who may not change the settings sees them without controls.
func TestNamespaceViewOnly(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	red := guidon.Red
	create(t, s, service.NamespaceInput{Key: "staging", Name: "Staging", Description: "Next", Color: &red})
	editor := s.As(s.SignIn(service.TokenInput{Name: "editor", Role: service.RoleEditor}))
	readOnly := webtest.New(t, webtest.Options{Empty: true, ReadOnly: true})
	form := url.Values{"name": {"X"}, "key": {"staging"}, "do": {"confirm"}}
	r := editor.Get("/namespaces/staging/settings").Check(200).Contains("View only: needs Admin", "Description Next", "Color red", "Ask before changes No")
	if got := buttons(r); !cmp.Equal(got, []string{"staging"}) {
		t.Errorf("controls of an editor: %v", got)
	}
	editor.Get("/settings/new-namespace").Check(403).Contains("This takes Admin")
	editor.Post("/settings/new-namespace", form).Check(403)
	editor.Get("/namespaces/staging/delete").Check(403).Contains("This takes Admin in Staging", "You have Edit")
	editor.Post("/namespaces/staging/delete", form).Check(403)
	editor.Post("/namespaces/staging/settings", form).Check(403).Contains("This takes Admin in Staging")

	r = readOnly.Get("/namespaces/default/settings").Check(200).Contains("View only")
	if got := buttons(r); !cmp.Equal(got, []string{"default", "Webhooks"}) {
		t.Errorf("controls of a read-only server: %v", got)
	}
	readOnly.Get("/settings/namespaces").Check(200).Lacks("New namespace")
	for _, path := range []string{"/settings/new-namespace", "/namespaces/default/delete"} {
		readOnly.Get(path).Check(403).Contains("This server is read-only")
	}
	for _, path := range []string{"/settings/new-namespace", "/namespaces/default/delete", "/namespaces/default/settings"} {
		readOnly.Post(path, form).Check(403).Contains("This server is read-only")
	}
	stranger := s.As(s.SignIn(service.TokenInput{Name: "stranger", Role: service.RoleViewer, Namespaces: []string{"default"}}))
	stranger.Get("/namespaces/staging/settings").Check(403)
	s.Get("/namespaces/none/settings").Check(404)
}

// TestDeleteNamespace: the key must be typed. The default and protected ones stay.
func TestDeleteNamespace(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	create(t, s, service.NamespaceInput{Key: "staging", Name: "Staging"})
	for _, key := range []string{"a", "b"} {
		if _, _, err := s.Service.CreateFlag(t.Context(), service.Write{}, "staging", guidon.Flag{Key: key, Name: key}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Service.CreateSegment(t.Context(), service.Write{}, "staging", guidon.Segment{Key: "s", Name: "S"}); err != nil {
		t.Fatal(err)
	}
	const path = "/namespaces/staging/delete"
	r := s.Get(path).Check(200).Contains("Delete the namespace “Staging”?", "2 flags and 1 segment .", "This cannot be undone")
	if got := buttons(r); !cmp.Equal(got, []string{"Keep namespace", "Delete namespace"}) {
		t.Errorf("buttons %v", got)
	}
	action, fields := r.Form("")
	for _, typed := range []string{"", "Staging", "STAGING", "staging ", "default"} {
		r := s.Post(action, with(fields, "key", typed)).Check(422).Contains("This is not the key")
		if got := value(r, "key"); got != typed {
			t.Errorf("the field has %q, want %q", got, typed)
		}
	}
	r = s.Post(action, with(fields, "key", "staging"), "Cookie", "guidon_preferences=namespace=staging")
	if got := r.Location(); got != "/settings/namespaces?deleted=1" {
		t.Errorf("leads to %s", got)
	}
	if got := cookie(r, "guidon_preferences"); strings.Contains(got, "staging") {
		t.Errorf("the browser remembers %s", got)
	}
	s.Get("/settings/namespaces?deleted=1").Check(200).Contains("The namespace was deleted.").Lacks("staging")
	s.Get(path).Check(404)
	s.Get("/namespaces/default/settings").Check(200).Contains("The namespace default cannot be deleted here").Lacks("Delete namespace …")
	s.Get("/namespaces/default/delete").Check(200).Contains("Default cannot be deleted")
	s.Post("/namespaces/default/delete", url.Values{"key": {"default"}}).Check(422)
	if _, err := namespace(t, s, "default"); err != nil {
		t.Error(err)
	}
}

// addresses returns where all links of the page lead, those of the frame included.
func addresses(r *webtest.Reply) (addresses []string) {
	for _, n := range r.All("a") {
		addresses = append(addresses, webtest.Attribute(n, "href"))
	}
	return addresses
}

// TestMenuElsewhere: the menu of namespaces links to the same place in another one, and to
// the object with the same key if that exists there.
func TestMenuElsewhere(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	create(t, s, service.NamespaceInput{Key: "staging", Name: "Staging"})
	s.Import("other", []byte("namespace: {key: other, name: Other}\nflags:\n- {key: one-click-buy, name: O, type: BOOLEAN_FLAG_TYPE}\nsegments:\n- {key: staff, name: S, match_type: ANY_MATCH_TYPE}\n"))
	for _, test := range []struct{ from, link, to string }{
		{"/namespaces/default/changes", "/namespaces/other/changes", ""},
		{"/namespaces/default/compare", "/namespaces/other/compare", ""},
		{"/namespaces/default/new-flag", "/namespaces/other/flags", ""},
		{"/settings/profile", "/namespaces/other/flags", ""},
		{"/namespaces/default/flags/one-click-buy/history", "/namespaces/other/flags?open=one-click-buy", "/namespaces/other/flags/one-click-buy"},
		{"/namespaces/default/flags/dark-mode", "/namespaces/other/flags?open=dark-mode", "/namespaces/other/flags"},
		{"/namespaces/default/segments/staff", "/namespaces/other/segments?open=staff", "/namespaces/other/segments/staff"},
		{"/namespaces/default/segments/germany", "/namespaces/other/segments?open=germany", "/namespaces/other/segments"},
	} {
		if links := addresses(s.Get(test.from).Check(200)); !slices.Contains(links, test.link) {
			t.Errorf("%s has no link to %s: %q", test.from, test.link, links)
		}
		if test.to == "" {
			continue
		}
		if got := s.Get(test.link).Location(); got != test.to {
			t.Errorf("%s leads to %s, want %s", test.link, got, test.to)
		}
	}
}

// TestMenuFilter: with many namespaces, the menu has a filter, which finds also those that
// the menu leaves out.
func TestMenuFilter(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	s.Get("/settings/namespaces").Check(200).Lacks("Filter")
	for i := range 60 {
		create(t, s, service.NamespaceInput{Key: fmt.Sprintf("team-%02d", i), Name: fmt.Sprintf("Team %02d", i)})
	}
	r := s.Get("/settings/namespaces?q=TEAM+5").Check(200).Contains("Team 59")
	if got := len(rows(r)); got != 10 {
		t.Errorf("%d namespaces match, want 10", got)
	}
	s.Get("/settings/namespaces?q=nope").Check(200).Contains("No namespace matches “nope”")
	r = s.Get("/settings/namespaces?q=team-59&place=flags&open=a", "Guidon-Fragment", page.RegionNamespaces).Check(200)
	if got, want := addresses(r), []string{"/namespaces/team-59/flags?open=a"}; !cmp.Equal(got, want) {
		t.Errorf("links of the menu %q, want %q", got, want)
	}
	s.Get("/settings/namespaces?q=nope", "Guidon-Fragment", page.RegionNamespaces).Check(200).Contains("No namespace matches.")
}
