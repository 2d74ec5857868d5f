package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

const flagsPath = "/namespaces/default/flags"

// TestFilterFlags: rows follow the filter while somebody types, and the address with them.
func TestFilterFlags(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, "/namespaces/default/segments")
	v.Visit(t, flagsPath)
	check := stays(t, v)
	press(t, v, "/")
	awaitFocus(t, v, "q")
	v.Do(t, chromedp.KeyEvent("redesign"))
	v.Await(t, "document.querySelectorAll('tbody tr').length === 2")
	awaitSaid(t, v, "2 flags of 26")
	v.Await(t, "location.search === '?q=redesign'")
	v.Do(t, chromedp.KeyEvent(kb.ArrowLeft+kb.ArrowLeft+kb.ArrowLeft))
	press(t, v, "x")
	v.Await(t, "location.search === '?q=redesxign'")
	if got := eval[string](t, v, "document.activeElement.value.slice(0, document.activeElement.selectionStart)"); got != "redesx" {
		t.Errorf("the caret is after %q", got)
	}
	v.Do(t, chromedp.KeyEvent(kb.Backspace))
	v.Await(t, "document.querySelectorAll('tbody tr').length === 2")
	check()
	quiet(t, v)

	const rows = "document.querySelector('table').innerText"
	typed := eval[string](t, v, rows)
	v.Follow(t, chromedp.Reload())
	if got := eval[string](t, v, rows); got != typed {
		t.Errorf("the address leads to %q, want %q", got, typed)
	}
	v.Follow(t, click(named("a", "Checkout redesign")))
	back := func(want string) {
		t.Helper()
		eval[chromedp.Void](t, v, "history.back()") // the page may be there still, without a request
		v.Await(t, "location.href.endsWith('"+want+"') && document.readyState === 'complete'")
	}
	back("/flags?q=redesign")
	if got := eval[string](t, v, rows); got != typed {
		t.Errorf("Back leads to %q, want %q", got, typed)
	}
	back("/segments") // typing made no entries in the history
}

// TestFilterOnPhone: the menus of the filters can be pressed, although the filters scroll.
func TestFilterOnPhone(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Resize(t, phone)
	for _, path := range []string{flagsPath, "/namespaces/default/changes"} {
		v.Visit(t, path)
		if hidden := eval[[]string](t, v, `[...document.querySelectorAll(".filters details.menu")].filter(m => m.checkVisibility()).flatMap(menu => {
			menu.open = true;
			menu.querySelector("summary").scrollIntoView({ block: "nearest", inline: "nearest" });
			const hidden = [...menu.querySelectorAll(".pop a")].slice(0, 5).filter(link => {
				const { left, right, top, bottom } = link.getBoundingClientRect();
				return [left + 1, right - 1].some(x => !link.contains(document.elementFromPoint(x, (top + bottom) / 2)));
			});
			menu.open = false;
			return hidden.map(link => link.innerText);
		})`); len(hidden) > 0 {
			t.Errorf("%s: cannot be pressed: %q", path, hidden)
		}
	}
}

// TestFilterFurther: what was typed is part of the filters that are chosen after it.
func TestFilterFurther(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, flagsPath)
	press(t, v, "/")
	v.Do(t, chromedp.KeyEvent("guest"))
	v.Await(t, "location.search === '?q=guest'")
	v.Do(t, click(css("form.filters details:nth-of-type(1) summary")))
	v.Follow(t, click(css("form.filters details[open] .pop a")))
	if got := eval[string](t, v, "new URL(location).searchParams.get('q')"); got != "guest" {
		t.Errorf("the text is %q then", got)
	}
}

