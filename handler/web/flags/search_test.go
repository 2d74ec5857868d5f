package flags_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/examples"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestSearch: what matches is found, the best first, and links to its page.
func TestSearch(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get("/search?q=one-click-buy").Check(200).Contains("One-click buy", "Turn off One-click buy", "New flag “one-click-buy”")
	if got, want := r.Links()[0], "/namespaces/default/flags/one-click-buy"; got != want {
		t.Errorf("the first result leads to %s, want %s", got, want)
	}
	s.Get("/search").Check(200).Contains("Go to", "Unused flags", "Keyboard shortcuts")
	s.Get("/search?q=homepage-layout").Check(200).Contains("Turn on Homepage layout").Lacks("Turn off")
	if r := s.Get("/search?q=methods+offered").Check(200).Contains("Payment methods"); strings.Contains(r.Body, "Owners") { // words of its description
		t.Errorf("got %s", webtest.TextOf(r.All("main")[0]))
	}
	s.Get("/search?q=qqqqqq").Check(200).Contains("New flag “qqqqqq”").Lacks("Turn off")
}

// TestOptions: the palette gets the same results as options.
func TestOptions(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := s.Get("/search?q=checkout", "Guidon-Fragment", "options")
	if strings.Contains(r.Body, "<html") || !strings.Contains(r.Body, `role="option"`) || !strings.Contains(r.Body, `data-href="/namespaces/default/flags/checkout-redesign"`) {
		t.Errorf("got %s", r.Body)
	}
}

// TestSearchAsViewer: who may not edit is not offered to, and finds only what may be seen.
func TestSearchAsViewer(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("staging", examples.Shop)
	viewer := s.As(s.SignIn(service.TokenInput{Name: "guest", Role: service.RoleViewer, Namespaces: []string{"staging"}}))
	r := viewer.Get("/search?q=one-click-buy").Check(200).Lacks("Turn off", "New flag")
	if diff := cmp.Diff([]string{"/namespaces/staging/flags/one-click-buy", "/namespaces/staging/playground?flag=one-click-buy"}, r.Links()); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// TestOrder: what is most like the query comes first, then what is in this namespace, and
// there are eight of a kind.
func TestOrder(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("staging", examples.Shop)
	create := func(namespace string, keys ...string) {
		for _, key := range keys {
			if _, _, err := s.Service.CreateFlag(t.Context(), service.Write{}, namespace, guidon.Flag{Key: key, Name: "Flag " + key}); err != nil {
				t.Fatal(err)
			}
		}
	}
	create("default", "a-zap", "xzap", "zapping", "zap", "b-zap")
	create("staging", "zap", "zappa", "xzap", "c-zap", "yzap")
	var got []string
	for _, n := range s.Get("/search?q=zap&namespace=default", "Guidon-Fragment", "options").All("li") {
		if address, ok := strings.CutPrefix(webtest.Attribute(n, "data-href"), "/namespaces/"); ok && webtest.Attribute(n, "role") == "option" {
			got = append(got, address)
		}
	}
	want := []string{
		"default/flags/zap", "staging/flags/zap", "default/flags/zapping", "staging/flags/zappa",
		"default/flags/a-zap", "default/flags/b-zap", "staging/flags/c-zap", "default/flags/xzap",
		"default/playground?flag=zap", "default/flags/zap/turn-off", "default/new-flag?name=zap",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}
