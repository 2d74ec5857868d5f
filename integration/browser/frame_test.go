package browser

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
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

	v.Do(t, click(css("[aria-label='More actions']")), click(css("details[open] [href$=delete]")))
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
	v.Do(t, click(css("dialog a[data-cancel]")))
	v.Await(t, "!document.querySelector('dialog')")
	awaitFocus(t, v, "More actions")
	check()
	quiet(t, v)

	press(t, v, "t")
	awaitText(t, v, "dialog[open] h2", "Turn off")
	v.Follow(t, click(css("dialog button.danger")))
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
	first := eval[string](t, v, "document.activeElement.getAttribute('aria-activedescendant')")
	v.Do(t, chromedp.KeyEvent(kb.ArrowDown))
	v.Await(t, "document.activeElement.getAttribute('aria-activedescendant') !== '"+first+"'")
	v.Do(t, chromedp.KeyEvent(kb.ArrowUp+kb.ArrowUp))
	v.Await(t, "[...document.querySelectorAll('[role=option]')].at(-1).getAttribute('aria-selected') === 'true'")
	v.Do(t, chromedp.KeyEvent(kb.ArrowDown))
	if got := v.Axe(t); len(got) > 0 {
		t.Error(got)
	}
	v.Resize(t, phone.InTheDark())
	if got := v.Axe(t); len(got) > 0 {
		t.Error(got)
	}
	v.Resize(t, desktop)
	quiet(t, v)
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); !strings.HasSuffix(p.URL, "/flags/checkout-redesign") {
		t.Errorf("Enter leads to %s", p.URL)
	}
	v.Do(t, click(css("a.find")))
	v.Await(t, "document.querySelector('dialog[open] [role=combobox]') === document.activeElement")
	v.Do(t, chromedp.KeyEvent(kb.Escape))
	v.Await(t, "!document.querySelector('dialog[open]')")
}

// TestPaletteHurry: Enter opens what was typed, not what is listed until it is found.
func TestPaletteHurry(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, booleanPath)
	v.Visit(t, flagsPath)
	delay(t, v)
	palette(t, v)
	v.Do(t, chromedp.KeyEvent("payment-methods"))
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); !strings.HasSuffix(p.URL, "/flags/payment-methods") {
		t.Errorf("Enter leads to %s", p.URL)
	}
}

