package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// draftCountryShare adds a rule for 20% of the users in Sweden to a new boolean flag, and returns how
// often it clicked.
func draftCountryShare(t *testing.T, s *shop, v *visitor) (clicks int) {
	t.Helper()
	s.change(t, http.MethodPost, "/api/v1/namespaces/default/flags", map[string]any{"key": "swedish-checkout", "name": "Swedish checkout", "type": "BOOLEAN_FLAG_TYPE"})
	v.Visit(t, flagsPath+"/swedish-checkout")
	press := func(target chromedp.Action[chromedp.Void]) {
		t.Helper()
		clicks++
		v.Do(t, target)
	}
	const constraint = "rule.0.if.0.constraint.0."
	press(click(named("summary", "Add rule")))
	press(click(named("button", "Those who match")))
	awaitFocus(t, v, constraint+"type")
	v.Do(t, chromedp.KeyEvent(kb.Tab+"country"+kb.Tab+kb.Tab+kb.Tab+"SE"))
	press(click(named("summary", "Add condition")))
	press(click(named("button", "Only a portion")))
	awaitFocus(t, v, "rule-0-portion-share")
	v.Do(t, chromedp.KeyEvent("20"))
	awaitText(t, v, ".savebar", "20%")
	return clicks
}

// TestCountryShare: 20% of the users in Sweden take six clicks at most, and these users are on.
func TestCountryShare(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	clicks := draftCountryShare(t, s, v) + 1 // with Save
	v.Follow(t, click(do("save")))
	if clicks > 6 {
		t.Errorf("it took %d clicks", clicks)
	}
	awaitText(t, v, ".rule .who", "If country is SE, 20% of them")
	var entities []string
	for i := range 1000 {
		entities = append(entities, fmt.Sprint("user-", i))
	}
	on := strings.Count(strings.Join(s.answersOf(t, "default", "swedish-checkout", entities, map[string]string{"country": "SE"}), " "), "On")
	if on < 150 || on > 250 {
		t.Errorf("%d of 1000 users in Sweden are on", on)
	}
	s.answers(t, "default", "swedish-checkout", "user-1", map[string]string{"country": "DE"}, "Off")
}

// TestBeginTomorrow: a rule for everyone begins tomorrow at 09:00, and the page says so.
func TestBeginTomorrow(t *testing.T) {
	s := openShop(t)
	s.change(t, http.MethodPost, "/api/v1/namespaces/default/flags", map[string]any{"key": "winter-sale", "name": "Winter sale", "type": "BOOLEAN_FLAG_TYPE"})
	v := s.visitor(t, admin)
	v.Visit(t, flagsPath+"/winter-sale")
	v.Do(t, click(named("summary", "Add rule")), click(named("button", "A share of everyone")))
	awaitFocus(t, v, "rule-0-share")
	v.Do(t, chromedp.KeyEvent("100"))
	v.Do(t, click(named("summary", "Add condition")), click(named("button", "From or until a time")))
	awaitFocus(t, v, "rule-0-times-from")
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Truncate(24 * time.Hour).Add(9 * time.Hour)
	v.Do(t, chromedp.KeyEvent(tomorrow.Format("01022006")+kb.Tab+tomorrow.Format("030405PM")))
	v.Await(t, fmt.Sprintf("document.activeElement.value === %q", tomorrow.Format("2006-01-02T15:04")))
	words := tomorrow.Format("2 January 2006 15:04 UTC")
	awaitText(t, v, ".savebar", "From "+words+": Everyone gets On.")
	v.Follow(t, click(do("save")))
	awaitText(t, v, ".rule .who", "100% of everyone who gets here from "+words)
	awaitText(t, v, ".rule", "Not yet in force.")
	awaitText(t, v, ".rail", "Coming up "+words+" Rule 1 begins: 100%: on")
	s.answers(t, "default", "winter-sale", "user-1", nil, "Off")
	for _, look := range []look{desktop, phone.InTheDark()} {
		v.Resize(t, look)
		report(t, v.Axe(t))
	}
	v.Resize(t, narrow)
	report(t, v.Overflow(t))
}

