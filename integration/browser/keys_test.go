package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// command is a key with Ctrl or, as here, ⌘.
func command(key string) chromedp.Action[chromedp.Void] {
	return chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierMeta))
}

// leads presses keys that open another page.
func leads(path, keys, to string) func(t *testing.T, v *visitor) {
	return func(t *testing.T, v *visitor) {
		t.Helper()
		v.Visit(t, path)
		if p := v.Follow(t, pressing(t, v, keys)); !strings.HasSuffix(p.URL, to) {
			t.Errorf("%s leads to %s, want %s", keys, p.URL, to)
		}
	}
}

// keys has everything that the page of shortcuts lists, by the group and the keys.
var keys = map[string]func(t *testing.T, v *visitor){
	"Everywhere: ⌘K": func(t *testing.T, v *visitor) {
		v.Visit(t, "/settings/profile")
		v.Do(t, command("k"))
		v.Await(t, "document.querySelector('dialog.palette[open] [role=combobox]') === document.activeElement")
	},
	"Everywhere: ⌘S": func(t *testing.T, v *visitor) {
		v.Visit(t, flagsPath+"/wishlist/details")
		check := stays(t, v)
		v.Do(t, command("s")) // there is nothing to save
		check()
		retype(t, v, "name", "Wishes")
		v.Follow(t, command("s"))
		awaitText(t, v, ".toast", "Saved as revision")
	},
	"Everywhere: ⌘Enter": func(t *testing.T, v *visitor) {
		v.Visit(t, "/namespaces/default/playground?flag=wishlist")
		retype(t, v, "entity", "ada")
		v.Do(t, command(kb.Enter))
		v.Await(t, "document.querySelector('[data-answer]')")
		v.Visit(t, "/settings/new-namespace")
		retype(t, v, "name", "By keyboard")
		retype(t, v, "key", "by-keyboard")
		v.Follow(t, command(kb.Enter))
		awaitText(t, v, "main", "By keyboard")
		v.Visit(t, booleanPath)
		press(t, v, "t")
		awaitText(t, v, "dialog[open] h2", "Turn off")
		v.Follow(t, command(kb.Enter))
		awaitText(t, v, ".toast", "Saved as revision")
		v.Follow(t, click(css(".toast button")))
		v.Follow(t, click(css("main form[method=post] button.primary, main form[method=post] button.danger")))
	},
	"Everywhere: ⌘Z":       undoKey,
	"Everywhere: Shift ⌘Z": undoKey,
	"Everywhere: Esc": func(t *testing.T, v *visitor) {
		v.Visit(t, booleanPath)
		press(t, v, "n")
		v.Do(t, chromedp.KeyEvent(kb.Escape))
		v.Await(t, "!document.querySelector('details.menu[open]')")
		press(t, v, "t")
		v.Await(t, "document.querySelector('dialog[open]')")
		v.Do(t, chromedp.KeyEvent(kb.Escape))
		v.Await(t, "!document.querySelector('dialog')")
	},
	"Go to: g f": leads("/settings/profile", "gf", "/flags"), // of the namespace that was seen last
	"Go to: g s": leads(flagsPath, "gs", "/segments"),
	"Go to: g p": leads(flagsPath, "gp", "/playground"),
	"Go to: g h": leads(flagsPath, "gh", "/changes"),
	"Go to: g c": leads(flagsPath, "gc", "/compare"),
	"Go to: ?":   leads(flagsPath, "?", "/shortcuts"),
	"Go to: n": func(t *testing.T, v *visitor) {
		v.Visit(t, flagsPath)
		press(t, v, "n")
		v.Await(t, "document.activeElement.closest('details.ns[open]')")
	},
	"Lists: /": func(t *testing.T, v *visitor) {
		for _, path := range []string{flagsPath, segmentsPath} {
			v.Visit(t, path)
			press(t, v, "/")
			awaitFocus(t, v, "q")
		}
	},
	"Lists: j": moveKey, "Lists: k": moveKey,
	"Lists: Enter": func(t *testing.T, v *visitor) {
		v.Visit(t, segmentsPath)
		press(t, v, "j")
		if p := v.Follow(t, chromedp.KeyEvent(kb.Enter)); !strings.Contains(p.URL, "/segments/") {
			t.Errorf("Enter leads to %s", p.URL)
		}
	},
	"Lists: x": func(t *testing.T, v *visitor) {
		v.Visit(t, flagsPath)
		press(t, v, "jx")
		awaitText(t, v, ".bulk", "1 selected")
	},
	"Lists: .": func(t *testing.T, v *visitor) {
		v.Visit(t, flagsPath)
		press(t, v, "j.")
		v.Await(t, "document.activeElement.closest('tbody details.menu[open]')")
	},
	"Lists: c": func(t *testing.T, v *visitor) {
		leads(flagsPath, "c", "/new-flag")(t, v)
		leads(segmentsPath, "c", "/new-segment")(t, v)
		leads("/settings/namespaces", "c", "/settings/new-namespace")(t, v)
		leads("/settings/tokens", "c", "/settings/new-token")(t, v)
	},
	"Lists: e": func(t *testing.T, v *visitor) {
		v.Visit(t, flagsPath)
		check := stays(t, v)
		press(t, v, "e") // there is no row yet
		check()
		focusRow(t, v, "checkout-redesign")
		v.Follow(t, pressing(t, v, "e"))
		v.Await(t, "location.pathname.endsWith('/flags/checkout-redesign') && document.querySelector('.rule.edit:first-child')")
		v.Visit(t, flagsPath)
		focusRow(t, v, "wishlist") // without rules
		v.Follow(t, pressing(t, v, "e"))
		v.Await(t, "document.querySelector('.rule.else [name=else][type=radio]')")
		v.Visit(t, segmentsPath+"?q=risky")
		v.Follow(t, pressing(t, v, "je"))
		v.Await(t, "location.pathname.endsWith('/segments/risky-orders') && document.querySelector('.cond.edit:first-child')")
	},
	"Lists: t": func(t *testing.T, v *visitor) {
		v.Visit(t, flagsPath)
		check := stays(t, v)
		press(t, v, "t") // there is no row yet
		focusRow(t, v, "dark-mode")
		press(t, v, "t")
		awaitText(t, v, "dialog[open] h2", "Turn off “Dark mode” for everyone?")
		v.Do(t, chromedp.KeyEvent(kb.Escape))
		v.Await(t, "!document.querySelector('dialog')")
		awaitFocus(t, v, "Actions on Dark mode")
		check()
	},
	"Flags and segments: e": func(t *testing.T, v *visitor) {
		v.Visit(t, variantPath)
		check := stays(t, v)
		press(t, v, "e")
		v.Await(t, "document.querySelector('.rule.edit:first-child')")
		v.Do(t, chromedp.Focus(css(".rule:nth-child(3) .tools summary")))
		press(t, v, "e")
		v.Await(t, "document.querySelector('.rule.edit:nth-child(3)') && !document.querySelector('.rule.edit:nth-child(2)')")
		v.Do(t, chromedp.Focus(css(".rule.else .tools button")))
		press(t, v, "e")
		v.Await(t, "document.querySelector('.rule.else select[name=else]')")
		check()
		v.Visit(t, variantPath+"/variants")
		press(t, v, "e")
		awaitFocus(t, v, "variant-0-key")
		v.Visit(t, segmentsPath+"/risky-orders")
		v.Do(t, chromedp.Focus(css(".cond:nth-child(2) .tools summary")))
		press(t, v, "e")
		v.Await(t, "document.querySelector('.cond.edit:nth-child(2)') && !document.querySelector('.cond.edit:first-child')")
	},
	"Flags and segments: t": func(t *testing.T, v *visitor) {
		for path, question := range map[string]string{booleanPath: "Turn off “Dark mode” for everyone?", variantPath: "Turn off “Checkout redesign” for everyone?"} {
			v.Visit(t, path)
			check := stays(t, v)
			press(t, v, "t")
			awaitText(t, v, "dialog[open] h2", question)
			check()
		}
	},
	"Flags and segments: r": func(t *testing.T, v *visitor) {
		v.Visit(t, booleanPath+"?edit=2")
		check := stays(t, v)
		press(t, v, "r") // there is nothing to review
		check()
		entered("rule-1-share", "40")(t, v)
		awaitText(t, v, ".savebar", "1 unsaved change")
		v.Follow(t, pressing(t, v, "r"))
		awaitText(t, v, "h1", "Review your change")
	},
}

