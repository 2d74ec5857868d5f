package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// contexts returns the rows of saved contexts.
func contexts(t *testing.T, v *visitor) []string {
	t.Helper()
	return eval[[]string](t, v, `document.querySelector('[data-saved]').hidden ? [] :
		[...document.querySelectorAll('[data-saved] tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()).join(' | '))`)
}

// awaitContexts waits until the saved contexts are as wanted.
func awaitContexts(t *testing.T, v *visitor, want ...string) {
	t.Helper()
	v.Await(t, fmt.Sprintf("[...document.querySelectorAll('[data-saved] tbody tr')].length === %d && !document.querySelector('[data-run]').disabled", len(want)))
	if diff := cmp.Diff(want, contexts(t, v)); diff != "" {
		t.Errorf("saved contexts (-want +got):\n%s", diff)
	}
}

// saveContext saves the context of the form under a name.
func saveContext(t *testing.T, v *visitor, proposed, name string) {
	t.Helper()
	v.Do(t, click(css("[data-save-context]")))
	awaitFocus(t, v, "context-name")
	if got := eval[string](t, v, "document.activeElement.value"); got != proposed {
		t.Errorf("the name proposed is %q, want %q", got, proposed)
	}
	v.Do(t, chromedp.KeyEvent(name+kb.Enter))
	v.Await(t, "!document.querySelector('dialog')")
}

// TestSavedContexts: contexts are kept in this browser, asked again, and compared with what
// is expected of them.
func TestSavedContexts(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, playgroundPath+"?flag=dark-mode")
	if got := contexts(t, v); len(got) > 0 {
		t.Errorf("a new browser has %q", got)
	}
	ask := func(entity string) string {
		t.Helper()
		retype(t, v, "entity", entity)
		v.Do(t, click(css("form[data-lab] button.primary")))
		v.Await(t, fmt.Sprintf("new URLSearchParams(location.hash.slice(1)).get('entity') === %q", entity))
		return eval[string](t, v, "document.querySelector('[data-answer]').dataset.answer")
	}
	retype(t, v, "k0", "country")
	retype(t, v, "v0", "DE")
	ada := ask("ada")
	v.Do(t, click(css("[data-save-context]")))
	awaitFocus(t, v, "context-name")
	if found := v.Axe(t); len(found) > 0 {
		t.Error(found)
	}
	v.Do(t, chromedp.KeyEvent(kb.Escape))
	v.Await(t, "!document.querySelector('dialog')")
	if got := contexts(t, v); len(got) > 0 {
		t.Errorf("what was not saved is there: %q", got)
	}
	saveContext(t, v, "ada", `<b>Ada"'`)
	const country = `{"country":"DE"}`
	awaitContexts(t, v, `<b>Ada"' | ada | `+country+` |  | `+ada+` | Delete`)
	awaitText(t, v, "[data-saved]", "Kept in this browser only")

	bob := ask("bob")
	saveContext(t, v, "bob", "Bob")
	v.Follow(t, chromedp.Reload())
	awaitContexts(t, v, `<b>Ada"' | ada | `+country+` |  | `+ada+` | Delete`, `Bob | bob | `+country+` |  | `+bob+` | Delete`)

	run := func() {
		t.Helper()
		v.Do(t, click(css("[data-run]")))
	}
	run()
	awaitSaid(t, v, "All as expected")
	var list struct{ Rules []struct{ ID string } }
	s.Must(t, http.MethodGet, "/api/v1"+booleanPath+"/rollouts", nil, &list, "Authorization: Bearer "+adminToken)
	for _, r := range list.Rules {
		s.change(t, http.MethodDelete, "/api/v1"+booleanPath+"/rollouts/"+r.ID, nil)
	}
	s.change(t, http.MethodPut, "/api/v1"+booleanPath, map[string]any{"name": "Dark mode", "enabled": ada == "Off"})
	other := map[string]string{"On": "Off", "Off": "On"}[ada]
	run()
	awaitSaid(t, v, "not as expected")
	v.Await(t, "document.activeElement.matches('[data-run]')")
	v.Do(t, click(named("button", "Expect this")))
	v.Await(t, "document.querySelector('[data-saved] tbody tr').innerText.includes('as expected')")
	v.Await(t, "document.activeElement.closest('[data-saved] tbody tr')")
	if got, want := contexts(t, v)[0], `<b>Ada"' | ada | `+country+` | `+other+` | as expected | Delete`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if found := v.Axe(t); len(found) > 0 {
		t.Error(found)
	}

	retype(t, v, "entity", "somebody else")
	v.Do(t, click(named("button", "Bob")))
	v.Await(t, "document.getElementById('entity').value === 'bob' && document.querySelector('[data-answer]')")
	v.Do(t, click(css("[data-saved] tbody tr:first-child td:last-child button")))
	v.Await(t, "document.querySelectorAll('[data-saved] tbody tr').length === 1")
	v.Await(t, "document.activeElement.ariaLabel === 'Delete Bob'")
	v.Follow(t, chromedp.Reload())
	v.Await(t, "document.querySelectorAll('[data-saved] tbody tr').length === 1")
	if got := contexts(t, v); !strings.HasPrefix(got[0], "Bob | bob") {
		t.Errorf("then the contexts are %q", got)
	}
	quiet(t, v)

	eval[chromedp.Void](t, v, `localStorage.setItem(Object.keys(localStorage).find(k => k.startsWith('playground')), JSON.stringify(Array.from({length: 60}, (_, i) => ({name: 'n' + i, entity: 'e', context: '', expected: {}}))))`)
	v.Follow(t, chromedp.Reload())
	v.Await(t, "document.querySelectorAll('[data-saved] tbody tr').length === 50")
	saveContext(t, v, "bob", "One more")
	awaitSaid(t, v, "There are 50 contexts already")
}

// TestContextNotLogged: a link restores what was asked, and neither the entity nor its
// context is in a log of the server.
func TestContextNotLogged(t *testing.T) {
	s := openShop(t, "GUIDON_LOG_LEVEL=debug")
	v := s.visitor(t, admin)
	const entity, value = "secret-entity-4711", "secret-value-4711"
	link := url.Values{"flag": {"checkout-redesign"}, "entity": {entity}, "context": {`{"country":"` + value + `"}`}}
	v.Visit(t, playgroundPath+"#"+link.Encode())
	awaitText(t, v, ".answer", "Answer")
	for id, want := range map[string]string{"flag": "checkout-redesign", "entity": entity, "k0": "country", "v0": value} {
		if got := eval[string](t, v, "document.getElementById('"+id+"').value"); got != want {
			t.Errorf("the field %s has %q, want %q", id, got, want)
		}
	}
	saveContext(t, v, entity, value)
	v.Do(t, click(css("[data-run]")))
	awaitSaid(t, v, "All as expected")
	v.Follow(t, chromedp.Reload())
	awaitText(t, v, ".answer", "Answer")

	s.Signal(t, syscall.SIGTERM)
	if code := s.Wait(t); code != 0 {
		t.Errorf("the server ended with code %d", code)
	}
	log := s.Log()
	if strings.Contains(log, entity) || strings.Contains(log, value) {
		t.Error("the log has what was asked")
	}
	if !strings.Contains(log, `"route":"/namespaces"`) || !strings.Contains(log, `/explain"`) {
		t.Error("the log does not have the requests")
	}
}
