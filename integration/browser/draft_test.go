package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	variantPath = flagsPath + "/checkout-redesign"
	booleanPath = flagsPath + "/dark-mode"

	segmentsPath = "/namespaces/default/segments"
	segmentPath  = segmentsPath + "/germany"
)

// do selects the button that does something to the draft.
func do(action string) css {
	return css(`button[name=do][value="` + action + `"]:not(.pop button, .vh)`)
}

// rules returns the segments of the rules of the flag, in order.
func (s *shop) rules(t *testing.T) string {
	t.Helper()
	var list struct {
		Rules []struct {
			SegmentKey  string
			SegmentKeys []string
		}
	}
	a, err := s.Call(t.Context(), http.MethodGet, "/api/v1"+variantPath+"/rules", nil, "Authorization: Bearer "+adminToken)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(a.Body, &list); err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, r := range list.Rules {
		rules = append(rules, r.SegmentKey+strings.Join(r.SegmentKeys, "+"))
	}
	return strings.Join(rules, " ")
}

// TestDraft: the buttons of a draft work in the page, and saving makes one change.
func TestDraft(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, variantPath)
	check := stays(t, v)
	before := s.revision(t)

	v.Do(t, click(do("edit:2")))
	awaitFocus(t, v, "rule-2-add")
	v.Do(t, chromedp.KeyEvent("erman"+kb.Enter)) // only Germany has it
	awaitText(t, v, ".rule.edit .box", "Germany")
	awaitFocus(t, v, "rule-2-add")
	v.Do(t, click(do("done:2")))
	awaitFocus(t, v, "do=edit:2")
	awaitText(t, v, ".savebar", "1 unsaved change")
	v.Do(t, click(do("up:2")))
	awaitFocus(t, v, "do=up:1")
	awaitSaid(t, v, "2 of 3")
	v.Do(t, click(css(".rule:first-child .tools summary")), click(css(`.rule:first-child .pop [value="remove:0"]`)))
	awaitFocus(t, v, "do=edit:0")
	if got := s.revision(t); got != before {
		t.Errorf("the draft was saved in revision %s", got)
	}
	check()
	quiet(t, v)

	p := v.Follow(t, chromedp.KeyEvent("s", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	if got, want := s.rules(t), "all-visitors+germany loyal-customers+germany"; got != want {
		t.Errorf("saved %q, want %q", got, want)
	}
	if !strings.Contains(p.URL, "?saved=") || eval[string](t, v, "location.search") != "" {
		t.Errorf("got %s, at which the address keeps %q", p.URL, eval[string](t, v, "location.search"))
	}
	if got := eval[int](t, v, "sessionStorage.length"); got != 0 {
		t.Errorf("%d drafts are left after saving", got)
	}
	awaitText(t, v, ".toast", "Saved as revision")
	v.Follow(t, click(css(".toast button")))
	v.Follow(t, click(css("main form[method=post] button.primary, main form[method=post] button.danger")))
	if got, want := s.rules(t), "staff loyal-customers+germany all-visitors"; got != want {
		t.Errorf("undone, got %q, want %q", got, want)
	}
}

// TestPressed: a button that somebody presses stays until it is released, whatever arrives
// meanwhile.
func TestPressed(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, booleanPath+"?edit=2")
	retype(t, v, "rule-1-share", "40")
	awaitText(t, v, ".savebar", "1 unsaved change")
	at := middle(t, v, string(do("save")))
	const asked = "performance.getEntriesByType('resource').filter(e => e.initiatorType === 'xmlhttprequest').length"
	before := eval[int](t, v, asked)
	left := chromedp.Button("left")
	retype(t, v, "rule-1-share", "41")
	v.Do(t, chromedp.MouseEvent(chromedp.MousePressed, at[0], at[1], left, chromedp.ClickCount(1)))
	v.Await(t, fmt.Sprintf("%s > %d", asked, before))
	v.Page(t) // has nothing left to do
	v.Follow(t, chromedp.MouseEvent(chromedp.MouseReleased, at[0], at[1], left, chromedp.ClickCount(1)))
	if got := s.content(t, "default", booleanContent); !strings.Contains(got, `"percentage":41`) {
		t.Errorf("got %s, want 41%%", got)
	}
}

