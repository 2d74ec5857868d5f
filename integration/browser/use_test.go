package browser

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/guidonhq/guidon/integration/harness"
)

// css selects elements by a CSS selector, of which actions take the first.
type css = chromedp.CSS

// describe is a function that describes an element by its id, its name and value, or its text.
const describe = `(e => e.id || (e.name ? e.name + (e.localName === 'button' ? '=' + e.value : '') : e.ariaLabel || e.textContent.replace(/\s+/g, ' ').trim()))`

// focused describes the element that has the focus.
func focused(t *testing.T, v *visitor) string {
	t.Helper()
	return eval[string](t, v, describe+"(document.activeElement)")
}

// awaitFocus waits until the element with the description has the focus.
func awaitFocus(t *testing.T, v *visitor, want string) {
	t.Helper()
	if got := eval[string](t, v, fmt.Sprintf(`new Promise(resolve => {
		const end = performance.now() + 5000;
		const check = () => {
			const got = %s(document.activeElement);
			if (got === %q || performance.now() > end) resolve(got);
			else requestAnimationFrame(check);
		};
		check();
	})`, describe, want)); got != want {
		t.Fatalf("the focus is on %q, want %q", got, want)
	}
}

// middle returns where the middle of an element is: x and y.
func middle(t *testing.T, v *visitor, selector string) []float64 {
	t.Helper()
	return eval[[]float64](t, v, fmt.Sprintf("(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(%q).getBoundingClientRect())", selector))
}

// retype replaces the text of a field.
func retype(t *testing.T, v *visitor, id, text string) {
	t.Helper()
	eval[chromedp.Void](t, v, fmt.Sprintf("(e => { e.focus(); e.select(); })(document.getElementById(%q))", id))
	v.Do(t, chromedp.KeyEvent(text))
}

// press presses a key that stands for a character, as people do: pages may keep it from being
// typed.
func press(t *testing.T, v *visitor, keys string) {
	t.Helper()
	for _, r := range keys {
		key := string(r)
		call(t, v, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key})
		call(t, v, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key})
	}
}

// pressing returns press as an action.
func pressing(t *testing.T, v *visitor, keys string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(context.Context, *chromedp.Target) error {
		press(t, v, keys)
		return nil
	})
}

// awaitSaid waits until the text is announced to screen readers.
func awaitSaid(t *testing.T, v *visitor, want string) {
	t.Helper()
	v.Await(t, fmt.Sprintf(`[...document.querySelectorAll('[role=status]')].some(e => e.textContent.includes(%q))`, want))
}

// awaitText waits until an element has the text.
func awaitText(t *testing.T, v *visitor, selector, want string) {
	t.Helper()
	v.Await(t, fmt.Sprintf("document.querySelector(%q)?.innerText.replace(/\\s+/g, ' ').includes(%q)", selector, want))
}

// count returns how many elements match the selector.
func count(t *testing.T, v *visitor, selector string) int {
	t.Helper()
	return eval[int](t, v, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// stays gives the page a mark, which another page would not have, and returns a function that
// reports an error unless the mark is there.
func stays(t *testing.T, v *visitor) (check func()) {
	t.Helper()
	eval[chromedp.Void](t, v, "window.stayed = true")
	return func() {
		t.Helper()
		if !eval[bool](t, v, "window.stayed === true") {
			t.Error("the page was left")
		}
	}
}

// quiet reports what the page has complained about since it was opened.
func quiet(t *testing.T, v *visitor) {
	t.Helper()
	p := v.Page(t)
	for _, message := range append(append(p.Console, p.Exceptions...), p.Reports...) {
		t.Error(message)
	}
}

// change sends a request of an admin to the API, past the browser.
func (s *shop) change(t *testing.T, method, path string, body any) {
	t.Helper()
	s.Must(t, method, path, body, nil, "Authorization: Bearer "+adminToken)
}

// revision returns the revision of the namespace default.
func (s *shop) revision(t *testing.T) string {
	t.Helper()
	a, err := s.Call(t.Context(), http.MethodGet, "/api/v1/namespaces/default", nil, "Authorization: Bearer "+adminToken)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(a.Header["Guidon-Revision"], "")
}

// drafter is a visitor who edits a draft.
type drafter struct {
	*visitor
	plain bool // without scripts
}

// fill fills in fields of the draft, by name.
func (v drafter) fill(t *testing.T, fields map[string]string) {
	t.Helper()
	for name, value := range fields {
		v.Do(t, fill(css(`[name="`+name+`"]:not([type=hidden])`), value))
	}
}

// choose chooses an option, by name and value. With scripts, it takes effect at once.
func (v drafter) choose(t *testing.T, name, value string) {
	t.Helper()
	list := `select[name="` + name + `"]`
	if eval[bool](t, v.visitor, fmt.Sprintf("(window.pressed = document.querySelector(%q)).value === %q", list, value)) {
		return
	}
	v.Do(t, choose(css(list), value))
	v.Await(t, "!window.pressed.isConnected")
}

// act fills in fields of the draft, and presses a button of it. With scripts, the page stays
// unless the button opens another.
func (v drafter) act(t *testing.T, fields map[string]string, button string) {
	t.Helper()
	v.fill(t, fields)
	press := v.button(t, button)
	if v.plain || button == "save" || button == "review" {
		v.Follow(t, press)
		return
	}
	v.Do(t, press)
	v.Await(t, "!window.pressed.isConnected")
}

// button waits for a button of the draft, and returns the action that presses it. If it is in a
// menu, that is opened first. The default button, which nobody sees, is pressed by Enter in the
// field with the focus.
func (v drafter) button(t *testing.T, action string) chromedp.Action[chromedp.Void] {
	t.Helper()
	deadline := time.Now().Add(harness.Patience)
	for {
		found := eval[struct {
			Kind  string
			Index int
		}](t, v.visitor, fmt.Sprintf(findButton, action))
		xpath := fmt.Sprintf("(//button[@name='do'][@value='%s'])[%d]", action, found.Index)
		switch found.Kind {
		case "shown":
			return click(chromedp.Search(xpath))
		case "default":
			return chromedp.KeyEvent(kb.Enter)
		case "in a menu":
			return chromedp.Steps(click(chromedp.Search(xpath+"/ancestor::details[1]/summary")), click(chromedp.Search(xpath)))
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is no button %s: %s", action, v.Main(t))
		}
		time.Sleep(20 * time.Millisecond) // a page without scripts cannot await anything
	}
}

// findButton makes a button of the draft the variable pressed, and returns where it is among
// those that do the same.
const findButton = `(action => {
	const all = [...document.querySelectorAll('button[name=do]')].filter(e => e.value === action);
	const find = (kind, is) => {
		const index = all.findIndex(e => e.form?.matches('form[data-draft]') && is(e));
		window.pressed = all[index];
		return index < 0 ? null : {kind, index: index + 1};
	};
	const isShown = e => e.checkVisibility({visibilityProperty: true});
	return find('shown', e => isShown(e) && !e.matches('.vh')) ?? find('in a menu', e => e.closest('details:not([open])'))
		?? find('default', e => e.matches('.vh')) ?? {};
})(%q)`