// TestRampThreeDays: a new flag is raised to 100% over three days with eight clicks at most, and paused
// in a dialog.
func TestRampThreeDays(t *testing.T) {
	s := openShop(t)
	s.change(t, http.MethodPost, "/api/v1/namespaces/default/flags", map[string]any{"key": "new-search", "name": "New search", "type": "BOOLEAN_FLAG_TYPE"})
	v := s.visitor(t, admin)
	v.Visit(t, flagsPath+"/new-search")
	clicks := 1 // with Save
	press := func(target chromedp.Action[chromedp.Void]) {
		t.Helper()
		clicks++
		v.Do(t, target)
	}
	press(click(named("summary", "Add rule")))
	press(click(named("button", "A share of everyone")))
	awaitFocus(t, v, "rule-0-share")
	v.Do(t, chromedp.KeyEvent("100"))
	press(click(named("button", "Raise over time")))
	awaitFocus(t, v, "rule-0-ramp-over")
	v.Do(t, chromedp.KeyEvent("3"))
	awaitText(t, v, ".raise .follows", ": 75%")
	v.Follow(t, click(do("save")))
	if clicks > 8 {
		t.Errorf("it took %d clicks", clicks)
	}
	awaitText(t, v, ".rule .who", "100% of everyone who gets here reached over 72h from")
	awaitText(t, v, ".rule .ramp", "0% now")
	awaitText(t, v, ".rail", "Rule 1 is for 1%")
	s.answers(t, "default", "new-search", "user-1", nil, "Off")
	for _, look := range []look{desktop, phone.InTheDark()} {
		v.Resize(t, look)
		report(t, v.Axe(t))
	}
	v.Resize(t, narrow)
	report(t, v.Overflow(t))
	v.Resize(t, desktop)
	v.Do(t, click(css(".rule .ramp a")))
	awaitText(t, v, "dialog[open] h2", "Pause the ramp of rule 1?")
	v.Follow(t, click(css("dialog .buttons button")))
	awaitText(t, v, ".rule .ramp", "0% now, paused")
}

// TestNeedsFlag: a rule is made to need another flag, and holds once that is on.
func TestNeedsFlag(t *testing.T) {
	s := openShop(t)
	for _, key := range []string{"invoices", "new-api"} {
		s.change(t, http.MethodPost, "/api/v1/namespaces/default/flags", map[string]any{"key": key, "name": key, "type": "BOOLEAN_FLAG_TYPE"})
	}
	v := s.visitor(t, admin)
	v.Visit(t, flagsPath+"/invoices")
	v.Do(t, click(named("summary", "Add rule")), click(named("button", "Everyone")))
	v.Do(t, click(named("summary", "Add condition")), click(named("button", "Needs another flag")))
	awaitFocus(t, v, "rule-0-requires-add")
	v.Do(t, chromedp.KeyEvent("new-api"+kb.Enter))
	v.Await(t, `document.getElementById("rule-0-requires-0")?.checked`)
	v.Do(t, click(named("summary", "Add rule")), click(named("button", "This flag needs another")))
	awaitFocus(t, v, "requires-add")
	v.Do(t, chromedp.KeyEvent("checkout-redesign"), click(do("need:flag")))
	awaitText(t, v, ".rule.else.edit", "Needs Checkout redesign to be")
	v.Do(t, click(css(`input[name="requires.0.is"][value="one-page"]`)), click(css(`input[name="requires.0.is"][value="classic"]`)), click(do("needs:done")))
	v.Await(t, `document.activeElement.value === "needs:edit"`)
	awaitText(t, v, ".rule.else .who", "This flag needs checkout-redesign to be classic or one-page")
	for _, look := range []look{desktop, phone.InTheDark()} {
		v.Resize(t, look)
		report(t, v.Axe(t))
	}
	v.Resize(t, narrow)
	report(t, v.Overflow(t))
	v.Resize(t, desktop)
	v.Do(t, click(do("needs:edit")))
	v.Do(t, click(do("unneed:flag:0")))
	v.Await(t, `document.activeElement.value === "need:flag"`)
	v.Follow(t, click(do("save")))
	awaitText(t, v, ".rule .who", "Everyone needs new-api to be on")
	s.answers(t, "default", "invoices", "user-1", nil, "Off")
	v.Visit(t, flagsPath+"/new-api")
	awaitText(t, v, ".rail", "Required by 1 invoices 1 rule")
	report(t, v.Axe(t))
	v.Do(t, click(do("add:share")))
	awaitFocus(t, v, "rule-0-share")
	v.Do(t, chromedp.KeyEvent("100"))
	v.Follow(t, click(do("save")))
	s.answers(t, "default", "invoices", "user-1", nil, "On")
}

// addedConditions are buttons that add a condition to the first rule, and the fields that then have
// the focus.
var addedConditions = []struct{ button, focus string }{
	{"with:0:if", "rule.0.if.0.constraint.0.type"}, {"with:0:except", "rule-0-except-add"}, {"with:0:portion", "rule-0-portion-share"},
	{"with:0:times", "rule-0-times-from"}, {"with:0:needs", "rule-0-requires-add"},
}