func undoKey(t *testing.T, v *visitor) {
	v.Visit(t, booleanPath)
	v.Do(t, click(do("up:1")))
	awaitText(t, v, ".savebar", "1 unsaved change")
	v.Do(t, undo)
	awaitSaid(t, v, "Undone")
	v.Do(t, redo)
	awaitSaid(t, v, "Done again")
	awaitText(t, v, ".savebar", "1 unsaved change")
}

func moveKey(t *testing.T, v *visitor) {
	v.Visit(t, segmentsPath)
	press(t, v, "jjk")
	v.Await(t, "document.activeElement === document.querySelector('a.row')")
	press(t, v, "j")
	v.Await(t, "document.activeElement === document.querySelectorAll('a.row')[1]")
}

// focusRow makes the row of a flag the current one.
func focusRow(t *testing.T, v *visitor, key string) {
	t.Helper()
	v.Do(t, chromedp.Focus(css("tr[data-row="+key+"] a.row")))
}

// TestKeys: the page of shortcuts lists the keys that there are, and each does what it says.
func TestKeys(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, "/shortcuts")
	listed := eval[[]string](t, v, `[...document.querySelectorAll('.keys section')].flatMap(s =>
		[...s.querySelectorAll('tbody tr')].map(r => s.querySelector('h2').innerText + ': ' + [...r.querySelectorAll('kbd')].map(k => k.innerText).join(' ')))`)
	slices.Sort(listed)
	tested := make([]string, 0, len(keys))
	for name := range keys {
		tested = append(tested, name)
	}
	slices.Sort(tested)
	if diff := cmp.Diff(tested, listed); diff != "" {
		t.Errorf("the page lists other keys than are tested here (-tested +listed):\n%s", diff)
	}
	for _, name := range tested {
		t.Run(name, func(t *testing.T) {
			v.Visit(t, flagsPath)
			keys[name](t, v)
			quiet(t, v)
		})
	}
}

