package browser

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
)

// formAttackConfig configures [visitor.AttackForms].
type formAttackConfig struct {
	Texts []string
	// Size limits how many texts are in a field together, in bytes. The limit of the forms
	// must not be the reason why they are rejected.
	Size int
	// Skip reports whether forms with the action are left out.
	Skip func(action string) bool
}

// alone is how many of the texts a search gets, one at a time: it takes no longer ones.
// [prober.ProbeForms] sends all.
const alone = 2

// maxAttacked is how many fields of a form have a text at once. [prober.ProbeForms] fills all.
const maxAttacked = 24

// AttackForms sends every form of the page at the path, without the scripts that may do it
// otherwise, until each of its fields had all of the texts, several at a time, and one alone,
// which may be accepted; in every other form, the fields that people do not see have one, too.
// A form that only asks, as for a search, gets the first texts, one at a time. The buttons of
// the form take turns. Of forms with the same action and fields, as the rows of a table have
// them, one is sent. It reports harm as errors, and returns how many forms were sent.
func (v *visitor) AttackForms(t testing.TB, path string, with formAttackConfig) (forms int) {
	t.Helper()
	v.load(t, true, chromedp.Navigate(v.Base+path))
	type form struct{ Action, Method, Fields string }
	all := eval[[]form](t, v, `[...document.forms].map(f => ({
		action: f.getAttribute('action') ?? '', method: f.getAttribute('method') ?? 'get', fields: [...f.elements].map(e => e.name).join(' '),
	}))`)
	statuses, seen := make(map[int]int), make(map[form]bool)
	for i, f := range all {
		if with.Skip(f.Action) || seen[f] {
			continue
		}
		seen[f] = true
		batches := inBatches(with.Texts, with.Size)
		if f.Method == "get" {
			batches = with.Texts[:alone]
		}
		a := &formAttack{visitor: v, path: path, form: i, forms: len(all), statuses: statuses}
		if a.run(t, batches, with.Texts) {
			forms++
		}
	}
	t.Logf("%s: %d forms, responses by status: %v", path, forms, statuses)
	return forms
}

// formAttack is the attack on one form of a page.
type formAttack struct {
	*visitor
	path        string
	form, forms int // its index, and how many there are
	statuses    map[int]int
	sent        int
}

// run sends the form with all batches and a text alone, and reports whether it has fields.
func (a *formAttack) run(t testing.TB, batches, texts []string) bool {
	t.Helper()
	for i := range batches {
		if !a.send(t, batches, i, false) && !a.send(t, batches, i, true) {
			return false
		}
	}
	a.send(t, texts, a.form, a.form%2 > 0)
	return true
}

// send sends the form with texts from the first on, one in each of its fields, or reports
// that it has none. hidden means that people need not see the fields.
func (a *formAttack) send(t testing.TB, texts []string, first int, hidden bool) bool {
	t.Helper()
	if !a.isOpen(t) {
		a.load(t, true, chromedp.Navigate(a.Base+a.path))
	}
	rotated := make([]string, maxAttacked)
	for i := range rotated {
		rotated[i] = texts[(first+i)%len(texts)]
	}
	values, err := json.Marshal(rotated)
	if err != nil {
		t.Fatal(err)
	}
	if eval[int](t, a.visitor, fmt.Sprintf(fillForm, a.form, values, hidden, a.sent)) == 0 {
		return false
	}
	a.sent++
	a.load(t, true, chromedp.Evaluate[chromedp.Void]("HTMLFormElement.prototype.submit.call(window.attacked)"))
	p, _ := a.record.copy()
	a.statuses[p.Status]++
	if found := a.Harm(t, p); len(found) > 0 {
		t.Errorf("form %d of %s with %.200q and more: %v", a.form, a.path, rotated[0], found)
	}
	return true
}

// isOpen reports whether the page with the form is open: often it is there again, with the
// problems of what was sent.
func (a *formAttack) isOpen(t testing.TB) bool {
	t.Helper()
	u, err := url.Parse(a.Base + a.path)
	if err != nil {
		t.Fatal(err)
	}
	return a.sent > 0 && eval[bool](t, a.visitor, fmt.Sprintf("location.pathname === %q && location.search === %q && document.forms.length === %d", u.EscapedPath(), search(u), a.forms))
}

func search(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

// fillForm gives the first fields of the form with the index a text each, makes the form the
// variable attacked, presses one of its buttons, and returns how many fields there are.
const fillForm = `((index, texts, hidden, turn) => {
	const form = document.forms[index];
	const elements = [...form.elements];
	const fields = elements.filter(f => f.matches('input, select, textarea') && f.name && !f.disabled && f.type !== 'submit' && (hidden || f.type !== 'hidden'));
	for (const [i, f] of fields.slice(0, texts.length).entries()) {
		const text = texts[i];
		if (f.localName === 'select') f.append(new Option(text, text, true, true));
		if (f.type === 'radio' || f.type === 'checkbox') f.checked = true;
		else if (f.localName === 'input' && f.type !== 'hidden') f.type = 'text';
		f.value = text;
	}
	const buttons = elements.filter(e => e.localName === 'button' && e.type === 'submit' && !e.disabled);
	const button = buttons[turn < 3 ? 0 : turn %% buttons.length];
	if (button?.hasAttribute('formaction')) form.setAttribute('action', button.getAttribute('formaction'));
	if (button?.name) {
		const pressed = document.createElement('input');
		Object.assign(pressed, {type: 'hidden', name: button.name, value: button.value});
		form.append(pressed);
	}
	form.removeAttribute('target');
	window.attacked = form;
	return fields.length;
})(%d, %s, %t, %d)`