// TestConditionsByKeys: a group, an exception and a division are added and removed with the keyboard
// alone, and the focus is always in the rule.
func TestConditionsByKeys(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, variantPath+"?edit=1")
	for _, step := range addedConditions {
		v.Do(t, chromedp.Focus(named("summary", "Add condition")), chromedp.KeyEvent(kb.Enter))
		v.Do(t, chromedp.Focus(css(`button[value="`+step.button+`"]`)), chromedp.KeyEvent(kb.Enter))
		awaitFocus(t, v, step.focus)
	}
	v.Do(t, chromedp.Focus(css(`button[value="add:0:rule.0.if.0."]`)), chromedp.KeyEvent(kb.Enter))
	awaitFocus(t, v, "rule.0.if.0.constraint.1.type")
	enter(t, v, "rule.0.if.0.constraint.0.property", "country", "rule.0.if.0.constraint.0.text", "SE")
	v.Do(t, chromedp.Focus(css(`button[value="done:0:rule.0.if.0."]`)), chromedp.KeyEvent(kb.Enter))
	v.Await(t, `document.activeElement.value === "edit:0:rule.0.if.0."`)
	v.Do(t, chromedp.Focus(css(`button[value="without:0:portion"]`)), chromedp.KeyEvent(kb.Enter))
	v.Await(t, `!document.getElementById("rule-0-portion-share") && document.querySelector(".rule.edit").contains(document.activeElement)`)
}

// TestTypedOperator: the operator that is typed by its name is chosen, however fast.
func TestTypedOperator(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, segmentPath)
	v.Do(t, click(do("add")))
	awaitFocus(t, v, "constraint.1.type")
	v.Do(t, chromedp.KeyEvent(kb.Tab+"app"+kb.Tab))
	for _, r := range "is one o" {
		v.Do(t, chromedp.KeyEvent(string(r)))
		v.Do(t, chromedp.Sleep(60_000_000)) // as people type: responses arrive in between
	}
	v.Await(t, `document.getElementById("constraint.1.list")`)
	v.Await(t, `document.activeElement.name === "constraint.1.operator" && document.activeElement.value === "isoneof"`)
	v.Do(t, chromedp.KeyEvent("d")) // begins another name
	v.Do(t, chromedp.KeyEvent(kb.Tab))
	v.Await(t, `document.getElementById("constraint.1.operator").value === "notcontains" && document.getElementById("constraint.1.text")`)
}

// delay delays what the page fetches.
func delay(t *testing.T, v *visitor) {
	t.Helper()
	eval[chromedp.Void](t, v, `(send => {
		XMLHttpRequest.prototype.send = function(body) { setTimeout(() => send.call(this, body), 300); };
	})(XMLHttpRequest.prototype.send)`)
}

// TestLeftDuringResponse: what is entered while the page waits for a response is kept, also in
// fields without the focus, which stays where it is.
func TestLeftDuringResponse(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	for _, test := range []struct {
		path   string
		button css
		field  css // gets the focus then
		enter  chromedp.Action[chromedp.Void]
		want   string
	}{
		{"/namespaces/default/new-segment", do("add"), "[name=name]", chromedp.KeyEvent("Slow" + kb.Tab), `name: "Slow", key: "slow", "constraint.1.type": "1"`},
		{variantPath + "/variants", do("edit:0"), "", click(css("#variant-1-row [name=default]")), `default: "1"`},
		{playgroundPath, do("add"), "[name=entity]", chromedp.KeyEvent("somebody" + kb.Tab), `entity: "somebody"`},
	} {
		v.Visit(t, test.path)
		delay(t, v)
		eval[chromedp.Void](t, v, "void (window.before = document.querySelector('main form[data-draft], form[data-lab]'))")
		v.Do(t, click(test.button))
		if test.field != "" {
			v.Do(t, chromedp.Focus(test.field))
		}
		v.Do(t, test.enter)
		focus := eval[string](t, v, "document.activeElement.name")
		v.Await(t, "!window.before.isConnected")
		v.Page(t)
		if !eval[bool](t, v, `(want => Object.entries(want).every(([name, value]) =>
			new FormData(document.querySelector("main form[data-draft], form[data-lab]")).get(name) === value))({`+test.want+"})") {
			t.Errorf("%s: not kept: %s", test.path, test.want)
		}
		if got := eval[string](t, v, "document.activeElement.name"); got != focus {
			t.Errorf("%s: the focus moved from %q to %q", test.path, focus, got)
		}
	}
}

// TestTypedDuringResponse: what is typed while the page waits for a response is kept.
func TestTypedDuringResponse(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, segmentPath)
	v.Do(t, click(do("add")))
	awaitFocus(t, v, "constraint.1.type")
	delay(t, v)
	v.Do(t, choose(css(`select[name="constraint.1.operator"]`), "contains"), chromedp.Focus(css(`input[name="constraint.1.text"]`)))
	for _, r := range "some text" {
		v.Do(t, chromedp.KeyEvent(string(r)))
		v.Do(t, chromedp.Sleep(50_000_000))
	}
	v.Await(t, `!document.querySelector("[aria-busy]") && document.querySelector('select[name="constraint.1.operator"] option:checked').value === "contains"`)
	v.Await(t, `document.getElementById("constraint.1.text").value === "some text" && document.activeElement.id === "constraint.1.text"`)
}
