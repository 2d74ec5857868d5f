package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/guidonhq/guidon/integration/harness/webtest"
)

// TestDialogs: a link to a page with a question opens it over this one.
func TestDialogs(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, booleanPath)
	check := stays(t, v)
	press(t, v, "t")
	awaitText(t, v, "dialog[open] h2", "Turn off “Dark mode” for everyone?")
	if got := v.Axe(t); len(got) > 0 {
		t.Error(got)
	}
	v.Do(t, chromedp.KeyEvent(kb.Escape))
	v.Await(t, "!document.querySelector('dialog')")
	awaitFocus(t, v, "Turn off")

	v.Do(t, chromedp.Click(css("[aria-label='More actions']")), chromedp.Click(css("details[open] [href$=delete]")))
	awaitFocus(t, v, "key")
	disabled := func(want string) {
		t.Helper()
		v.Await(t, "document.querySelector('dialog [data-confirmed]').disabled === "+want)
	}
	disabled("true")
	v.Do(t, chromedp.KeyEvent("dark-Mode"))
	disabled("true")
	v.Do(t, chromedp.KeyEvent(strings.Repeat(kb.Backspace, 4)+"mode"))
	disabled("false")
	v.Do(t, chromedp.Click(css("dialog a[data-cancel]")))
	v.Await(t, "!document.querySelector('dialog')")
	awaitFocus(t, v, "More actions")
	check()
	quiet(t, v)

	press(t, v, "t")
	awaitText(t, v, "dialog[open] h2", "Turn off")
	v.Follow(t, chromedp.Click(css("dialog button.danger")))
	awaitText(t, v, ".toast", "Saved as revision "+s.revision(t))
	awaitText(t, v, "main", "Turn on")
}

// TestPalette: search over everything is used by keyboard.
func TestPalette(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, flagsPath)
	v.Do(t, chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	v.Await(t, "document.querySelector('dialog[open] [role=combobox]') === document.activeElement")
	v.Do(t, chromedp.KeyEvent("checkout"))
	v.Await(t, "document.querySelector('[role=option][aria-selected=true]')?.innerText.includes('heckout')")
	v.Page(t) // the answers to all letters are there
	first := webtest.Eval[string](t, v, "document.activeElement.getAttribute('aria-activedescendant')")
	v.Do(t, chromedp.KeyEvent(kb.ArrowDown))
	v.Await(t, "document.activeElement.getAttribute('aria-activedescendant') !== '"+first+"'")
	v.Do(t, chromedp.KeyEvent(kb.ArrowUp+kb.ArrowUp))
	v.Await(t, "[...document.querySelectorAll('[role=option]')].at(-1).getAttribute('aria-selected') === 'true'")
	v.Do(t, chromedp.KeyEvent(kb.ArrowDown))
	if got := v.Axe(t); len(got) > 0 {
		t.Error(got)
	}
	v.Resize(t, webtest.Phone.InTheDark())
	if got := v.Axe(t); len(got) > 0 {
		t.Error(got)
	}
	v.Resize(t, webtest.Desktop)
	quiet(t, v)
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); !strings.HasSuffix(p.URL, "/flags/checkout-redesign") {
		t.Errorf("Enter leads to %s", p.URL)
	}
	v.Do(t, chromedp.Click(css("a.find")))
	v.Await(t, "document.querySelector('dialog[open] [role=combobox]') === document.activeElement")
	v.Do(t, chromedp.KeyEvent(kb.Escape))
	v.Await(t, "!document.querySelector('dialog[open]')")
}

