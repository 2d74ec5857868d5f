package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestNamespaceSettings: a namespace is created, has its colour, asks before changes, and is
// deleted when its key is typed.
func TestNamespaceSettings(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, "/settings/namespaces")
	v.Follow(t, click(named("a", "New namespace")))
	v.Do(t, chromedp.SendKeys(chromedp.ID("name"), "Produktion"), fill(css("#key"), "prod uktion"))
	if p := v.Follow(t, click(do("save"))); p.Status != http.StatusUnprocessableEntity {
		t.Errorf("a bad key has status %d", p.Status)
	}
	v.Follow(t, click(css("button[value^='key:']")))
	v.Do(t, click(css("input[name=color]:not([value=''])")), click(css("input[name=confirm]")))
	if p := v.Follow(t, click(do("save"))); p.Status != http.StatusOK {
		t.Fatalf("got status %d: %s", p.Status, v.Main(t))
	}
	key := "prod-uktion"
	s.change(t, http.MethodPost, "/api/v1/namespaces/"+key+"/flags", map[string]any{"key": "f", "name": "Flag", "type": "BOOLEAN_FLAG_TYPE", "enabled": true})
	v.Visit(t, "/namespaces/"+key+"/flags/f")
	if count(t, v, "#main > .band-line") != 1 {
		t.Error("the page has no line of the namespace's color")
	}
	v.Visit(t, "/namespaces/"+key+"/flags/f/turn-off")
	if p := v.Follow(t, click(css("main form button.danger"))); p.Status != http.StatusUnprocessableEntity {
		t.Errorf("without the namespace's key, got status %d", p.Status)
	}
	s.answers(t, key, "f", "anybody", nil, "On")
	v.Do(t, chromedp.SendKeys(chromedp.ID("namespace"), key))
	v.Follow(t, click(css("main form button.danger")))
	s.answers(t, key, "f", "anybody", nil, "Off")

	v.Visit(t, "/namespaces/"+key+"/settings")
	v.Follow(t, click(css("main a[href$='/delete']")))
	awaitText(t, v, "main", "1 flag")
	v.Await(t, "document.querySelector('[data-confirmed]').disabled")
	v.Do(t, chromedp.SendKeys(chromedp.ID("key"), key))
	v.Await(t, "!document.querySelector('[data-confirmed]').disabled")
	v.Follow(t, click(css("[data-confirmed]")))
	awaitText(t, v, "main", "The namespace was deleted.")
	if p := v.Visit(t, "/namespaces/"+key+"/flags"); p.Status != http.StatusNotFound {
		t.Errorf("it has status %d then", p.Status)
	}
	quiet(t, v)
}

// TestProfile: preferences are saved by the form, and hold on the pages after it.
func TestProfile(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	v.Visit(t, "/settings/profile")
	v.Do(t, click(css("input[name=theme][value=dark]")), fill(css("#zone"), "Asia/Tokyo"), click(css("input[name=keys]")))
	v.Follow(t, click(named("button", "Save appearance")))
	awaitText(t, v, "main", "Saved in this browser.")
	p := v.Visit(t, "/namespaces/default/changes/2")
	if !strings.Contains(p.HTML, `data-theme="dark"`) || !strings.Contains(p.HTML, `data-shortcuts="off"`) {
		t.Error("the page has other preferences")
	}
	if title := eval[string](t, v, "document.querySelector('main time').title"); !strings.Contains(title, "JST") {
		t.Errorf("the time is %s", title)
	}
	v.Visit(t, "/settings/profile")
	v.Do(t, fill(css("#zone"), "Mars/Olympus"))
	if p := v.Follow(t, click(named("button", "Save appearance"))); p.Status != http.StatusUnprocessableEntity {
		t.Errorf("a zone that is none has status %d", p.Status)
	}
	quiet(t, v)
}

// TestNamespaceSwitch: another namespace has the page that one was on.
func TestNamespaceSwitch(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	for _, test := range []struct{ path, to, want string }{
		{flagsPath, "Warehouse", "/namespaces/warehouse/flags"},
		{"/namespaces/default/segments", "Staging", "/namespaces/staging/segments"},
		{"/namespaces/default/changes", "Warehouse", "/namespaces/warehouse/changes"},
		{playgroundPath, "Staging", "/namespaces/staging/playground"},
		{"/namespaces/default/unused", "Staging", "/namespaces/staging/unused"},
		{booleanPath, "Staging", "/namespaces/staging/flags/dark-mode"},
		{booleanPath, "Warehouse", "/namespaces/warehouse/flags"},
		{segmentPath, "Staging", "/namespaces/staging/segments/germany"},
		{segmentPath, "Empty", "/namespaces/empty/segments"},
	} {
		t.Run(test.path+" "+test.to, func(t *testing.T) {
			v.Visit(t, test.path)
			press(t, v, "n")
			v.Await(t, "document.querySelector('details.ns[open]')")
			p := v.Follow(t, click(chromedp.Search("//details[contains(@class, 'ns')]//a[normalize-space(.)='"+test.to+"']")))
			if !strings.HasSuffix(p.URL, test.want) || p.Status != http.StatusOK {
				t.Errorf("leads to %s with status %d, want %s", p.URL, p.Status, test.want)
			}
		})
	}
}