// TestStars: a star changes where it is, in rows and beside a draft, which stay as they are. The
// palette begins with favorites.
func TestStars(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, flagsPath+"?sort=key")
	check := stays(t, v)
	v.Do(t, click(css("#star-dark-mode")))
	v.Do(t, click(css("#star-banner-text"))) // without waiting: both are kept
	v.Await(t, "document.querySelectorAll('.star [value=false]').length === 2")
	v.Await(t, "document.activeElement.id === 'star-banner-text'")
	v.Do(t, chromedp.KeyEvent(kb.Enter))
	v.Await(t, "document.querySelectorAll('.star [value=false]').length === 1")
	if found := v.Axe(t); len(found) > 0 {
		t.Error(found)
	}
	check()
	v.Visit(t, flagsPath+"/checkout-redesign/details")
	check = stays(t, v)
	v.Do(t, click(css("input[name=name]")), chromedp.KeyEvent("!"), click(css("#star-checkout-redesign")))
	v.Await(t, "document.querySelector('#star-checkout-redesign').value === 'false' && document.querySelector('input[name=name]').value.includes('!')")
	check()
	quiet(t, v)
	v.Visit(t, "/settings/profile")
	palette(t, v)
	want := []string{"Favorites", "★ Checkout redesign checkout-redesign On", "★ Dark mode dark-mode Partly on", "Recent"}
	if diff := cmp.Diff(want, options(t, v)[:4]); diff != "" {
		t.Errorf("palette (-want +got):\n%s", diff)
	}
	if found := v.Axe(t); len(found) > 0 {
		t.Error(found)
	}
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); !strings.HasSuffix(p.URL, flagsPath+"/checkout-redesign") {
		t.Errorf("the first favorite leads to %s", p.URL)
	}
}

// TestFlagsByKeyboard: rows are chosen, selected and opened by keys.
func TestFlagsByKeyboard(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, flagsPath)
	press(t, v, "jjjk")
	name := focused(t, v)
	if want := eval[string](t, v, "document.querySelectorAll('a.row')[1].textContent"); name != want {
		t.Errorf("the focus is on %q, want %q", name, want)
	}
	press(t, v, "x")
	awaitText(t, v, ".bulk", "1 selected")
	press(t, v, "j")
	press(t, v, "x")
	awaitText(t, v, ".bulk", "2 selected")
	if got := eval[bool](t, v, "document.querySelector('thead input').indeterminate"); !got {
		t.Error("the box for all is not half ticked")
	}
	v.Do(t, click(css("thead input")))
	awaitText(t, v, ".bulk", "26 selected")
	v.Do(t, click(css("thead input")))
	v.Await(t, "!document.querySelector('.bulk').checkVisibility()")
	for _, step := range []struct{ key, offered string }{{"homepage-layout", "turn-on"}, {"wishlist", "turn-off,turn-on"}, {"homepage-layout", "turn-off"}} {
		v.Do(t, click(css(".pick input[value="+step.key+"]")))
		v.Await(t, "[...document.querySelectorAll('.bulk button[value^=turn]')].filter(e => e.checkVisibility()).map(e => e.value).join() === '"+step.offered+"'")
	}
	v.Do(t, chromedp.Focus(css("a.row")))
	if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); !strings.Contains(p.URL, "/flags/") {
		t.Errorf("Enter leads to %s", p.URL)
	}
	quiet(t, v)
}