// TestLineNumbers: the lines of an attachment have numbers, which scroll with them.
func TestLineNumbers(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, variantPath+"/variants?edit=1")
	const lines = "document.querySelector('[data-lines]')"
	v.Await(t, lines+".dataset.numbers === '1'")
	retype(t, v, "variant-0-attachment", "[\n"+strings.Repeat("1,\n", 40)+"2]")
	v.Await(t, lines+".dataset.numbers.endsWith('\\n41\\n42')")
	eval[chromedp.Void](t, v, "document.getElementById('variant-0-attachment').scrollTop = 200")
	v.Await(t, lines+".scrollTop === 200")
	v.Do(t, click(do("format:0")))
	v.Await(t, lines+".dataset.numbers.endsWith('\\n43')")
	quiet(t, v)
}

// TestShares: sliders and numbers agree, and what is typed has its effect at once.
func TestShares(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, booleanPath+"?edit=2")
	if count(t, v, "main .savebar") > 0 && eval[bool](t, v, "document.querySelector('.savebar').checkVisibility()") {
		t.Error("there is a save bar without a difference")
	}
	check := stays(t, v)
	const slider = "input[type=range]"
	v.Do(t, chromedp.Focus(css(slider)), chromedp.KeyEvent(kb.ArrowRight))
	v.Await(t, "document.getElementById('rule-1-share').value === '26'")
	awaitText(t, v, ".savebar", "1 unsaved change")
	v.Do(t, chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	v.Await(t, "document.getElementById('rule-1-share').value === '36'")
	awaitText(t, v, ".rule.edit .legend", "newly on 11%")
	if got := focused(t, v); !strings.Contains(got, "") || eval[string](t, v, "document.activeElement.type") != "range" {
		t.Errorf("the focus is on %q, want the slider", got)
	}
	retype(t, v, "rule-1-share", "50")
	v.Await(t, "document.querySelector('"+slider+"').value === '50'")
	awaitText(t, v, ".rule.edit .legend", "newly on 25%")
	if got := focused(t, v); got != "rule-1-share" {
		t.Errorf("the focus is on %q, want the number", got)
	}

	check()
	v.Visit(t, variantPath+"?edit=3")
	check = stays(t, v)
	for i := range 3 {
		retype(t, v, "rule-2-share-"+strconv.Itoa(i), "33.33")
	}
	awaitText(t, v, ".rule.edit .sum", "99.99%")
	v.Do(t, click(do("rest:2:1")))
	awaitText(t, v, ".rule.edit .sum", "100%")
	if got := eval[string](t, v, "document.getElementById('rule-2-share-1').value"); got != "33.34" {
		t.Errorf("the rest makes %q, want 33.34", got)
	}
	retype(t, v, "rule-2-share-0", "50")
	awaitText(t, v, ".rule.edit .sum", "116.67%")
	check()
	p := v.Follow(t, click(do("save")))
	if p.Status != http.StatusUnprocessableEntity || eval[string](t, v, "document.activeElement.getAttribute('role')") != "alert" {
		t.Errorf("over 100%% has status %d, and the focus is on %q", p.Status, focused(t, v))
	}
	if got := eval[string](t, v, "document.getElementById('rule-2-share-0').value"); got != "50" {
		t.Errorf("what was typed is %q then", got)
	}
}

