package flag_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/examples"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestTurnOff: a boolean flag is turned off for everyone after a question, and on again
// without a difference.
func TestTurnOff(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	before := body(t, content(t, s, "one-click-buy"))
	ask := s.Get(flags+"one-click-buy/turn-off").Check(200).Contains("Turn off “One-click buy” for everyone?", "adds a first rule that gives Off to everyone", "Everyone gets Off.")
	if got, want := press(t, s, ask, "turn-off").Location(), flags+"one-click-buy?saved=3"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	s.Get(flags+"one-click-buy").Check(200).Contains("One-click buy Off", "Turn on", "Off for everyone", "Never reached: rule 1 takes everybody who would get here.")
	press(t, s, ask, "turn-off").Check(409).Contains("It was turned on or off in the meantime.")
	on := s.Get(flags+"one-click-buy/turn-off").Check(200).Contains("Turn on “One-click buy”?", "removes the rule")
	press(t, s, on, "turn-on", "message", "fixed").Location()
	if diff := cmp.Diff(before, body(t, content(t, s, "one-click-buy"))); diff != "" {
		t.Errorf("turned off and on (-want +got):\n%s", diff)
	}
	press(t, s, ask, "turn-off").Check(409).Contains("changed this flag in the meantime")
}

// TestSwitch: a variant flag has a switch.
func TestSwitch(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get(flags + "checkout-redesign").Check(200)
	action, form := formWithButton(t, r, "turn-off")
	form.Set("do", "turn-off")
	s.Post(action, form).Location()
	if got := content(t, s, "checkout-redesign")["enabled"]; got != false {
		t.Errorf("enabled is %v, want false", got)
	}
	s.Get(flags + "checkout-redesign").Check(200).Contains("This flag is off: everyone gets classic")
	s.Get(flags+"checkout-redesign/turn-off").Check(200).Contains("The rules decide again, as before it was turned off.", "Turn on")
	action, form = formWithButton(t, s.Get(flags+"checkout-redesign"), "turn-on")
	form.Set("do", "turn-on")
	s.Post(action, form).Location()
	if got := content(t, s, "checkout-redesign"); got["enabled"] != true || strings.Contains(fmt.Sprint(got["metadata"]), service.OffMember) {
		t.Errorf("got %v, want it as before", got)
	}
}

// TestTurnOnForEveryone: a flag that is off but has not been turned off is turned on only
// after a page that says for whom, by the switch of a variant flag as well.
func TestTurnOnForEveryone(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("default", []byte(`flags:
- {key: ramp, name: Ramp, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 0, value: true}}]}
- {key: blocked, name: Blocked, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 100, value: false}}]}
- {key: layout, name: Layout, variants: [{key: a}], rules: [{segment: every, distributions: [{variant: a, rollout: 100}]}]}
segments: [{key: every, name: Every}]
`))
	s.Get(flags + "ramp").Check(200).Contains("Turn on").Lacks("Turn off")
	s.Get("/namespaces/default/flags?q=key:ramp").Check(200).Contains("Turn on")
	ask := s.Get(flags+"ramp/turn-off").Check(200).Contains("Turn on “Ramp” for everyone?", "there is nothing to restore", "Everyone gets On.", "Turn on for everyone")
	press(t, s, ask, "turn-off").Check(409).Contains("It was turned on or off in the meantime.")
	press(t, s, ask, "turn-on").Check(200).Contains("Turn on “Ramp” for everyone?")
	if got := content(t, s, "ramp"); got["enabled"] != false {
		t.Errorf("enabled before the answer: got %v", got)
	}
	press(t, s, ask, "turn-on-everyone").Location()
	if got := content(t, s, "ramp"); got["enabled"] != true {
		t.Errorf("got %v, want it enabled", got)
	}

	action, form := formWithButton(t, s.Get(flags+"layout").Check(200), "turn-on")
	form.Set("do", "turn-on")
	ask = s.Post(action, form).Check(200).Contains("Turn on “Layout”?", "Its rules will decide who gets which variant.", "Everyone gets a.")
	if got := content(t, s, "layout"); got["enabled"] != false {
		t.Errorf("enabled before the answer: got %v", got)
	}
	press(t, s, ask, "turn-on-everyone").Location()
	if got := content(t, s, "layout"); got["enabled"] != true {
		t.Errorf("got %v, want it enabled", got)
	}

	ask = s.Get(flags + "blocked/turn-off").Check(200).Contains("Its rules give Off to everyone")
	press(t, s, ask, "turn-on-everyone").Check(422).Contains("Its rules give Off to everyone")
}

