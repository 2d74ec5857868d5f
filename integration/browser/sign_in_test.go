package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestSignIn: somebody signs in by keyboard, goes where they wanted, and signs out.
func TestSignIn(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, guest)
	grant := s.public + "/sign-in/cli" + grantRequest

	if p := v.Visit(t, "/sign-in/cli"+grantRequest); !strings.HasPrefix(p.URL, s.public+"/sign-in?return_to=") {
		t.Errorf("a guest is at %s", p.URL)
	}
	v.Do(t, chromedp.SendKeys(chromedp.ID("token"), "wrong"))
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); p.Status != http.StatusUnauthorized {
		t.Errorf("with a wrong token, got status %d", p.Status)
	}
	if got := eval[string](t, v, "document.activeElement.id"); got != "token" {
		t.Errorf("the focus is on %q, want the field", got)
	}
	v.Do(t, chromedp.SendKeys(chromedp.ID("token"), s.tokens[viewer]))
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); p.URL != grant || p.Status != http.StatusOK {
		t.Errorf("then at %s with status %d, want %s", p.URL, p.Status, grant)
	}

	v.Visit(t, "/sign-in")
	v.Follow(t, click(named("button", "Sign out")))
	if p := v.Visit(t, "/sign-in/cli"+grantRequest); p.URL == grant {
		t.Error("still signed in")
	}

	v.Visit(t, "/sign-in?return_to=//evil.example/")
	v.Do(t, chromedp.SendKeys(chromedp.ID("token"), s.tokens[viewer]))
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); !strings.HasPrefix(p.URL, s.public+"/") {
		t.Errorf("then at %s", p.URL)
	}
}

// TestProviders: the button of each provider opens its authorization page through the service.
func TestProviders(t *testing.T) {
	const prefix = "GUIDON_AUTHENTICATION_METHODS_OIDC_"
	settings := []string{prefix + "ENABLED=true"}
	providers := make(map[string]*logintest.Provider)
	for _, name := range []string{"Acme", "Globex"} {
		p := logintest.NewProvider(t)
		p.Serve("/authorize", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<!doctype html><title>%s</title><main><h1>Sign in at %[1]s</h1></main>", name)
		}))
		own := prefix + "PROVIDERS_" + strings.ToUpper(name) + "_"
		settings = append(settings, own+"ISSUER_URL="+p.URL, own+"CLIENT_ID=guidon", own+"CLIENT_SECRET=secret", own+"DISPLAY_NAME="+name, own+"ALLOW_EVERYONE=true")
		providers[name] = p
	}
	s := openShopBelow(t, "", settings...)
	v := s.visitor(t, guest)
	for name, provider := range providers {
		v.Visit(t, "/sign-in?return_to="+flagsPath)
		p := v.Follow(t, click(chromedp.Search("//a[contains(., 'Continue with "+name+"')]")))
		u, err := url.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if !strings.HasPrefix(p.URL, provider.URL+"/authorize?") || q.Get("client_id") != "guidon" || q.Get("state") == "" || !strings.HasPrefix(q.Get("redirect_uri"), s.public+"/auth/v1/method/oidc/") {
			t.Errorf("%s leads to %s", name, p.URL)
		}
	}
}