// palette opens the palette, and options describes what it offers.
func palette(t *testing.T, v *visitor) {
	t.Helper()
	v.Do(t, chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	v.Await(t, "document.querySelector('dialog[open] [role=option]')")
}

func options(t *testing.T, v *visitor) []string {
	t.Helper()
	v.Page(t) // all answers are there
	return eval[[]string](t, v, "[...document.querySelectorAll('dialog[open] [role=option], dialog[open] .h')].map(e => e.innerText.replace(/\\s+/g, ' ').trim())")
}

// TestPaletteRecent: the palette begins with the pages that this account was at last, until
// they sign out or somebody else signs in.
func TestPaletteRecent(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	for _, path := range []string{flagsPath, booleanPath + "?edit=2", booleanPath + "/turn-off", "/search?q=secret", flagsPath + "/none", variantPath, "/settings/tokens"} {
		v.Visit(t, path)
	}
	palette(t, v)
	if diff := cmp.Diff([]string{"Recent", "Checkout redesign default", "Dark mode default", "Flags default", "Go to"}, options(t, v)[:5]); diff != "" {
		t.Errorf("recent pages (-want +got):\n%s", diff)
	}
	if found := v.Axe(t); len(found) > 0 {
		t.Error(found)
	}
	if kept := eval[string](t, v, "JSON.stringify(localStorage)"); strings.Contains(kept, "secret") || strings.Contains(kept, adminToken) {
		t.Errorf("the browser keeps %s", kept)
	}
	if p := v.Follow(t, chromedp.KeyEvent(kb.ArrowDown+kb.Enter)); !strings.HasSuffix(p.URL, booleanPath) {
		t.Errorf("the second page is %s", p.URL)
	}
	for i := range 12 {
		v.Visit(t, "/namespaces/default/changes/"+strconv.Itoa(i+1))
		v.Visit(t, "/namespaces/staging/segments/"+[]string{"germany", "testers", "staff"}[i%3])
		v.Visit(t, []string{"/settings/profile", "/settings/server", "/shortcuts", "/settings/sessions", "/settings/namespaces", "/namespaces/staging/flags", "/namespaces/staging/unused"}[i%7])
	}
	palette(t, v)
	if got := slices.Index(options(t, v), "Go to"); got != 9 {
		t.Errorf("%d recent pages, want 8: %q", got-1, options(t, v))
	}

	s.endSession(t, v)
	v.Visit(t, "/sign-in")
	v.Do(t, chromedp.SendKeys(chromedp.ID("token"), s.tokens[viewer]))
	v.Follow(t, click(named("button", "Sign in with token")))
	palette(t, v)
	if got := options(t, v)[0]; got != "Go to" {
		t.Errorf("somebody else is offered %q", got)
	}
	v.Visit(t, variantPath)
	v.Visit(t, "/settings/profile")
	v.Follow(t, click(named("button", "Sign out")))
	if got := eval[int](t, v, "localStorage.length"); got != 0 {
		t.Errorf("the browser keeps %s after signing out", eval[string](t, v, "JSON.stringify(localStorage)"))
	}
}

// TestPaletteActs: what can be done with the first hit is done by keyboard, and turning it off
// asks first.
func TestPaletteActs(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	before := s.revision(t)
	for _, test := range []struct{ act, path string }{
		{"Try Dark mode in the playground", "/namespaces/default/playground?flag=dark-mode"},
		{"Turn off Dark mode asks first", booleanPath + "/turn-off"},
	} {
		v.Visit(t, flagsPath)
		palette(t, v)
		v.Do(t, chromedp.KeyEvent("dark-mode"))
		v.Await(t, "document.querySelector('dialog[open] [role=option]').dataset.href.endsWith('/flags/dark-mode')")
		offered := options(t, v)
		at := slices.Index(offered, "Do")
		if at < 0 || !slices.Contains(offered[at:], test.act) {
			t.Fatalf("offered %q, want %q", offered, test.act)
		}
		for range len(offered) {
			if eval[string](t, v, "document.querySelector('[aria-selected=true]').innerText.replace(/\\s+/g, ' ').trim()") == test.act {
				break
			}
			v.Do(t, chromedp.KeyEvent(kb.ArrowDown))
		}
		if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); p.URL != s.public+test.path {
			t.Errorf("%s leads to %s", test.act, p.URL)
		}
	}
	awaitText(t, v, "h1", "Turn off “Dark mode” for everyone?")
	if got := s.revision(t); got != before {
		t.Errorf("revision %s was made without an answer", got)
	}
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
	if got := eval[string](t, v, "document.activeElement.localName"); got != "body" {
		t.Errorf("the focus is on %s", got)
	}
	v.Do(t, chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	v.Await(t, "document.querySelector('dialog[open]')")
}

// TestCurrentTab: on a small screen, the tab of the page is in sight, whichever it is.
func TestCurrentTab(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Resize(t, phone)
	check := func(t *testing.T) {
		for path, lines := range map[string]int{variantPath + "/details": 1, variantPath + "/code?lang=guidon": 2, "/settings/server": 1} {
			v.Visit(t, path)
			seen := eval[[]bool](t, v, `[...document.querySelectorAll('main :is(.tabs, .subnav, .langs) [aria-current]')].map(e => e.getBoundingClientRect())
				.map(r => r.left >= 0 && r.right <= innerWidth)`)
			if len(seen) != lines || slices.Contains(seen, false) {
				t.Errorf("%s: the current links are in sight: %v, want %d", path, seen, lines)
			}
		}
	}
	t.Run("scripts", check)
	v.WithoutScripts(t)
	t.Run("no scripts", check)
}

// TestTheme: the theme that the visitor chose is there when the page is, without a script.
func TestTheme(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	for _, theme := range []string{"dark", "light"} {
		prefer(t, v, "theme="+theme)
		look := desktop
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
		dark := eval[bool](t, v, "parseInt(getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)) < 128")
		if dark != (theme == "dark") {
			t.Errorf("%s: the page is dark: %t", theme, dark)
		}
	}
}

// prefer makes the browser remember a preference.
func prefer(t *testing.T, v *visitor, value string) {
	t.Helper()
	call(t, v, network.SetCookie, network.SetCookieParams{Name: "guidon_preferences", Value: value, URL: v.Base})
}

// TestDetailsLive: a page about an object follows its changes, unless it has a draft.
func TestDetailsLive(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	for _, test := range []struct{ name, path, api, field string }{
		{"flag", booleanPath + "?edit=2", booleanPath, "rule-1-note"},
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
			if got := eval[string](t, v, "document.getElementById('"+test.field+"').value"); got != "mine" {
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
	v.Follow(t, click(css("[data-newer] a")))
	awaitText(t, v, "main", "Renamed again")
	quiet(t, v)
}

// TestPaletteCreates: Enter follows what was found, also by a description, and creates something
// only if that was chosen.
func TestPaletteCreates(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, flagsPath)
	palette(t, v)
	v.Do(t, chromedp.KeyEvent("methods offered"))
	v.Await(t, "document.querySelector('dialog[open] [role=option]').dataset.href.endsWith('/flags/payment-methods')")
	v.Do(t, chromedp.KeyEvent(" nowhere"))
	v.Await(t, "document.querySelectorAll('dialog[open] [role=option]').length === 1")
	if got := options(t, v); len(got) != 2 || !strings.HasPrefix(got[1], "New flag") {
		t.Errorf("offered %q", got)
	}
	v.Do(t, chromedp.KeyEvent(kb.Enter))
	v.Await(t, "document.querySelector('dialog[open] [role=combobox]') && !document.querySelector('[role=option][aria-selected=true]')")
	if p := v.Follow(t, chromedp.KeyEvent(kb.ArrowUp+kb.Enter)); !strings.Contains(p.URL, "/new-flag?name=methods+offered+nowhere") {
		t.Errorf("it leads to %s", p.URL)
	}
	quiet(t, v)
}
