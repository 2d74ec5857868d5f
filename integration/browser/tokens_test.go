package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestTokens: a token is created and shown once, may do what its role says where it says, and
// stops working when it is deleted.
func TestTokens(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	create := func(name, role, namespace string) string {
		t.Helper()
		v.Visit(t, "/settings/new-token")
		v.Do(t, chromedp.SendKeys(chromedp.ID("name"), name), choose(chromedp.ID("role"), role))
		if namespace != "" {
			v.Do(t, click(css("input[name=where][value=some]")), chromedp.SendKeys(chromedp.ID("namespaces"), namespace))
		}
		p := v.Follow(t, click(named("button", "Create token")))
		token := eval[string](t, v, "document.querySelector('.secret input')?.value ?? ''")
		if p.Status != http.StatusOK || token == "" || strings.Contains(p.URL, token) {
			t.Fatalf("got status %d at %s: %s", p.Status, p.URL, v.Main(t))
		}
		return token
	}
	status := func(token, method, path string, body any) int {
		t.Helper()
		a, err := s.Call(t.Context(), method, path, body, "Authorization: Bearer "+token)
		if err != nil {
			t.Fatal(err)
		}
		return a.Status
	}
	evaluation := func(namespace string) map[string]any {
		return map[string]any{"namespaceKey": namespace, "flagKey": "dark-mode", "entityId": "e"}
	}
	evaluator := create("evaluates default", "evaluator", "default")
	if text := v.Main(t); !strings.Contains(text, evaluator) && count(t, v, "[data-copy='"+evaluator+"']") != 1 {
		t.Errorf("the token cannot be copied: %s", text)
	}
	v.Follow(t, chromedp.Reload())
	if html := eval[string](t, v, "document.documentElement.outerHTML"); strings.Contains(html, evaluator) {
		t.Error("the page shows the token again when it is loaded again")
	}
	awaitText(t, v, "main", "cannot be shown again")
	editor := create("edits everywhere", "editor", "")
	for _, test := range []struct {
		token, method, path string
		body                any
		want                int
	}{
		{evaluator, http.MethodPost, "/evaluate/v1/boolean", evaluation("default"), http.StatusOK},
		{evaluator, http.MethodPost, "/evaluate/v1/boolean", evaluation("staging"), http.StatusForbidden},
		{evaluator, http.MethodGet, "/api/v1/namespaces/default/flags", nil, http.StatusForbidden},
		{editor, http.MethodPut, "/api/v1/namespaces/staging/flags/dark-mode", map[string]any{"name": "Dark"}, http.StatusOK},
		{editor, http.MethodGet, "/auth/v1/tokens", nil, http.StatusForbidden},
	} {
		if got := status(test.token, test.method, test.path, test.body); got != test.want {
			t.Errorf("%s %s: got status %d, want %d", test.method, test.path, got, test.want)
		}
	}

	v.Visit(t, "/settings/tokens")
	row := "//tr[contains(., 'evaluates default')]"
	if text := eval[string](t, v, `document.evaluate("`+row+`", document).iterateNext().innerText`); !strings.Contains(text, "Evaluate") || !strings.Contains(strings.ToLower(text), "default") {
		t.Errorf("the row says %s", text)
	}
	v.Follow(t, click(chromedp.Search(row+"//a[normalize-space(.)='Delete']")))
	v.Follow(t, click(named("button", "Delete token")))
	awaitText(t, v, "main", "The token was deleted. It no longer works.")
	if got := status(evaluator, http.MethodPost, "/evaluate/v1/boolean", evaluation("default")); got != http.StatusUnauthorized {
		t.Errorf("a deleted token: got status %d", got)
	}

	for i := range 120 {
		s.Must(t, http.MethodPost, "/auth/v1/method/token", map[string]any{"name": fmt.Sprint("many-", i)}, nil, authorized)
	}
	seen := make(map[string]bool)
	v.Visit(t, "/settings/tokens")
	pages := 1
	for ; ; pages++ {
		for _, name := range eval[[]string](t, v, "[...document.querySelectorAll('tbody th b')].map(e => e.innerText)") {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		if count(t, v, ".pager a[href*='page=']") == 0 {
			break
		}
		v.Follow(t, click(named("a", "Next page")))
	}
	if len(seen) != 120+3 || pages < 2 { // the bootstrap token, that of the viewer and of the editor
		t.Errorf("%d tokens on %d pages: %v", len(seen), pages, seen)
	}
	quiet(t, v)
}

// TestTokensOff: with the method off, the section says so, and how to turn it on.
func TestTokensOff(t *testing.T) {
	s := harness.Start(t, harness.SQLiteURL(t))
	v := newVisitor(t, s.URL)
	v.Visit(t, "/settings/tokens")
	awaitText(t, v, "main", "Static tokens are off")
	awaitText(t, v, "main", "authentication.methods.token.enabled")
	if got := count(t, v, "main a[href$='/new-token']"); got != 0 {
		t.Error("a token can be created")
	}
	quiet(t, v)
}