// TestShortcuts: letters are shortcuts, unless the visitor does not want them or is typing.
func TestShortcuts(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, flagsPath)
	if p := v.Follow(t, pressing(t, v, "gs")); !strings.HasSuffix(p.URL, "/segments") {
		t.Errorf("g s leads to %s", p.URL)
	}
	if p := v.Follow(t, pressing(t, v, "gh")); !strings.HasSuffix(p.URL, "/changes") {
		t.Errorf("g h leads to %s", p.URL)
	}
	press(t, v, "n")
	v.Await(t, "document.activeElement.closest('details.ns[open]')")
	v.Do(t, chromedp.KeyEvent(kb.Escape))
	v.Await(t, "!document.querySelector('details[open]') && document.activeElement.localName === 'summary'")

	prefer(t, v, "keys=off")
	v.Visit(t, flagsPath)
	check := stays(t, v)
	press(t, v, "gs/jxc")
	check()
	if got := webtest.Eval[string](t, v, "document.activeElement.localName"); got != "body" {
		t.Errorf("the focus is on %s", got)
	}
	v.Do(t, chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	v.Await(t, "document.querySelector('dialog[open]')")
}

// TestTheme: the theme that the visitor chose is there when the page is, without a script.
func TestTheme(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	for _, theme := range []string{"dark", "light"} {
		prefer(t, v, "theme="+theme)
		look := webtest.Desktop
		if theme == "light" {
			look = look.InTheDark()
		}
		v.Resize(t, look)
		v.WithoutScripts(t)
		p := v.Visit(t, flagsPath)
		if !strings.Contains(p.HTML, `data-theme="`+theme+`"`) {
			t.Errorf("the page has no theme %s", theme)
		}
		v.WithScripts(t)
		dark := webtest.Eval[bool](t, v, "parseInt(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)) < 128")
		if dark != (theme == "dark") {
			t.Errorf("%s: the page is dark: %t", theme, dark)
		}
	}
}

// prefer makes the browser remember a preference.
func prefer(t *testing.T, v *webtest.Visitor, value string) {
	t.Helper()
	webtest.Call(t, v, network.SetCookie, network.SetCookieParams{Name: "guidon_preferences", Value: value, URL: v.Base})
}

// TestSentOnce: a form is sent once, however often its button is pressed.
func TestSentOnce(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, "/namespaces/default/new-flag")
	v.Do(t, chromedp.SendKeys(chromedp.ID("name"), "Once"))
	before := s.revision(t)
	p := v.Follow(t, chromedp.DoubleClick(css("button.primary")))
	posts := 0
	for _, r := range p.Requests {
		if strings.HasSuffix(r.URL, "/new-flag") {
			posts++
		}
	}
	if posts != 1 || s.revision(t) == before {
		t.Errorf("the form was sent %d times, and made revision %s of %s", posts, s.revision(t), before)
	}
}

// TestDetailsLive: a page about an object follows its changes, unless it has a draft.
func TestDetailsLive(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	for _, test := range []struct{ name, path, api, field string }{
		{"flag", booleanPath + "?edit=2", booleanPath, "step-1-note"},
		{"segment", segmentsPath + "/germany", segmentsPath + "/germany", "entity"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.Visit(t, test.path)
			check := stays(t, v)
			s.change(t, "PUT", "/api/v1"+test.api, map[string]any{"name": "Renamed", "matchType": "ANY_MATCH_TYPE"})
			awaitText(t, v, "h1", "Renamed")
			awaitText(t, v, ".rev", s.revision(t))
			retype(t, v, test.field, "mine")
			s.change(t, "PUT", "/api/v1"+test.api, map[string]any{"name": "Renamed again", "matchType": "ANY_MATCH_TYPE"})
			awaitText(t, v, "main", "changed this "+test.name+" just now")
			if got := webtest.Eval[string](t, v, "document.getElementById('"+test.field+"').value"); got != "mine" {
				t.Errorf("the draft has %q", got)
			}
			if got := focused(t, v); got != test.field {
				t.Errorf("the focus is on %q", got)
			}
			check()
			quiet(t, v)
		})
	}
	v.Visit(t, "/namespaces/default/changes")
	s.change(t, "PUT", "/api/v1"+flagsPath+"/wishlist", map[string]any{"name": "Renamed"})
	s.change(t, "PUT", "/api/v1"+flagsPath+"/wishlist", map[string]any{"name": "Renamed again"})
	awaitText(t, v, "[data-newer]", "2 newer changes")
	v.Follow(t, chromedp.Click(css("[data-newer] a")))
	awaitText(t, v, "main", "Renamed again")
	quiet(t, v)
}