// TestReorder: rules and constraints move by the arrow keys on the grip, by dragging it, and by
// buttons.
func TestReorder(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	for _, test := range []struct{ name, path, item, about, noun string }{
		{"rules", variantPath, ".rule:not(.else)", ".who", "Rule"},
		{"constraints", segmentsPath + "/risky-orders", ".cond", ".prop code", "Constraint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.Visit(t, test.path)
			check := stays(t, v)
			items := "[...document.querySelectorAll('" + test.item + "')]"
			eval[chromedp.Void](t, v, "window.began = "+items+".map(e => e.querySelector('"+test.about+"').innerText)")
			n := count(t, v, test.item)
			// The items are in the order of their places when the page was opened.
			order := func(want ...int) {
				t.Helper()
				for i := len(want); i < n; i++ {
					want = append(want, i)
				}
				text, err := json.Marshal(want)
				if err != nil {
					t.Fatal(err)
				}
				v.Await(t, items+".map(e => window.began.indexOf(e.querySelector('"+test.about+"').innerText)).join() === '"+strings.Trim(string(text), "[]")+"'")
			}
			said := func(place int) { t.Helper(); awaitSaid(t, v, fmt.Sprintf("%s %d of %d", test.noun, place, n)) }
			order()
			v.Do(t, chromedp.Focus(css(test.item+" .grip")), chromedp.KeyEvent(kb.ArrowDown))
			order(1, 0, 2)
			said(2)
			v.Await(t, "document.activeElement === document.querySelectorAll('.grip')[1]")
			v.Do(t, chromedp.KeyEvent(kb.ArrowDown))
			order(1, 2, 0)
			said(3)
			v.Await(t, "document.activeElement === document.querySelectorAll('.grip')[2]")
			for i := 3; i < n; i++ {
				v.Do(t, chromedp.KeyEvent(kb.ArrowDown))
				said(i + 1)
			}
			v.Do(t, chromedp.KeyEvent(kb.ArrowDown))
			awaitSaid(t, v, "It cannot go further")
			for i := n - 1; i > 2; i-- {
				v.Do(t, chromedp.KeyEvent(kb.ArrowUp))
				said(i)
			}
			order(1, 2, 0)
			v.Do(t, chromedp.KeyEvent(kb.ArrowUp+kb.ArrowUp)) // faster than the responses
			order(0, 1, 2)
			v.Do(t, chromedp.KeyEvent(kb.ArrowDown+kb.ArrowDown))
			order(1, 2, 0)

			from, to := middle(t, v, test.item+":nth-child(3) .grip"), middle(t, v, test.item+":first-child")
			left := chromedp.Button("left")
			v.Do(t,
				chromedp.MouseEvent(chromedp.MouseMoved, from[0], from[1]),
				chromedp.MouseEvent(chromedp.MousePressed, from[0], from[1], left, chromedp.ClickCount(1)),
				chromedp.MouseEvent(chromedp.MouseMoved, from[0], (from[1]+to[1])/2, left),
				chromedp.MouseEvent(chromedp.MouseMoved, from[0], to[1], left))
			if count(t, v, test.item+".before") != 1 {
				t.Error("no item is marked as the target")
			}
			v.Do(t, chromedp.MouseEvent(chromedp.MouseReleased, from[0], to[1], left, chromedp.ClickCount(1)))
			order(0, 1, 2)
			v.Do(t, click(css(test.item+":nth-child(2) .tools summary")), click(css(test.item+`:nth-child(2) .pop [value="up:1"]`)))
			order(1, 0, 2)
			said(1)
			check()
			quiet(t, v)
		})
	}
}

// TestKeptDraft: a draft survives a reload, and is offered until it is saved or discarded.
func TestKeptDraft(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	for _, test := range []struct{ name, path, field, text, offered string }{
		{"targeting", booleanPath + "?edit=2", "rule-1-share", "40", "40%"},
		{"details", booleanPath + "/details", "name", "Night mode", "Night mode"},
		{"new flag", "/namespaces/default/new-flag", "name", "Something new", "Something new"},
		{"segment", segmentsPath + "/germany", "entity", "ada", "ada"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.Visit(t, test.path)
			retype(t, v, test.field, test.text)
			v.Follow(t, chromedp.Reload())
			awaitText(t, v, "main", "You have changes here that are not saved")
			v.Do(t, click(named("button", "Go on editing")))
			v.Await(t, "!document.querySelector('main').innerText.includes('You have changes here that are not saved')")
			v.Await(t, `document.querySelector('main').innerText.includes('`+test.offered+`') || [...document.querySelectorAll('main input')].some(e => e.value === '`+test.offered+`')`)
			v.Follow(t, chromedp.Reload())
			v.Do(t, click(named("button", "Discard them")))
			v.Follow(t, chromedp.Reload())
			if strings.Contains(v.Main(t), "not saved") || eval[int](t, v, "sessionStorage.length") != 0 {
				t.Error("a discarded draft is offered again")
			}
			quiet(t, v)
		})
	}
}

