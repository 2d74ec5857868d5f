package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// state is what a page becomes by what visitors do there. TestStates checks it as TestPages
// checks pages that have an address, and make screenshots takes pictures of it.
type state struct {
	name  string // of the subtest, and of the pictures
	path  string
	reach func(t *testing.T, s *shop, v *visitor)
	texts []string // in <main>, or in the dialog if there is one
}

// enter replaces the texts of fields, by id and text in turn.
func enter(t *testing.T, v *visitor, fields ...string) {
	t.Helper()
	for i := 0; i < len(fields); i += 2 {
		retype(t, v, fields[i], fields[i+1])
	}
}

// nowhere is the URL of webhooks that send nothing: the address is not allowed.
const nowhere = "https://127.0.0.1/changes"

// states are in an order in which none changes what the next ones are about.
var states = []state{
	{"draft", booleanPath + "?edit=2", func(t *testing.T, _ *shop, v *visitor) {
		enter(t, v, "rule-1-share", "40")
		awaitText(t, v, ".rule.edit .legend", "newly on 15%")
		awaitText(t, v, ".savebar", "1 unsaved change")
	}, []string{"1 unsaved change", "go from off to on"}},
	{"draft-variant", variantPath + "?edit=3", func(t *testing.T, _ *shop, v *visitor) {
		enter(t, v, "rule-2-share-0", "60", "rule-2-share-1", "30")
		awaitText(t, v, ".savebar", "1 unsaved change")
	}, []string{"1 unsaved change", "go from classic to one-page"}},
	{"review", booleanPath + "?edit=2", func(t *testing.T, _ *shop, v *visitor) {
		enter(t, v, "rule-1-share", "40")
		awaitText(t, v, ".savebar", "1 unsaved change")
		v.Follow(t, click(do("review")))
	}, []string{"25%", "40%"}},
	{"draft-segment", "/namespaces/default/segments/germany", func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, click(do("add")))
		awaitFocus(t, v, "constraint.1.type")
		awaitText(t, v, ".savebar", "1 unsaved change")
	}, []string{"1 unsaved change"}},
	{"draft-list", "/namespaces/default/segments/germany", func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, click(do("edit:0")), choose(css(`select[name="constraint.0.operator"]`), "isoneof"))
		v.Await(t, "document.getElementById('constraint.0.list')")
		v.Do(t, click(css(`input[name="constraint.0.not"]`)))
		awaitText(t, v, ".cond.edit", "this matches")
		v.Do(t, click(do("add")))
		awaitFocus(t, v, "constraint.1.type")
	}, []string{"Values 1 of at most 10,000", "4 unsaved changes"}},
	{"conditions", flagsPath, func(t *testing.T, s *shop, v *visitor) {
		draftCountryShare(t, s, v)
		v.Do(t, click(do("with:0:ramp")))
		awaitFocus(t, v, "rule-0-ramp-over")
		v.Do(t, click(do("with:0:step")))
		awaitFocus(t, v, "rule-0-ramp-step-0-share")
	}, []string{"Only", "of them", "Raise over time", "Step 1", "1 unsaved change"}},
	{"conditions-variant", variantPath + "?edit=1", func(t *testing.T, _ *shop, v *visitor) {
		for _, step := range addedConditions {
			v.Do(t, click(named("summary", "Add condition")), click(css(`button[value="`+step.button+`"]`)))
			awaitFocus(t, v, step.focus)
		}
		v.Do(t, chromedp.KeyEvent("dark-mode"+kb.Enter))
		awaitText(t, v, ".rule.edit", "Needs Dark mode to be")
		v.Do(t, click(css(".portion ~ details summary")))
		v.Do(t, click(named("summary", "Add rule")), click(named("button", "This flag needs another")))
		awaitFocus(t, v, "requires-add")
	}, []string{"but not in", "The default in the code", "Needs Dark mode to be"}},
	{"evaluations", variantPath + "/evaluations", func(t *testing.T, s *shop, v *visitor) {
		s.change(t, http.MethodPost, "/api/v1/namespaces/default/evaluations", map[string]any{"reporter": "app", "counts": map[string]any{
			"checkout-redesign": map[string]any{"classic match": 1500, "one-page match": 400, "none unknown": 80, "error unknown": 20},
		}})
		v.Visit(t, variantPath+"/evaluations")
		v.Do(t, click(css("summary:has(h2)")))
	}, []string{"classic 75% 1,500", "no variant 4% 80", "until now 1,500 400 80 20"}},
	{"evaluations-list", flagsPath, func(*testing.T, *shop, *visitor) {}, []string{"Evaluations", "none"}},
	{"answer", "/namespaces/default/playground?flag=checkout-redesign", func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, chromedp.SendKeys(css("#entity"), "u-8841"), chromedp.SendKeys(css("#k0"), "country"), chromedp.SendKeys(css("#v0"), "DE"))
		v.Do(t, click(css("[data-key=submit]")))
		awaitText(t, v, "main", "What would change the answer")
	}, []string{"Why", "decides", "What would change the answer"}},
	{"answers", "/namespaces/default/playground", func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, chromedp.SendKeys(css("#entity"), "u-8841"), click(css("[data-key=submit]")))
		awaitText(t, v, "main table", "Checkout redesign")
	}, []string{"Checkout redesign", "Dark mode"}},
	{"new-flag-problems", "/namespaces/default/new-flag", func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, chromedp.SendKeys(css("#key"), "check out"))
		v.Follow(t, click(css("button[data-key=save]")))
	}, []string{"Did you mean check-out?", "Nothing was saved."}},
	{"gone", flagsPath + "/dark-mod", func(*testing.T, *shop, *visitor) {}, []string{"No flag dark-mod in Default", "Did you mean Dark mode"}},
	{"import-preview", "/namespaces/default/import", func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, fill(css("#text"), "flags:\n- key: dark-mode\n  name: Dark mode\n  type: BOOLEAN_FLAG_TYPE\n  enabled: true\n"))
		v.Follow(t, click(named("button", "Show what changes")))
	}, []string{"Dark mode", "changed"}},
	{"promotion", "/namespaces/default/compare?from=staging", func(t *testing.T, _ *shop, v *visitor) {
		v.Follow(t, click(named("button", "Review")))
	}, []string{"Shipping that costs nothing"}},
	{"palette", flagsPath, func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		v.Await(t, "document.querySelector('dialog[open] [role=combobox]') === document.activeElement")
		v.Do(t, chromedp.KeyEvent("checkout"))
		v.Await(t, "document.querySelector('[role=option][aria-selected=true]')?.innerText.includes('heckout')")
	}, []string{"Checkout redesign", "Turn off Checkout redesign"}},
	{"dialog", booleanPath, func(t *testing.T, _ *shop, v *visitor) {
		press(t, v, "t")
		awaitText(t, v, "dialog[open] h2", "Turn off “Dark mode” for everyone?")
	}, []string{"Keep it as it is"}},
	{"selection", flagsPath, func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, click(css("tbody tr:nth-child(2) .pick input")))
	}, []string{"1 selected"}},
	{"token-created", "/settings/new-token", func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, chromedp.SendKeys(css("#name"), "checkout-web"))
		v.Follow(t, chromedp.KeyEvent(kb.Enter))
	}, []string{"checkout-web", "curl"}},
	{"webhook-created", "/settings/new-webhook", func(t *testing.T, _ *shop, v *visitor) {
		v.Do(t, chromedp.SendKeys(css("#name"), "Edge cache"), chromedp.SendKeys(css("#url"), nowhere))
		v.Follow(t, chromedp.KeyEvent(kb.Enter))
	}, []string{"Edge cache", "standardwebhooks"}},
	{"webhook", "/settings/webhooks", func(t *testing.T, _ *shop, v *visitor) {
		v.Follow(t, click(css("a.row")))
		v.Follow(t, click(do("test")))
	}, []string{"The test failed: address not allowed.", "Edge cache", "CloudEvents", "Rotate the secret"}},
	{"webhook-failing", "/settings/webhooks", func(t *testing.T, s *shop, v *visitor) {
		s.change(t, http.MethodPut, "/api/v1"+flagsPath+"/wishlist", map[string]any{"name": "Wishlist", "description": "Sent"})
		v.Follow(t, click(css("a.row")))
		path := eval[string](t, v, "location.pathname")
		for start := time.Now(); !strings.Contains(v.Main(t), "Try again now") && time.Since(start) < patience; {
			v.Visit(t, path)
		}
	}, []string{"Failing since", "Changes of default wait", "default@"}},
	{"webhook-problem", "/settings/new-webhook", func(t *testing.T, _ *shop, v *visitor) {
		v.Follow(t, click(named("button", "Create webhook")))
	}, []string{"1 thing to fix", "This must not be empty."}},
	{"webhook-paused", "/settings/webhooks", func(t *testing.T, _ *shop, v *visitor) {
		v.Follow(t, click(css("a.row")))
		v.Follow(t, click(do("pause")))
		v.Visit(t, "/settings/webhooks")
	}, []string{"Edge cache", "Paused"}},
	{"webhook-delete", "/settings/webhooks", func(t *testing.T, _ *shop, v *visitor) {
		v.Follow(t, click(css("a.row")))
		v.Follow(t, click(named("a", "Delete webhook …")))
	}, []string{"Delete the webhook “Edge cache”?", "Keep webhook"}},
	{"announced", booleanPath + "?edit=2", func(t *testing.T, s *shop, v *visitor) {
		enter(t, v, "rule-1-share", "40")
		awaitText(t, v, ".savebar", "1 unsaved change")
		s.change(t, http.MethodPut, "/api/v1"+booleanPath, map[string]any{"name": "Dark mode", "description": "Theirs", "enabled": false})
		awaitText(t, v, "[data-changed]", "Merge now")
	}, []string{"just now. See it Merge now"}},
	{"conflict", booleanPath + "?edit=2", func(t *testing.T, s *shop, v *visitor) {
		enter(t, v, "rule-1-share", "40")
		awaitText(t, v, ".savebar", "1 unsaved change")
		other := v.Tab(t)
		other.Visit(t, booleanPath+"?edit=2")
		enter(t, other, "rule-1-share", "30")
		awaitText(t, other, ".savebar", "1 unsaved change")
		other.Follow(t, click(do("save")))
		v.Follow(t, click(do("save")))
	}, []string{"while you were editing"}},
}

// TestStates: pages are as accessible as ever after what visitors do there.
func TestStates(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			v.Resize(t, desktop)
			v.Visit(t, state.path)
			state.reach(t, s, v)
			for _, text := range state.texts {
				awaitText(t, v, "dialog[open], body:not(:has(dialog[open])) main", text)
			}
			quiet(t, v)
			for _, look := range []look{desktop, phone.InTheDark()} {
				v.Resize(t, look)
				report(t, v.Axe(t))
			}
			v.Resize(t, narrow)
			report(t, v.Overflow(t))
		})
	}
}