// singleKeys are all single letters.
const singleKeys = "/?njkx.cetrgfgsgpghgc"

// TestSingleKeys: single letters do nothing in fields, in dialogs, and if they are switched off.
func TestSingleKeys(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, booleanPath+"?edit=2")
	check := stays(t, v)
	retype(t, v, "rule-1-note", "")
	v.Do(t, chromedp.KeyEvent(kb.Delete))
	press(t, v, singleKeys)
	if got := eval[string](t, v, "document.getElementById('rule-1-note').value"); got != singleKeys {
		t.Errorf("typed %q, got %q", singleKeys, got)
	}
	check()
	v.Visit(t, booleanPath)
	check = stays(t, v)
	press(t, v, "t")
	awaitText(t, v, "dialog[open] h2", "Turn off")
	v.Do(t, chromedp.Focus(css("dialog[open] a[data-cancel]")))
	press(t, v, singleKeys)
	check()

	prefer(t, v, "keys=off")
	for _, path := range []string{flagsPath, booleanPath, segmentsPath + "/risky-orders"} {
		v.Visit(t, path)
		check := stays(t, v)
		if path == flagsPath {
			focusRow(t, v, "dark-mode")
		}
		press(t, v, singleKeys)
		v.Page(t)
		check()
		if n := count(t, v, "dialog, details[open], .rule.edit, .cond.edit, .pick input:checked"); n > 0 {
			t.Errorf("%s: %d parts of the page have answered", path, n)
		}
	}
}

// TestViewerKeys: keys do nothing that the visitor may not do.
func TestViewerKeys(t *testing.T) {
	v := openShop(t).visitor(t, viewer)
	for _, path := range []string{flagsPath, booleanPath, variantPath, segmentsPath, segmentsPath + "/risky-orders"} {
		v.Visit(t, path)
		check := stays(t, v)
		press(t, v, "jetrxc")
		v.Do(t, command("s"))
		v.Page(t)
		check()
		if n := count(t, v, "dialog"); n > 0 {
			t.Errorf("%s: there is a dialog", path)
		}
	}
}