// formWithButton returns the form that has the button.
func formWithButton(t *testing.T, r *webtest.Reply, do string) (string, url.Values) {
	t.Helper()
	for _, n := range r.All("form") {
		for b := range n.Descendants() {
			if b.Data == "button" && webtest.Attribute(b, "value") == do {
				form := make(url.Values)
				for i := range n.Descendants() {
					if i.Data == "input" {
						form[webtest.Attribute(i, "name")] = []string{webtest.Attribute(i, "value")}
					}
				}
				return webtest.Attribute(n, "action"), form
			}
		}
	}
	t.Fatalf("no button %s", do)
	return "", nil
}

// TestDelete: the key of the flag must be typed.
func TestDelete(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("staging", examples.Shop)
	ask := s.Get(flags+"one-click-buy/delete").Check(200).Contains("It is partly on in Default.", "You can undo this in Changes.")
	for _, key := range []string{"", "one-click", "One-Click-Buy"} {
		r := press(t, s, ask, "delete", "key", key).Check(422).Contains("This is not the key of the flag: one-click-buy.")
		if _, form := r.Form("question"); form.Get("key") != key {
			t.Errorf("the field has %q, want %q", form.Get("key"), key)
		}
	}
	stale := ask
	press(t, s, s.Get(flags+"one-click-buy/details"), "save", "name", "Buy now").Location()
	press(t, s, stale, "delete", "key", "one-click-buy").Check(409).Contains("Mira changed this flag in the meantime.", "Delete “Buy now”?")
	ask = s.Get(flags + "one-click-buy/delete")
	if got, want := press(t, s, ask, "delete", "key", "one-click-buy").Location(), "/namespaces/default/flags?saved=4"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	s.Get(flags + "one-click-buy").Check(404)
}

// TestCopy: a flag is copied within its namespace, or into another with the segments that
// this lacks.
func TestCopy(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("staging", []byte("namespace:\n  key: staging\n  name: Staging\n"))
	ask := s.Get(flags + "one-click-buy/copy").Check(200)
	press(t, s, ask, "copy", "key", "").Check(422).Contains("A key is needed.")
	press(t, s, ask, "copy", "name", "").Check(422).Contains("A name is needed.")
	press(t, s, ask, "copy", "to", "nowhere").Check(422).Contains("Choose a namespace.")
	press(t, s, ask, "copy", "key", strings.Repeat("k", 260)).Check(422).Contains("255 characters at most, this has 260.")
	r := press(t, s, ask, "copy", "key", "check out").Check(422).Contains("Letters, digits, - and _ only. Did you mean check-out?", "Take check-out").CheckEnter("question", "copy")
	if _, form := press(t, s, r, "key:check-out").Check(200).Form("question"); form.Get("key") != "check-out" {
		t.Errorf("the field has %q", form.Get("key"))
	}
	press(t, s, ask, "copy", "key", "wishlist").Check(422).Contains("Default has a flag “Wishlist” with this key.")
	if got, want := press(t, s, ask, "copy").Location(), flags+"one-click-buy-copy?saved=3"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	want := content(t, s, "one-click-buy")
	want["key"], want["name"] = "one-click-buy-copy", "One-click buy (copy)"
	if diff := cmp.Diff(body(t, want), body(t, content(t, s, "one-click-buy-copy"))); diff != "" {
		t.Errorf("copied (-want +got):\n%s", diff)
	}

	ask = s.Get(flags + "one-click-buy/copy?to=staging").Check(200)
	press(t, s, ask, "copy", "segments", "").Check(422).Contains("Staging lacks 4 segments of this flag")
	if got, want := press(t, s, ask, "copy").Location(), "/namespaces/staging/flags/one-click-buy?saved=2"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	s.Get("/namespaces/staging/flags/one-click-buy").Check(200).Contains("Loyal customers")
	s.Get("/namespaces/staging/flags/one-click-buy/namespaces").Check(200).Contains("Default On for 13% Same as here", "No such flag", "Promote to Warehouse")
	press(t, s, s.Get("/namespaces/staging/flags/one-click-buy?edit=3"), "save", "rule.2.share", "50").Location()
	s.Get("/namespaces/staging/flags/one-click-buy/namespaces").Check(200).Contains("Staging On for 50% This namespace", "Default On for 13% Differs", "Compare with Default")
}

