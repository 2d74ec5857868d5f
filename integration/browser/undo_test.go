package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The keys that undo the last step of a draft, and do it again.
var (
	undo = chromedp.KeyEvent("z", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	redo = chromedp.KeyEvent("Z", chromedp.KeyModifiers(chromedp.ModifierMeta, chromedp.ModifierShift))
)

// leave takes the focus out of a field.
func leave(t *testing.T, v *visitor) {
	t.Helper()
	eval[chromedp.Void](t, v, "document.activeElement.blur()")
}

// step is one step of a draft, and a condition that is true until the next one.
type step struct {
	act   func(t *testing.T, v *visitor)
	after string
}

// pressed presses buttons.
func pressed(buttons ...css) func(t *testing.T, v *visitor) {
	return func(t *testing.T, v *visitor) {
		t.Helper()
		for _, button := range buttons {
			v.Do(t, click(button))
		}
	}
}

// entered replaces the text of a field.
func entered(id, text string) func(t *testing.T, v *visitor) {
	return func(t *testing.T, v *visitor) { t.Helper(); retype(t, v, id, text); leave(t, v) }
}

// TestUndo: the steps of each kind of draft are undone, and done again.
func TestUndo(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	const second = "document.querySelectorAll('.rule .who')[1]?.innerText"
	constraints := func(n string) string { return "document.querySelectorAll('.cond').length === " + n }
	for _, test := range []struct {
		name, path, before string
		steps              []step
	}{
		{"rules", variantPath, second + "?.includes('Loyal') && !document.querySelector('.rule.edit')", []step{
			{pressed(do("up:2")), second + "?.includes('All') && !document.querySelector('.rule.edit')"},
			{pressed(css("#ladder .menu summary"), css(`button[value="add:segment"]`)), "document.querySelector('.rule.edit:nth-child(4)')"},
		}},
		{"share", booleanPath + "?edit=2", "document.getElementById('rule-1-share')?.value === '25'", []step{
			{entered("rule-1-share", "40"), "document.getElementById('rule-1-share')?.value === '40'"},
			{entered("rule-1-note", "why"), "document.getElementById('rule-1-note')?.value === 'why'"},
		}},
		{"variants", variantPath + "/variants", "!document.querySelector('.has-open')", []step{
			{pressed(do("add")), "document.getElementById('variant-3-key')?.value === ''"},
			{entered("variant-3-key", "new"), "document.getElementById('variant-3-key')?.value === 'new'"},
			{pressed(do("add")), "document.getElementById('variant-4-key')"},
		}},
		{"constraints", segmentsPath + "/risky-orders", constraints("3"), []step{
			{pressed(do("add")), constraints("4")},
			{pressed(".cond:first-child summary[aria-label]", `.pop [value="remove:0"]`), constraints("3") + " && document.querySelector('.cond.edit')"},
		}},
		{"new flag", "/namespaces/default/new-flag", "document.getElementById('name')?.value === ''", []step{
			{entered("name", "Wish"), "document.getElementById('name')?.value === 'Wish'"},
			{pressed(do("add-metadata")), "document.getElementById('metadata.0.key')"},
		}},
		{"new segment", "/namespaces/default/new-segment", constraints("1"), []step{
			{pressed(do("add")), constraints("2")},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.Visit(t, test.path)
			check := stays(t, v)
			states := []string{test.before}
			v.Await(t, test.before)
			for _, s := range test.steps {
				s.act(t, v)
				v.Await(t, s.after)
				states = append(states, s.after)
			}
			leave(t, v)
			for i := len(states) - 2; i >= 0; i-- {
				v.Do(t, undo)
				v.Await(t, states[i])
				awaitSaid(t, v, "Undone")
			}
			v.Await(t, "!document.querySelector('form[data-draft]').hasAttribute('data-dirty')")
			v.Do(t, undo)
			awaitSaid(t, v, "There is nothing to undo")
			for _, state := range states[1:] {
				v.Do(t, redo)
				v.Await(t, state)
				awaitSaid(t, v, "Done again")
			}
			v.Do(t, redo)
			awaitSaid(t, v, "There is nothing to do again")
			v.Await(t, "document.querySelector('form[data-draft]').hasAttribute('data-dirty')")
			check()
			quiet(t, v)
		})
	}
}

// TestUndoInFields: in a field, the browser undoes what was typed, and nothing else is undone.
func TestUndoInFields(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, booleanPath+"?edit=2")
	v.Do(t, click(do("down:0")))
	awaitText(t, v, ".savebar", "unsaved change")
	v.Do(t, chromedp.Focus(css("[name='rule.0.note']")))
	eval[chromedp.Void](t, v, "window.field = document.activeElement; window.began = field.value")
	v.Do(t, chromedp.KeyEvent("why"))
	v.Await(t, "field.value !== began")
	v.Do(t, undo)
	v.Await(t, "field.value === began")
	v.Page(t)
	if !eval[bool](t, v, "field === document.activeElement") {
		t.Error("the draft was undone, too")
	}
	quiet(t, v)
}