// TestFlagsLive: rows follow changes of others, but not those that somebody is about to use.
func TestFlagsLive(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, flagsPath)
	row := func(key string) string { return "tr[data-row=" + key + "]" }
	rename := func(key, name string) {
		s.change(t, "PUT", "/api/v1"+flagsPath+"/"+key, map[string]any{"name": name})
	}
	rename("wishlist", "Renamed")
	awaitText(t, v, row("wishlist")+".changed", "Renamed")
	awaitText(t, v, ".rev", "Live · revision "+s.revision(t))
	v.Await(t, "!document.querySelector('tr.changed')")

	away := chromedp.MouseEvent(chromedp.MouseMoved, 5, 5)
	tick := chromedp.Steps(click(css(row("dark-mode")+" input")), away)
	for name, hold := range map[string]struct {
		begin, end chromedp.Action[chromedp.Void]
	}{
		"focus":     {chromedp.Focus(css(row("dark-mode") + " a.row")), chromedp.Blur(css(row("dark-mode") + " a.row"))},
		"selection": {tick, chromedp.Steps(tick, chromedp.Blur(css(row("dark-mode")+" input")))},
	} {
		v.Do(t, hold.begin)
		rename("dark-mode", "Held by "+name)
		rename("wishlist", "After "+name)
		awaitText(t, v, row("wishlist"), "After "+name) // both were known then
		if got := eval[string](t, v, "document.querySelector('tr[data-row=dark-mode]').innerText"); strings.Contains(got, "Held by "+name) {
			t.Errorf("%s does not hold the row: %s", name, got)
		}
		v.Do(t, hold.end)
		awaitText(t, v, row("dark-mode"), "Held by "+name)
	}
	x := eval[[]float64](t, v, "(e => { e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + 5]; })(document.querySelector('tr[data-row=dark-mode]'))")
	v.Do(t, chromedp.MouseEvent(chromedp.MouseMoved, x[0], x[1]))
	rename("dark-mode", "Held by the pointer")
	rename("wishlist", "After the pointer")
	awaitText(t, v, row("wishlist"), "After the pointer")
	if got := eval[bool](t, v, "document.body.innerText.includes('Held by the pointer')"); got {
		t.Error("the pointer does not hold the row")
	}
	v.Do(t, away)
	awaitText(t, v, row("dark-mode"), "Held by the pointer")

	s.change(t, "DELETE", "/api/v1"+flagsPath+"/wishlist", nil)
	v.Await(t, "!document.querySelector('"+row("wishlist")+"')")
	quiet(t, v)
}

// TestFlagsLater: a page that was in the background without a stream asks whether it is still
// current.
func TestFlagsLater(t *testing.T) {
	s := openShop(t, "GUIDON_STREAMS_ENABLED=false")
	v := s.visitor(t, admin)
	v.Visit(t, flagsPath)
	show(t, v, "hidden")
	s.change(t, "PUT", "/api/v1"+flagsPath+"/wishlist", map[string]any{"name": "Renamed"})
	show(t, v, "visible")
	awaitText(t, v, ".rev", "Now at revision "+s.revision(t))
	v.Follow(t, click(named("a", "Reload")))
	awaitText(t, v, "tr[data-row=wishlist]", "Renamed")
}

// show makes the page believe that it is visible or hidden.
func show(t *testing.T, v *visitor, state string) {
	t.Helper()
	eval[chromedp.Void](t, v, `(() => {
		Object.defineProperty(document, 'visibilityState', {value: '`+state+`', configurable: true});
		document.dispatchEvent(new Event('visibilitychange'));
	})()`)
}

// TestStreams: a page has one stream while it is visible, and none otherwise.
func TestStreams(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, flagsPath)
	streams := func() (open, all int) {
		for _, r := range v.Page(t).Requests {
			if r.Type == "EventSource" {
				all++
				if r.Failure == "" {
					open++
				}
			}
		}
		return open, all
	}
	if open, all := streams(); open != 1 || all != 1 {
		t.Errorf("got %d of %d streams open, want 1 of 1", open, all)
	}
	show(t, v, "hidden")
	if open, _ := streams(); open != 0 {
		t.Errorf("hidden, got %d streams open", open)
	}
	s.change(t, "PUT", "/api/v1"+flagsPath+"/wishlist", map[string]any{"name": "Renamed"})
	show(t, v, "visible")
	awaitText(t, v, "tr[data-row=wishlist]", "Renamed")
	show(t, v, "visible")
	if open, all := streams(); open != 1 || all != 2 {
		t.Errorf("visible again, got %d of %d streams open, want 1 of 2", open, all)
	}
}
