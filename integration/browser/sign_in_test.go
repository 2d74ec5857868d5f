package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/guidonhq/guidon/integration/harness/webtest"
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
	if got := webtest.Eval[string](t, v, "document.activeElement.id"); got != "token" {
		t.Errorf("the focus is on %q, want the field", got)
	}
	v.Do(t, chromedp.SendKeys(chromedp.ID("token"), s.tokens[viewer]))
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); p.URL != grant || p.Status != http.StatusOK {
		t.Errorf("then at %s with status %d, want %s", p.URL, p.Status, grant)
	}

	v.Visit(t, "/sign-in")
	v.Follow(t, chromedp.Click(webtest.Named("button", "Sign out")))
	if p := v.Visit(t, "/sign-in/cli"+grantRequest); p.URL == grant {
		t.Error("still signed in")
	}

	v.Visit(t, "/sign-in?return_to=//evil.example/")
	v.Do(t, chromedp.SendKeys(chromedp.ID("token"), s.tokens[viewer]))
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); !strings.HasPrefix(p.URL, s.public+"/") {
		t.Errorf("then at %s", p.URL)
	}
}