// TestSegmentDraft: the buttons of the segment editor work in the page.
func TestSegmentDraft(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, segmentsPath+"/germany")
	check := stays(t, v)
	v.Do(t, click(do("add")))
	awaitFocus(t, v, "constraint.1.type")
	v.Do(t, chromedp.SendKeys(css(`[id="constraint.1.property"]`), "country"))
	v.Do(t, choose(css(`[id="constraint.1.type"]`), "3"))
	v.Await(t, `!document.getElementById('constraint.1.text')`)
	v.Page(t) // the fields of the other type are there, with the focus
	v.Do(t, choose(css(`[id="constraint.1.type"]`), "1"))
	v.Do(t, chromedp.SendKeys(css(`[id="constraint.1.text"]`), "AT"))
	awaitText(t, v, ".savebar", "unsaved change")
	v.Do(t, click(do("done:1")))
	awaitFocus(t, v, "do=edit:1")
	check()
	quiet(t, v)
	v.Follow(t, click(do("save")))
	awaitText(t, v, ".toast", "Saved as revision")
	if got := count(t, v, ".toast"); got != 1 {
		t.Errorf("%d toasts", got)
	}
	if got := eval[int](t, v, "sessionStorage.length"); got != 0 {
		t.Errorf("%d drafts are left after saving", got)
	}
}

// TestNewFlag: the key follows the name until somebody writes one.
func TestNewFlag(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, flagsPath)
	v.Follow(t, pressing(t, v, "c"))
	awaitFocus(t, v, "name")
	v.Do(t, chromedp.KeyEvent("Größe: élan & Co."))
	v.Await(t, "document.getElementById('key').value === 'groesse-elan-co'")
	v.Do(t, chromedp.SendKeys(chromedp.ID("key"), "-2"), chromedp.SendKeys(chromedp.ID("name"), "!"))
	if got := eval[string](t, v, "document.getElementById('key').value"); got != "groesse-elan-co-2" {
		t.Errorf("then the key is %q", got)
	}
	v.Do(t, click(css("[name=type][value=variant]")))
	v.Do(t, click(do("add-variant")))
	awaitFocus(t, v, "variant.2.key")
	p := v.Follow(t, chromedp.KeyEvent("a"+kb.Enter))
	if !strings.Contains(p.URL, "/flags/groesse-elan-co-2?saved=") {
		t.Errorf("Enter leads to %s: %s", p.URL, v.Main(t))
	}
}

// TestSegmentForRule: a rule whose segment does not exist offers a new one, and the draft comes
// back with it.
func TestSegmentForRule(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	before := s.revision(t)
	v.Visit(t, booleanPath)
	v.Do(t, click(css("#ladder .acts summary")), click(css(`#ladder .pop [value="add:segment"]`)))
	awaitFocus(t, v, "rule-2-add")
	v.Do(t, chromedp.KeyEvent("Night owls"+kb.Enter))
	awaitText(t, v, ".rule.edit", "No segment “Night owls”.")
	if p := v.Follow(t, click(do("begin"))); !strings.Contains(p.URL, "/new-segment?flag=dark-mode&rule=2") {
		t.Fatalf("New segment leads to %s", p.URL)
	}
	if got := eval[string](t, v, "document.querySelector('#name').value + ' ' + document.querySelector('#key').value"); got != "Night owls " {
		t.Errorf("the new segment begins with %q", got)
	}
	report(t, v.Axe(t))
	v.Do(t, fill(css(`[name="constraint.0.property"]`), "hour"), fill(css(`[name="constraint.0.text"]`), "3"))
	if p := v.Follow(t, click(css("#segment button.primary"))); p.Status != http.StatusOK || !strings.Contains(p.URL, "/flags/dark-mode") {
		t.Fatalf("Create segment leads to %s with status %d: %s", p.URL, p.Status, v.Main(t))
	}
	awaitText(t, v, ".rule.edit .box", "Night owls")
	awaitText(t, v, ".savebar", "1 unsaved change")
	v.Follow(t, click(do("save")))
	if got := s.content(t, "default", "flags/dark-mode"); !strings.Contains(got, "night-owls") || s.revision(t) == before {
		t.Errorf("got %s", got)
	}
	quiet(t, v)
}

// TestSuggestedShare: what is typed replaces the share with which a new rule begins.
func TestSuggestedShare(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, booleanPath)
	v.Do(t, click(css("main details:has([value='add:share']) > summary")), click(css("main details [value='add:share']")))
	v.Await(t, "document.activeElement.name?.endsWith('.share')")
	id := focused(t, v)
	v.Do(t, chromedp.KeyEvent("20"))
	if got := eval[string](t, v, "document.activeElement.value"); got != "20" {
		t.Errorf("%s is %q after 20 was typed", id, got)
	}
}