// TestTryDraft: the review of a draft leads to the playground, which asks the draft and not the
// saved flag.
func TestTryDraft(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, s.Get(flags+"one-click-buy?edit=3"), "review", "rule.2.share", "100").Check(200).Contains("Try the draft")
	action, try := r.Form("try")
	try.Set("do", "try")
	action, ask := s.Post(action, try).Check(200).Contains("Draft, not saved").Form("ask")
	ask.Set("do", "ask")
	for i := range 5 { // of whom the saved flag gives 12.5 % the feature
		ask.Set("entity", fmt.Sprint("somebody-", i))
		s.Post(action, ask).Check(200).Contains("On rule 3 Draft, not saved", "Rule 3 100% of everyone decides")
	}
	s.Get(flags + "one-click-buy").Check(200).Contains("12.5%")
}

// TestMessage: the message of a change is checked, and stays in its field.
func TestMessage(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, s.Get(flags+"one-click-buy?edit=3"), "review", "rule.2.share", "25")
	r = press(t, s, r, "save", "message", "a\x00b").Check(422).Contains("The message must not contain", "share 12.5%")
	if _, form := r.Form("edit"); form.Get("message") != "a\uFFFDb" {
		t.Errorf("the field has %q", form.Get("message"))
	}
	press(t, s, r, "save", "message", "fine").Location()
	press(t, s, s.Get(flags+"one-click-buy/delete"), "delete", "key", "one-click-buy", "message", "a\x00b").Check(422).Contains("message")
	press(t, s, s.Get(flags+"one-click-buy/turn-off"), "turn-off", "message", "a\x00b").Check(422).Contains("message")
}

// TestDatabaseAway: if the database does not answer while a draft is saved, the page keeps
// the form.
func TestDatabaseAway(t *testing.T) {
	away := false
	s := webtest.New(t, webtest.Options{Fault: func() error {
		if away {
			return guidon.Errorf(guidon.Unavailable, "the database is away")
		}
		return nil
	}})
	r := s.Get(flags + "one-click-buy?edit=3").Check(200)
	away = true
	r = press(t, s, r, "save", "rule.2.share", "25").Check(503).Contains("It is not known whether this was saved", "Send again")
	away = false
	for _, n := range r.All("form") {
		form := make(url.Values)
		for i := range n.Descendants() {
			if i.Data == "input" {
				form.Set(webtest.Attribute(i, "name"), webtest.Attribute(i, "value"))
			}
		}
		form.Set("do", "save") // the button "Send again"
		if got, want := s.Post(webtest.Attribute(n, "action"), form).Location(), flags+"one-click-buy?saved=3"; got != want {
			t.Errorf("leads to %s, want %s", got, want)
		}
	}
}

