package flags_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

const list = "/namespaces/default/flags"

// selected returns the form of the list with the flags selected.
func selected(verb string, keys ...string) url.Values {
	return url.Values{"key": keys, "do": {verb}}
}

// flagOf returns the flag as it is stored.
func flagOf(t *testing.T, s *webtest.Server, key string) *guidon.Flag {
	t.Helper()
	view, err := s.Service.View(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := view.Flag(key)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// at returns the revision of the namespace default.
func at(t *testing.T, s *webtest.Server) int64 {
	t.Helper()
	view, err := s.Service.View(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	return view.Snapshot.Revision().Number
}

// by is the author of another person’s changes.
var by = service.Write{By: service.Caller{Actor: change.Actor{ID: "oidc:jonas", Name: "Jonas"}}}

// touch changes a flag as somebody else.
func touch(t *testing.T, s *webtest.Server, key string) {
	t.Helper()
	f := flagOf(t, s, key)
	in := guidon.Flag{Key: key, Name: f.Name, Description: "Touched", Enabled: f.Enabled, Type: f.Type, Metadata: f.Metadata}
	if _, _, err := s.Service.UpdateFlag(t.Context(), by, "default", in); err != nil {
		t.Fatal(err)
	}
}

// TestListSelects: the list has what a browser needs to select flags, and keeps its filter.
func TestListSelects(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get(list + "?q=checkout&page=1").Check(200)
	var boxes, verbs []string
	for _, n := range r.All("input") {
		if webtest.Attribute(n, "name") == "key" {
			boxes = append(boxes, webtest.Attribute(n, "value"))
		}
	}
	for _, n := range r.All("button") {
		if webtest.Attribute(n, "name") == "do" {
			verbs = append(verbs, webtest.Attribute(n, "value"))
		}
	}
	if diff := cmp.Diff(keys(r), boxes); diff != "" {
		t.Errorf("boxes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"turn-off", "turn-on", "tag", "promote", "export", "delete"}, verbs); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}
	action := ""
	for _, n := range r.All("form") {
		if webtest.Attribute(n, "method") == "post" && webtest.Attribute(n, "id") != "stars" {
			action = webtest.Attribute(n, "action")
		}
	}
	again, _ := s.Post(action, selected("turn-off", "guest-checkout")).Check(200).Form("question")
	if want := list + "?q=checkout"; action != want || again != want {
		t.Errorf("the forms lead to %s and %s, want %s", action, again, want)
	}
}

// TestTurnOffSome: flags of both types are turned off in one change, after a question.
func TestTurnOffSome(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	start := at(t, s)
	r := s.Post(list+"?q=a", selected("turn-off", "wishlist", "checkout-redesign", "wishlist")).Check(200).
		Contains("Turn off 2 flags for everyone?", "Wishlist", "checkout-redesign", "Variant flags give everyone their default variant", "Keep them as they are")
	action, form := r.Form("question")
	if diff := cmp.Diff([]string{"wishlist", "checkout-redesign"}, form["key"]); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if got := at(t, s); got != start {
		t.Errorf("the question has changed something: revision %d, want %d", got, start)
	}
	form.Set("do", "turn-off-now")
	form.Set("message", "incident 7")
	if got, want := s.Post(action, form).Location(), fmt.Sprintf("%s?q=a&saved=%d", list, start+1); got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	wishlist, redesign := flagOf(t, s, "wishlist"), flagOf(t, s, "checkout-redesign")
	if wishlist.Rollouts[0].Description != service.OffDescription || redesign.Enabled {
		t.Errorf("got %+v and %+v", wishlist.Rollouts, redesign)
	}
	s.Get(fmt.Sprintf("%s?saved=%d", list, start+1)).Check(200)
	records, _, _, err := s.Service.ListChanges(t.Context(), service.Demand{}, change.Search{Query: change.Query{Namespace: "default", Limit: 2}}, "")
	if err != nil || len(records) != 2 || records[1].Revision != start+1 || records[0].Message != "incident 7" {
		t.Errorf("got %+v, %v; want one revision with two records", records, err)
	}

	// A flag that is off already stays as it is, and is not asked about.
	form.Set("revision", fmt.Sprint(start+1))
	if got, want := s.Post(list, form).Location(), list; got != want || at(t, s) != start+1 {
		t.Errorf("again: leads to %s, want %s", got, want)
	}
	s.Post(list, selected("turn-off", "wishlist", "checkout-redesign")).Check(422).Contains("The selected flags are off already")
	s.Post(list, selected("turn-on", "guest-checkout")).Check(422).Contains("The selected flags are on already")

	// They are turned on again, with one that has never been on.
	action, form = s.Post(list, selected("turn-on", "wishlist", "checkout-redesign", "homepage-layout", "guest-checkout")).Check(200).
		Contains("Turn on 3 flags?", "get back what they were", "Keep them as they are").Form("question")
	form.Set("do", "turn-on-now")
	if got, want := s.Post(action, form).Location(), fmt.Sprintf("%s?saved=%d", list, start+2); got != want {
		t.Errorf("on leads to %s, want %s", got, want)
	}
	wishlist, redesign = flagOf(t, s, "wishlist"), flagOf(t, s, "checkout-redesign")
	if len(wishlist.Rollouts) != 0 || !redesign.Enabled || !flagOf(t, s, "homepage-layout").Enabled {
		t.Errorf("on: got %+v and %+v", wishlist.Rollouts, redesign)
	}
}

// TestTagSome adds a tag to flags, however their tags are written.
func TestTagSome(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	setMetadata(t, s, "wishlist", `{"owner":"ann","tags":["a"]}`)
	setMetadata(t, s, "maintenance-page", `{"tags":"q3, Summer"}`)
	setMetadata(t, s, "guest-checkout", `{"tags":{"odd":true}}`)
	start := at(t, s)
	action, form := s.Post(list, selected("tag", "wishlist", "maintenance-page", "homepage-layout")).Check(200).Contains("Add a tag to 3 flags").Form("question")
	form.Set("do", "tag-now")
	for _, test := range []struct{ tag, want string }{
		{"", "A tag is needed."}, {"a,b", "One tag, without commas."}, {strings.Repeat("x", 101), "100 bytes at most, this has 101."}, {"a\u202eb", "Only characters that can be seen."},
	} {
		form.Set("tag", test.tag)
		_, kept := s.Post(action, form).Check(422).Contains(test.want, "Nothing was saved").Form("question")
		if kept.Get("tag") != test.tag || len(kept["key"]) != 3 {
			t.Errorf("%q: kept %v", test.tag, kept)
		}
	}
	form.Set("tag", " summer ")
	if got, want := s.Post(action, form).Location(), fmt.Sprintf("%s?saved=%d", list, start+1); got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	for key, want := range map[string]string{"wishlist": `{"owner":"ann","tags":["a","summer"]}`, "maintenance-page": `{"tags":"q3, Summer"}`} {
		if got := string(flagOf(t, s, key).Metadata); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
	if got := string(flagOf(t, s, "homepage-layout").Metadata); !strings.HasSuffix(got, `"tags":["summer"]}`) {
		t.Errorf("homepage-layout: got %s", got)
	}
	form["key"] = append(form["key"], "guest-checkout")
	form.Set("revision", fmt.Sprint(start+1))
	s.Post(action, form).Check(422).Contains("The tags of Guest checkout are not a list of texts")
	form["key"] = []string{"wishlist"}
	if got := s.Post(action, form).Location(); got != list {
		t.Errorf("a tag that is there: leads to %s, want %s", got, list)
	}
}

func setMetadata(t *testing.T, s *webtest.Server, key, metadata string) {
	t.Helper()
	f := flagOf(t, s, key)
	in := guidon.Flag{Key: key, Name: f.Name, Description: f.Description, Enabled: f.Enabled, Type: f.Type, Metadata: []byte(metadata)}
	if _, _, err := s.Service.UpdateFlag(t.Context(), service.Write{}, "default", in); err != nil {
		t.Fatal(err)
	}
}

// TestDeleteSome deletes flags if their number is typed.
func TestDeleteSome(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	start := at(t, s)
	action, form := s.Post(list, selected("delete", "wishlist", "guest-checkout")).Check(200).Contains("Delete 2 flags?", "Type 2, the number of flags, to delete them").Form("question")
	form.Set("do", "delete-now")
	for _, typed := range []string{"", "3", "default"} {
		form.Set("confirm", typed)
		s.Post(action, form).Check(422).Contains("Type the number of flags: 2.")
	}
	form.Set("confirm", "2")
	if got, want := s.Post(action, form).Location(), fmt.Sprintf("%s?saved=%d", list, start+1); got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	rows := keys(s.Get(list + "?saved=" + fmt.Sprint(start+1)).Check(200))
	if len(rows) != 24 {
		t.Errorf("got %d rows, want 24", len(rows))
	}
	s.Post(action, form).Check(422).Contains("The selected flags no longer exist")
}

// TestConfirmChanges: a namespace that asks before changes takes its key, typed.
func TestConfirmChanges(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	if _, _, err := s.Service.UpdateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "warehouse", Name: "Warehouse", ConfirmChanges: new(true)}); err != nil {
		t.Fatal(err)
	}
	const list = "/namespaces/warehouse/flags"
	key := keys(s.Get(list).Check(200))[0]
	for _, verb := range []string{"turn-off", "delete"} {
		action, form := s.Post(list, selected(verb, key)).Check(200).Contains("Type warehouse to change this namespace").Form("question")
		form.Set("do", verb+"-now")
		form.Set("confirm", "1")
		s.Post(action, form).Check(422).Contains("Type the key of the namespace: warehouse.")
		form.Set("confirm", "warehouse")
		s.Post(action, form).Location()
	}
}

// TestExportSome and promoting lead to the pages that do it, with the flags.
func TestExportSome(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	if got, want := s.Post(list, selected("export", "wishlist", "guest-checkout")).Location(), "/namespaces/default/export?download=yaml&flag=wishlist&flag=guest-checkout"; got != want {
		t.Errorf("export leads to %s, want %s", got, want)
	}
	action, form := s.Post(list, selected("promote", "wishlist", "guest-checkout")).Check(200).Contains("Promote 2 flags", "Warehouse").Form("question")
	form.Set("do", "promote-now")
	if got, want := s.Post(action, form).Location(), "/namespaces/warehouse/compare?flag=wishlist&flag=guest-checkout&from=default"; got != want {
		t.Errorf("promote leads to %s, want %s", got, want)
	}
	for _, to := range []string{"default", "none", ""} {
		form.Set("to", to)
		s.Post(action, form).Check(422).Contains("Choose a namespace.")
	}
	one := s.As(s.SignIn(service.TokenInput{Name: "one", Role: service.RoleEditor, Namespaces: []string{"default"}}))
	one.Post(list, selected("promote", "wishlist")).Check(200).Contains("There is no other namespace whose flags you may change.").Lacks("Compare")
	one.Post(list, url.Values{"key": {"wishlist"}, "do": {"promote-now"}, "to": {"warehouse"}}).Check(422)
}

// TestSelectionConflict: what somebody else has changed since is not overwritten. The page
// says what, and keeps the selection and what was entered.
func TestSelectionConflict(t *testing.T) {
	for _, verb := range []string{"turn-off", "tag", "delete"} {
		for _, test := range []struct {
			name             string
			changed, deleted bool
		}{{"changed", true, false}, {"deleted", false, true}, {"both", true, true}} {
			t.Run(verb+" "+test.name, func(t *testing.T) { testConflict(t, verb, test.changed, test.deleted) })
		}
	}
}

func testConflict(t *testing.T, verb string, changed, deleted bool) {
	s := webtest.New(t, webtest.Options{})
	action, form := s.Post(list, selected(verb, "wishlist", "guest-checkout", "checkout-redesign")).Check(200).Form("question")
	left, want := []string{"wishlist", "guest-checkout", "checkout-redesign"}, []string{"Nothing was saved"}
	if changed {
		touch(t, s, "guest-checkout")
		want = append(want, fmt.Sprintf("Guest checkout was changed by Jonas just now in revision %d", at(t, s)))
	}
	if deleted {
		if _, err := s.Service.DeleteFlag(t.Context(), by, "default", "checkout-redesign"); err != nil {
			t.Fatal(err)
		}
		left = left[:2]
		want = append(want, fmt.Sprintf("checkout-redesign was deleted by Jonas just now in revision %d", at(t, s)))
	}
	now := at(t, s)
	form.Set("do", verb+"-now")
	form.Set("confirm", fmt.Sprint(len(left))) // of those that are left, so that only the conflict counts
	form.Set("tag", "summer")
	form.Set("message", "because")
	_, again := s.Post(action, form).Check(409).Contains(want...).Contains(fmt.Sprintf("%d of the selected flags changed in the meantime", len(want)-1)).Form("question")
	if got := at(t, s); got != now {
		t.Fatalf("something was saved: revision %d, want %d", got, now)
	}
	if diff := cmp.Diff(left, again["key"]); diff != "" || again.Get("message") != "because" || verb == "tag" && again.Get("tag") != "summer" {
		t.Errorf("kept %v (-want +got):\n%s", again, diff)
	}
	again.Set("do", verb+"-now")
	again.Set("confirm", fmt.Sprint(len(left)))
	if got, want := s.Post(action, again).Location(), fmt.Sprintf("%s?saved=%d", list, now+1); got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
}

// TestSelectionProblems: what cannot be done is refused, and changes nothing.
func TestSelectionProblems(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	start := at(t, s)
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprint("flag-", i))
	}
	for _, test := range []struct {
		name   string
		form   url.Values
		status int
		want   string
	}{
		{"nothing", selected("turn-off"), 422, "No flags are selected"},
		{"empty", selected("delete", "", ""), 422, "No flags are selected"},
		{"too many", selected("delete", many...), 422, "100 flags at most can be changed together, 101 are selected."},
		{"gone", selected("turn-off", "none"), 422, "The selected flags no longer exist"},
		{"no act", selected("", "wishlist"), 400, "invalid field do"},
		{"unknown act", selected("explode", "wishlist"), 400, "invalid field do"},
		{"no revision", selected("turn-off-now", "wishlist"), 400, "invalid field revision"},
		{"bad revision", url.Values{"key": {"wishlist"}, "do": {"turn-off-now"}, "revision": {"-1"}}, 400, "invalid field revision"},
		{"revision to come", url.Values{"key": {"wishlist"}, "do": {"turn-off-now"}, "revision": {"99"}}, 409, "The namespace has changed in the meantime."},
		{"message", url.Values{"key": {"wishlist"}, "do": {"turn-off-now"}, "revision": {fmt.Sprint(start)}, "message": {"a\x01b"}}, 422, "Message must not contain line breaks"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.Post(list, test.form).Check(test.status).Contains(test.want)
		})
	}
	viewer := s.As(s.SignIn(service.TokenInput{Name: "guest", Role: service.RoleViewer}))
	for _, verb := range []string{"turn-off", "tag-now", "delete-now"} {
		form := selected(verb, "wishlist")
		form.Set("revision", fmt.Sprint(start))
		form.Set("confirm", "1")
		form.Set("tag", "x")
		viewer.Post(list, form).Check(403)
		webtest.New(t, webtest.Options{ReadOnly: true}).Post(list, form).Check(403).Contains("This server is read-only")
	}
	if got := at(t, s); got != start {
		t.Errorf("got revision %d, want %d", got, start)
	}
}