// TestDiscard: Escape closes what is open, and then asks whether to discard the draft.
func TestDiscard(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	escape := chromedp.KeyEvent(kb.Escape)
	asked := func(question string) {
		t.Helper()
		v.Do(t, escape)
		awaitText(t, v, "dialog[open] h2", question)
		awaitFocus(t, v, "Keep editing")
	}
	closed := func() { t.Helper(); v.Await(t, "!document.querySelector('dialog[open], details.menu[open]')") }

	v.Visit(t, booleanPath+"?edit=2")
	check := stays(t, v)
	v.Do(t, escape)
	v.Page(t)
	closed() // nothing is changed yet
	retype(t, v, "rule-1-share", "40")
	asked("Discard 1 unsaved change?")
	if got := v.Axe(t); len(got) > 0 {
		t.Error(got)
	}
	v.Do(t, escape)
	closed()
	awaitFocus(t, v, "rule-1-share")
	v.Do(t, chromedp.Focus(css("[name='rule.1.note']")), chromedp.KeyEvent("why"))
	asked("Discard 2 unsaved changes?")
	v.Do(t, click(named("button", "Keep editing")))
	closed()
	if got := eval[string](t, v, "document.getElementById('rule-1-share').value"); got != "40" {
		t.Errorf("the share is %q then", got)
	}
	for open, key := range map[string]chromedp.Action[chromedp.Void]{
		"details.ns[open]": click(css("details.ns summary")), "dialog[open]": command("k"),
	} {
		v.Do(t, key)
		v.Await(t, "document.querySelector('"+open+"')")
		v.Do(t, escape)
		v.Page(t)
		closed()
	}
	check()
	quiet(t, v)
	asked("Discard 2 unsaved changes?")
	v.Follow(t, click(named("button", "Discard changes")))
	if got := v.Main(t); count(t, v, ".rule.edit") > 0 || !strings.Contains(got, "25%") || strings.Contains(got, "not saved") {
		t.Errorf("discarded, the page is %s", got)
	}

	for path, to := range map[string]string{"/namespaces/default/new-flag": "/flags", "/namespaces/default/new-segment": "/segments"} {
		v.Visit(t, path)
		retype(t, v, "name", "Wish")
		asked("Discard what you entered?")
		if p := v.Follow(t, click(named("button", "Discard changes"))); !strings.HasSuffix(p.URL, to) {
			t.Errorf("%s leads to %s, want %s", path, p.URL, to)
		}
		v.Visit(t, path)
		if strings.Contains(v.Main(t), "not saved") {
			t.Errorf("%s: a discarded draft is offered", path)
		}
	}

	v.Visit(t, segmentsPath+"/risky-orders")
	v.Do(t, click(do("add")))
	awaitFocus(t, v, "constraint.3.type")
	asked("Discard 1 unsaved change?")
	v.Follow(t, click(named("button", "Discard change")))
	if n := count(t, v, ".cond"); n != 3 {
		t.Errorf("%d constraints are left", n)
	}
}
