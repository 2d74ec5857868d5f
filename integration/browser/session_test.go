package browser

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// endSession ends the session of the browser by the API, as an administrator can.
func (s *shop) endSession(t *testing.T, v *visitor) {
	t.Helper()
	const name = "service_client_token"
	for _, c := range call(t, v, network.GetCookies, network.GetCookiesParams{URLs: []string{v.Base + "/"}}).Cookies {
		if c.Name == name {
			s.Must(t, http.MethodDelete, "/auth/v1/self/revoke", nil, nil, "Authorization: Bearer "+c.Value)
			return
		}
	}
	t.Fatal("the browser has no session")
}

// signInAgain enters the token in the dialog.
func signInAgain(t *testing.T, v *visitor, token string) {
	t.Helper()
	awaitText(t, v, "dialog[open] h2", "Your session has ended")
	awaitFocus(t, v, "session-token")
	v.Do(t, chromedp.KeyEvent(token))
}

// TestEndedSession: who signs in again in the page has lost nothing, and saves once.
func TestEndedSession(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, booleanPath+"?edit=2")
	check := stays(t, v)
	retype(t, v, "rule-1-share", "37")
	retype(t, v, "rule-1-note", `<b>"a' & b`)
	awaitText(t, v, ".savebar", "unsaved change")
	s.endSession(t, v)
	before := s.revision(t)

	v.Do(t, click(do("save")))
	awaitText(t, v, "dialog[open] h2", "Your session has ended")
	if found := v.Axe(t); len(found) > 0 {
		t.Error(found)
	}
	v.Do(t, click(named("button", "Not now")))
	v.Await(t, "!document.querySelector('dialog')")
	v.Do(t, click(do("done:1"))) // what happens in the page needs a session, too
	signInAgain(t, v, "wrong"+kb.Enter)
	awaitText(t, v, "dialog[open] [role=alert]", "This token is unknown or has expired")
	signInAgain(t, v, s.tokens[admin]+kb.Enter)
	v.Await(t, "!document.querySelector('dialog')")
	awaitText(t, v, ".rule:nth-child(2)", `<b>"a' & b`)
	check()

	s.endSession(t, v)
	v.Do(t, click(do("save")))
	signInAgain(t, v, s.tokens[admin])
	if got := s.revision(t); got != before {
		t.Errorf("revision %s was made without a session, after %s", got, before)
	}
	check()
	v.Follow(t, chromedp.KeyEvent(kb.Enter))
	awaitText(t, v, ".toast", "Saved as revision "+s.revision(t))
	s.savedOnce(t, before)
	awaitText(t, v, ".rule:nth-child(2)", `<b>"a' & b`)
	awaitText(t, v, ".rule:nth-child(2)", "37%")
	if got := eval[int](t, v, "sessionStorage.length"); got != 0 {
		t.Errorf("%d drafts are left", got)
	}
}

// savedOnce checks that one change was made after the revision.
func (s *shop) savedOnce(t *testing.T, before string) {
	t.Helper()
	revision, err := strconv.Atoi(before)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.revision(t), strconv.Itoa(revision+1); got != want {
		t.Errorf("got revision %s, want %s", got, want)
	}
}

// TestEndedSessionInQuestion: a form in a dialog needs a session as well, and
// somebody who signs in in another tab goes on when they come back.
func TestEndedSessionInQuestion(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, booleanPath)
	press(t, v, "t")
	awaitText(t, v, "dialog[open] h2", "Turn off")
	s.endSession(t, v)
	before := s.revision(t)
	v.Do(t, click(css("dialog button.danger")))
	awaitText(t, v, "dialog.session[open] h2", "Your session has ended")

	tab := v.Tab(t)
	tab.Visit(t, "/sign-in?return_to=/sign-in?back=yes")
	tab.Do(t, chromedp.SendKeys(chromedp.ID("token"), s.tokens[admin]))
	tab.Follow(t, click(named("button", "Sign in with token")))
	awaitText(t, tab, "main", "You can close this tab")
	v.Follow(t, chromedp.Evaluate[chromedp.Void]("dispatchEvent(new Event('focus'))"))
	awaitText(t, v, ".toast", "Saved as revision")
	s.savedOnce(t, before)
}

// TestEndedSessionElsewhere: forms that answer in the page ask for a session as well.
func TestEndedSessionElsewhere(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, "/namespaces/default/playground?flag=checkout-redesign")
	check := stays(t, v)
	v.Do(t, chromedp.SendKeys(chromedp.ID("entity"), "ada"))
	s.endSession(t, v)
	v.Do(t, click(css("form[data-lab] button.primary")))
	signInAgain(t, v, s.tokens[admin]+kb.Enter)
	awaitText(t, v, ".answer", "Answer")
	check()
}

// TestEndedSessionWithoutScripts: the page says that the session has ended, and keeps all
// that was entered, until it is sent again.
func TestEndedSessionWithoutScripts(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.WithoutScripts(t)
	v.Visit(t, booleanPath+"?edit=2")
	const note = `<b>"a' & b`
	v.Do(t, fill(chromedp.ID("rule-1-share"), "37"), fill(chromedp.ID("rule-1-note"), note))
	s.endSession(t, v)
	before := s.revision(t)

	p := v.Follow(t, click(do("save")))
	if p.Status != http.StatusUnauthorized || s.revision(t) != before {
		t.Errorf("without a session, got status %d and revision %s", p.Status, s.revision(t))
	}
	link := eval[string](t, v, "document.querySelector('main a[target=_blank]').getAttribute('href')")
	tab := v.Tab(t)
	tab.WithoutScripts(t)
	tab.Visit(t, link)
	tab.Do(t, chromedp.SendKeys(chromedp.ID("token"), s.tokens[admin]))
	tab.Follow(t, click(named("button", "Sign in with token")))
	if main := tab.Main(t); !strings.Contains(main, "You can close this tab") {
		t.Errorf("who has signed in is at a page that says %q", main)
	}
	v.Follow(t, click(named("button", "Send again")))
	s.savedOnce(t, before)
	if main := v.Main(t); !strings.Contains(main, note) || !strings.Contains(main, "37%") {
		t.Errorf("the page says %q", main)
	}
}

// TestEndingSession: a page that stays open says when ten minutes are left.
func TestEndingSession(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, flagsPath)
	if count(t, v, "[data-ending]") > 0 {
		t.Error("a session of a day is said to end")
	}
	call(t, v, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{
		Source: "(now => { Date.now = () => now() + (24 * 60 - 10) * 60 * 1000 })(Date.now)",
	})
	v.Visit(t, flagsPath)
	awaitText(t, v, "main [data-ending][role=status]", "Your session ends in 10 minutes")
	if found := v.Axe(t); len(found) > 0 {
		t.Error(found)
	}
}
