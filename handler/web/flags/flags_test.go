package flags_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestList: each row says what the flag does.
func TestList(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get("/namespaces/default/flags").Check(200)
	rows := make(map[string]string)
	for _, tr := range r.All("tr") {
		if key := webtest.Attribute(tr, "data-row"); key != "" {
			rows[key] = webtest.TextOf(tr)
		}
	}
	for key, want := range map[string]string{
		"wishlist":          "Wishlist wishlist On on – – A just now by Anonymous Open Try it Duplicate Turn off Delete",
		"homepage-layout":   "Homepage layout homepage-layout Off grid while off All visitors team-content A just now by Anonymous Open Try it Duplicate Turn on Delete",
		"checkout-redesign": "Checkout redesign checkout-redesign On classic 80% · one-page 10% · express 10% Staff +3 team-checkout A just now by Anonymous Open Try it Duplicate Turn off Delete",
		"one-click-buy":     "One-click buy one-click-buy Partly on on 13% · off 87% Loyal customers +3 team-checkout A just now by Anonymous Open Try it Duplicate Turn off Delete",
	} {
		if got := rows[key]; got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if len(rows) != 26 {
		t.Errorf("%d rows, want 26", len(rows))
	}
}

// keys returns the keys of the rows.
func keys(r *webtest.Reply) (keys []string) {
	for _, tr := range r.All("tr") {
		if key := webtest.Attribute(tr, "data-row"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// TestFilters: the address selects and orders, alone and combined.
func TestFilters(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"q=checkout&sort=key", []string{"bot-protection", "checkout-redesign", "guest-checkout", "one-click-buy", "payment-methods"}},
		{"q=owner:team-pricing&sort=key", []string{"free-shipping-threshold", "new-tax-engine", "price-display"}},
		{"state=off&sort=key", []string{"homepage-layout", "maintenance-page"}},
		{"state=off&type=boolean", []string{"maintenance-page"}},
		{"segment=staff&type=variant", []string{"checkout-redesign"}},
		{"state=nonsense&q=wishlist&sort=nonsense&page=-1", []string{"wishlist"}},
	} {
		t.Run(test.query, func(t *testing.T) {
			if diff := cmp.Diff(test.want, keys(s.Get("/namespaces/default/flags?"+test.query).Check(200))); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
	none := s.Get("/namespaces/default/flags?q=chekout").Check(200).Contains("No flag matches “chekout”", "New flag “chekout”")
	if want := `Did you mean <a href="/namespaces/default/flags/checkout-redesign">Checkout redesign</a> or <a href="/namespaces/default/flags/guest-checkout">Guest checkout</a>?`; !strings.Contains(none.Body, want) {
		t.Errorf("got %s, want %s", none.Body, want)
	}
	s.Get("/namespaces/default/flags?page=9").Check(200).Contains("There is no page 9")
}

// TestRegion: a request for the list alone gets that alone, and says how many rows it has.
func TestRegion(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get("/namespaces/default/flags?q=wishlist", "Guidon-Fragment", "list")
	if strings.Contains(r.Body, "<html") || !strings.Contains(r.Body, `data-announce="1 flag of 26"`) {
		t.Errorf("got %s", r.Body)
	}
}

// TestUnchanged: a browser is told that it has the list already, until a flag changes or
// somebody else asks.
func TestUnchanged(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	const address = "/namespaces/default/flags"
	preferences := s.Get(address).Result.Cookies()[0].Value // which has the namespace
	tag := s.Get(address, "Cookie", "guidon_preferences="+preferences).Header.Get("ETag")
	again := func(s *webtest.Server) int {
		return s.Get(address, "If-None-Match", tag, "Cookie", "guidon_preferences="+preferences).Status
	}
	if got := again(s); got != 304 {
		t.Errorf("again: got %d, want 304", got)
	}
	if got := again(s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))); got != 200 {
		t.Errorf("somebody else: got %d, want 200", got)
	}
	if _, _, err := s.Service.CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "new", Name: "New", Type: guidon.BooleanFlag}); err != nil {
		t.Fatal(err)
	}
	if got := again(s); got != 200 {
		t.Errorf("after a change: got %d, want 200", got)
	}
}

// TestViewer: who may not edit gets no controls, and is told why.
func TestViewer(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	viewer := s.As(s.SignIn(service.TokenInput{Name: "guest", Role: service.RoleViewer}))
	viewer.Get("/namespaces/default/flags").Check(200).Contains("View only").Lacks("New flag", "Turn off", "Duplicate", "Delete")
	viewer.Get("/namespaces/default/new-flag").Check(403)
	viewer.Post("/namespaces/default/new-flag", url.Values{"type": {"boolean"}, "name": {"New"}, "do": {"save"}}).Check(403)
	webtest.New(t, webtest.Options{ReadOnly: true}).Get("/namespaces/default/flags").Check(200).Contains("View only This server is read-only.").Lacks("New flag")
	s.As("").Get("/namespaces/default/flags?q=a").Location()
}

// TestEmpty: an empty namespace says how to begin.
func TestEmpty(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	s.Get("/namespaces/default/flags").Check(200).Contains("No flags in Default yet", "Create the first", "Import a file", "Look around first")
}

// TestCreate: a flag is created as the form says, in one change.
func TestCreate(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	action, form := s.Get("/namespaces/default/new-flag?name=Gift+cards").Check(200).Form("")
	if got, want := form.Get("name"), "Gift cards"; got != want {
		t.Errorf("the name is %q, want %q", got, want)
	}
	form.Set("type", "variant")
	form.Set("description", "Cards for gifts")
	form.Set("owner", "12")
	form.Set("tags", " ui, Gift ,,ui")
	form.Set("review", "2027-03-01")
	form.Set("variant.0.key", "paper")
	form.Set("variant.1.name", "By e-mail")
	form.Set("do", "add-metadata")
	_, form = s.Post(action, form).Check(200).Form("")
	form.Set("metadata.0.key", "limit")
	form.Set("metadata.0.value", "[10, 20]")
	form.Set("do", "save")
	if got, want := s.Post(action, form).Location(), "/namespaces/default/flags/gift-cards?saved=3"; got != want {
		t.Errorf("leads to %s, want %s", got, want)
	}
	view, err := s.Service.View(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := view.Flag("gift-cards")
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(f.Name, f.Type, f.Enabled, f.Description, string(f.Metadata), f.Variants[0].Key, f.Variants[1].Key, f.Variants[1].Name)
	want := fmt.Sprint("Gift cards", guidon.VariantFlag, false, "Cards for gifts", `{"owner":"12","review":"2027-03-01","limit":[10,20],"tags":["ui","Gift"]}`, "paper", "by-e-mail", "By e-mail")
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := s.Service.DeleteFlag(t.Context(), service.Write{}, "default", "gift-cards"); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Post(action, form).Location(), "/namespaces/default/flags/gift-cards?saved=5"; got != want {
		t.Errorf("after it was deleted: leads to %s, want %s", got, want)
	}
	form.Set("do", "another")
	form.Set("key", "other")
	if got, want := s.Post(action, form).Location(), "/namespaces/default/new-flag?saved=6"; got != want {
		t.Errorf("another: leads to %s, want %s", got, want)
	}
}

// TestCreateProblems: what is wrong is said beside its field, and nothing is lost.
func TestCreateProblems(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, test := range []struct{ field, value, want string }{
		{"name", " ", "A name is needed."},
		{"key", "wish list", "Letters, digits, - and _ only. Did you mean wish-list?"},
		{"key", "wishlist", "Default has a flag Wishlist with this key. Open it or take another key."},
		{"key", strings.Repeat("a", 260), "255 characters at most, this has 260."},
		{"review", "tomorrow", "Write a date such as 2027-03-01."},
		{"review", "2027-02-30", "Write a date such as 2027-03-01."},
		{"metadata.0.value", "[1", "This list never ends: add ]."},
		{"variant.1.key", "a", "The key a is there twice."},
		{"tags", "ui, a\u202eb", "Only characters that can be seen."},
	} {
		t.Run(test.field+" "+test.value[:1], func(t *testing.T) {
			form := url.Values{
				"type": {"variant"}, "name": {"Kept"}, "key": {"kept"}, "variant.0.key": {"a"}, "variant.0.name": {""}, "variant.1.key": {"b"}, "variant.1.name": {""},
				"metadata.0.key": {"limit"}, "metadata.0.value": {"1"}, "tags": {"ui"}, "do": {"save"},
			}
			form.Set(test.field, test.value)
			r := s.Post("/namespaces/default/new-flag", form).Check(422).Contains(test.want, "1 thing to fix")
			_, kept := r.Form("")
			for name, values := range form {
				if name != "do" && kept.Get(name) != strings.TrimSpace(values[0]) {
					t.Errorf("%s: got %q, want %q", name, kept.Get(name), values[0])
				}
			}
		})
	}
}

// TestFilterWithoutScript: without scripts the filter has a button, which sends the text and
// keeps the other filters.
func TestFilterWithoutScript(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get("/namespaces/default/flags?type=variant&sort=key").Check(200)
	root, err := html.ParseWithOptions(strings.NewReader(r.Body), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	var form, button *html.Node
	for n := range root.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "form" && webtest.Attribute(n, "role") == "search":
			form = n
		case form != nil && n.Type == html.ElementNode && n.Data == "button" && webtest.TextOf(n) == "Filter":
			button = n
		}
	}
	if form == nil || button == nil || webtest.Attribute(form, "method") != "get" || webtest.Attribute(button, "type") != "" {
		t.Fatalf("the filter has no button: %v", button)
	}
	within := false
	for p := button.Parent; p != nil; p = p.Parent {
		within = within || p == form
	}
	if !within {
		t.Error("the button is outside of the form")
	}
	query := url.Values{}
	for n := range form.Descendants() {
		if name := webtest.Attribute(n, "name"); n.Type == html.ElementNode && n.Data == "input" {
			query.Add(name, webtest.Attribute(n, "value"))
		}
	}
	query.Set("q", "checkout")
	if diff := cmp.Diff([]string{"checkout-redesign", "payment-methods"}, keys(s.Get(webtest.Attribute(form, "action")+"?"+query.Encode()).Check(200))); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
