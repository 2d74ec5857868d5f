package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// Harm returns the findings that show that a text was taken for a part of the page, and
// those of a server that fails. It opens no dialog by itself.
func (v *visitor) Harm(t testing.TB, p *openedPage) (found []finding) {
	t.Helper()
	for _, f := range p.Findings(v.origin) {
		if slices.Contains([]string{"dialog", "exception", "origin", "policy"}, f.Check) {
			found = append(found, f)
		}
	}
	if eval[bool](t, v, "'"+webtest.HostileMarker+"' in window") {
		found = append(found, finding{"script", "a script of the text was executed"})
	}
	if p.Status >= http.StatusInternalServerError {
		found = append(found, finding{"status", fmt.Sprintf("%s has status %d", p.URL, p.Status)})
	}
	return found
}

// Attack sends a form of the page at the path once for each text, which is then the value
// of all fields that match the selector, such as "#edit [name]:not([type=hidden])". Fields
// with a fixed set of values have the text as well. The form is sent by its first button,
// without the scripts that may do it otherwise. It reports harm as errors.
func (v *visitor) Attack(t testing.TB, path, fields string, texts []string) {
	t.Helper()
	statuses := make(map[int]int)
	again := false
	for _, text := range texts {
		p := v.attack(t, again, path, fields, text)
		if found := v.Harm(t, p); len(found) > 0 {
			t.Errorf("%s with %q: %v", path, text, found)
		}
		statuses[p.Status]++
		// Often the form is there again, with its errors.
		again = eval[bool](t, v, fmt.Sprintf("document.querySelector(%q) !== null", fields))
	}
	t.Logf("%s: responses by status: %v", path, statuses)
}

// attack sends the form once. again means that it is in the page that is open.
func (v *visitor) attack(t testing.TB, again bool, path, fields, text string) *openedPage {
	t.Helper()
	if !again {
		v.load(t, true, chromedp.Navigate(v.Base+path))
	}
	value, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	if n := eval[int](t, v, fmt.Sprintf(fillFields, fields, value)); n == 0 {
		t.Fatalf("%s has no fields %s", path, fields)
	}
	v.load(t, true, chromedp.Evaluate[chromedp.Void]("HTMLFormElement.prototype.submit.call(window.attacked)"))
	p, _ := v.record.copy()
	return p
}

// fillFields sets the fields that match a selector to a text, makes their form the variable
// attacked, and returns how many there are.
const fillFields = `((selector, text) => {
	const fields = [...document.querySelectorAll(selector)];
	for (const f of fields) {
		if (f.localName === 'select') f.append(new Option(text, text, true, true));
		if (f.type === 'radio' || f.type === 'checkbox') f.checked = true;
		else if (f.localName === 'input' && f.type !== 'hidden') f.type = 'text';
		f.value = text;
		window.attacked = f.form;
	}
	const button = window.attacked?.querySelector('button:not([type=button], [type=reset])');
	if (button?.hasAttribute('formaction')) window.attacked.action = button.formAction;
	if (button?.name) {
		const pressed = document.createElement('input');
		Object.assign(pressed, {type: 'hidden', name: button.name, value: button.value});
		window.attacked.append(pressed);
	}
	return fields.length;
})(%q, %s)`
