package browser

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// guestbook is a site with a form. It shows what was sent, with or without escaping.
type guestbook struct{ trusting bool }

func (g *guestbook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "frame-src 'none'")
	switch {
	case r.URL.Path == "/away":
		http.Redirect(w, r, "/?text=away", http.StatusSeeOther)
	case r.URL.Path == "/script.js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, "setTimeout(() => { document.title = 'Later' }, 10)")
	case r.URL.Path != "/":
		w.WriteHeader(http.StatusNoContent)
	case r.FormValue("text") == "teapot":
		http.Error(w, "short and stout", http.StatusInternalServerError)
	default:
		text := r.FormValue("text")
		if !g.trusting {
			text = html.EscapeString(text)
		}
		fmt.Fprintf(w, `<!DOCTYPE html><title>Guestbook</title><script src="/script.js"></script><main><form method="post" action="/"><input name="text" maxlength="3" required>
			<button>Send it</button></form><p>%s</p><a href="/away">Away</a></main>`, text)
	}
}

// TestActions: a visitor can do what people do, and gets the page to which it leads.
func TestActions(t *testing.T) {
	server := httptest.NewServer(&guestbook{})
	t.Cleanup(server.Close)
	v := newVisitor(t, server.URL)
	p := v.Visit(t, "/")
	if p.Status != http.StatusOK || p.URL != server.URL+"/" || !strings.HasPrefix(p.HTML, "<!DOCTYPE html>") {
		t.Errorf("got %+v", p)
	}
	v.Await(t, "document.title === 'Later'")
	v.Do(t, chromedp.SendKeys(chromedp.CSS("input"), "a<b"))
	p = v.Follow(t, click(named("button", "Send it")))
	if got, want := v.Main(t), "Send it a<b Away"; got != want || p.Status != http.StatusOK {
		t.Errorf("got %q, want %q", got, want)
	}
	v.Do(t, chromedp.Focus(chromedp.CSS("a")))
	p = v.Follow(t, chromedp.KeyEvent(kb.Enter))
	if want := server.URL + "/?text=away"; p.URL != want || p.Status != http.StatusOK || p.Requests[0].Status != http.StatusSeeOther {
		t.Errorf("got %q and %+v, want %q after a redirect", p.URL, p.Requests, want)
	}
	tab, other := v.Tab(t), newVisitor(t, server.URL)
	eval[chromedp.Void](t, v, "document.cookie = 'a=b'")
	for visitor, want := range map[*visitor]string{tab: "a=b", other: ""} {
		visitor.Visit(t, "/")
		if got := eval[string](t, visitor, "document.cookie"); got != want {
			t.Errorf("got the cookies %q, want %q", got, want)
		}
	}
}

// TestAwaitAfterwards: a condition may become true in the page that follows.
func TestAwaitAfterwards(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Refresh", "1; url=/second")
		}
		fmt.Fprintf(w, "<title>%s</title>", r.URL.Path)
	}))
	t.Cleanup(server.Close)
	v := newVisitor(t, server.URL)
	v.Visit(t, "/")
	begun := time.Now()
	v.Await(t, "document.title === '/second'")
	if waited := time.Since(begun); waited > patience/2 {
		t.Errorf("waited for %v", waited)
	}
}

// TestAttack: a site that shows texts as they are is caught, and one that escapes them is
// not.
func TestAttack(t *testing.T) {
	site := &guestbook{}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	v := newVisitor(t, server.URL)
	v.Attack(t, "/", "form [name]", webtest.HostileTexts())

	site.trusting = true
	for text, want := range map[string][]string{
		"<img src=x onerror=alert(window.hostile=1)>": {"dialog", "script"},
		"<img src=x onerror=window.hostile=1>":        {"script"},
		"<script>throw 1</script>":                    {"exception"},
		"<img src=http://127.0.0.2:1/>":               {"origin"},
		"teapot":                                      {"status"},
		"harmless":                                    nil,
		"<iframe src=/frame></iframe>":                {"policy"},
	} {
		var got []string
		p := v.attack(t, false, "/", "form [name]", text)
		for _, f := range v.Harm(t, p) {
			if !slices.Contains(got, f.Check) {
				got = append(got, f.Check)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", text, diff)
		}
	}
}