// TestAsks: in a namespace that asks before changes, its key must be typed before a flag gives
// something else, is turned off or deleted, and not before its texts are saved.
func TestAsks(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	ask := true
	if _, _, err := s.Service.UpdateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "default", Name: "Default", ConfirmChanges: &ask}); err != nil {
		t.Fatal(err)
	}
	for _, tab := range []string{"", "/history"} {
		if body := s.Get(flags + "checkout-redesign" + tab).Check(200).Body; strings.Contains(body, `role="switch"`) {
			t.Errorf("the tab %q has a switch that does not ask", tab)
		}
	}
	r := press(t, s, s.Get(flags+"one-click-buy?edit=3"), "save", "rule.2.share", "25").Check(200).Contains("Review your change", "Type default to change this namespace").CheckEnter("edit", "save")
	press(t, s, r, "save", "namespace", "Default").Check(422).Contains("This is not the key of the namespace: default.")
	press(t, s, r, "save", "namespace", "default").Location()
	for _, test := range []struct {
		page, field, value string
		asks               bool
	}{
		{"one-click-buy/details", "description", "New", false},
		{"one-click-buy/details", "owner", "team-shop", false},
		{"one-click-buy?edit=3", "rule.2.note", "Why", false},
		{"checkout-redesign/variants?edit=1", "variant.0.name", "Old", false},
		{"checkout-redesign/variants?edit=1", "variant.0.attachment", "1", true},
		{"checkout-redesign/variants?edit=1", "variant.0.key", "old", true},
		{"checkout-redesign/details", "enabled", "off", true},
	} {
		draft := s.Get(flags + test.page).Check(200)
		reviewed := press(t, s, draft, "review", test.field, test.value).Check(200).Contains("Review your change")
		if got := strings.Contains(reviewed.Text(), "Type default to change this namespace"); got != test.asks {
			t.Errorf("the review of another %s: it asks %t, want %t", test.field, got, test.asks)
		}
		saved, want := press(t, s, draft, "save", test.field, test.value), 303
		if test.asks {
			want = 200
		}
		saved.Check(want)
	}
	row := press(t, s, s.Get(flags+"checkout-redesign/details").Check(200), "row").Check(200)
	_, form := row.Form("edit")
	for name := range form {
		if i, ok := strings.CutSuffix(name, ".key"); ok && form.Get(name) == "" {
			press(t, s, row, "save", name, "openfeature.value", i+".value", "attachment").Check(200).Contains("Type default to change this namespace")
		}
	}
	off := s.Get(flags + "checkout-redesign/turn-off").Check(200)
	press(t, s, off, "turn-off").Check(422).Contains("Type the key of the namespace: default.")
	press(t, s, off, "turn-off", "namespace", "default").Location()
	s.Get(flags + "checkout-redesign").Check(200).Contains("Turn on") // a link instead of a switch
	del := s.Get(flags + "checkout-redesign/delete").Check(200)
	press(t, s, del, "delete", "key", "checkout-redesign").Check(422)
	press(t, s, del, "delete", "key", "checkout-redesign", "namespace", "default").Location()
}

// TestNamespaces: the tab has controls for the namespaces that the visitor may edit, and is not
// there for those who can see one namespace only.
func TestNamespaces(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	const path = flags + "one-click-buy/namespaces"
	some := s.As(s.SignIn(service.TokenInput{Name: "some", Role: service.RoleEditor, Namespaces: []string{"default", "warehouse"}}))
	some.Get(path).Check(200).Contains("Default On for 13% This namespace just now Turn off in Default", "Warehouse No such flag Promote to Warehouse")

	viewer := s.As(s.SignIn(service.TokenInput{Name: "viewer", Role: service.RoleViewer}))
	viewer.Get(path).Check(200).Contains("Default On for 13%", "Warehouse No such flag").Lacks("Turn off in Default", "Promote")
	one := s.As(s.SignIn(service.TokenInput{Name: "one", Role: service.RoleEditor, Namespaces: []string{"default"}}))
	one.Get(flags + "one-click-buy").Check(200).Lacks(">Namespaces<")
	press(t, s, s.Get(flags+"one-click-buy/turn-off"), "turn-off").Location()
	s.Get(path).Check(200).Contains("Default Off This namespace", "Turn on in Default")
}
