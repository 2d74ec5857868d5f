package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// TestForeign: each text that runs something in a page, or leads elsewhere, is found there.
func TestForeign(t *testing.T) {
	p := &prober{base: "http://guidon.test"}
	found := func(body string) []finding {
		u, err := url.Parse("http://guidon.test/flags")
		if err != nil {
			t.Fatal(err)
		}
		return p.foreign(&http.Response{StatusCode: 200, Request: &http.Request{URL: u}, Header: http.Header{
			"Content-Type": {"text/html; charset=utf-8"}, "Content-Security-Policy": {"default-src 'none'"},
		}}, body)
	}
	const page = `<!doctype html><html><head><link href="/assets/a.css"><script src="/assets/a.js"></script></head><body><main><h1>A</h1>` +
		`<form action="/flags"><input name="q" value="%s"></form><a href="#x">x</a><i title='%s'></i><i title=%s></i><a href="https://elsewhere.example" rel="noreferrer">y</a>%s</main></body></html>`
	if got := found(fmt.Sprintf(page, "x", "x", "x", "x")); len(got) > 0 {
		t.Errorf("an innocent page has %v", got)
	}
	harmless := 0
	for _, text := range hostileTexts() {
		escaped := html.EscapeString(text)
		if got := found(fmt.Sprintf(page, escaped, escaped, "x", escaped)); len(got) > 0 {
			t.Errorf("escaped, %q has %v", text, got)
		}
		if strings.Contains(text, "alert(") && len(found(fmt.Sprintf(page, text, text, text, text))) == 0 {
			harmless++
			t.Logf("not found: %q", text)
		}
	}
	if harmless > 10 { // attributes that run nothing, and addresses, which are text there
		t.Errorf("%d texts are not found", harmless)
	}
}

// TestFormsOf: forms have the controls that belong to them, with what a browser would send.
func TestFormsOf(t *testing.T) {
	root, err := html.Parse(strings.NewReader(`<form id="a" method="post" action="/a">
		<input name="key"><input type="hidden" name="revision" value="3"><input type="checkbox" name="on" value="1" checked><input type="checkbox" name="off">
		<textarea name="text">` + "\n" + `b</textarea><select name="type"><option value="x">X<option value="y" selected>Y</select><input name="no" disabled>
		<button name="do" value="save">Save</button><button type="button">Menu</button></form><button form="a" formaction="/b">Other</button><form><input name="q"></form>`))
	if err != nil {
		t.Fatal(err)
	}
	want := []probe{
		{"POST", "/a", []probeField{
			{name: "key"}, {name: "revision", value: "3", hidden: true}, {name: "on", value: "1", set: true}, {name: "text", value: "b"}, {name: "type", value: "y", set: true},
		}, []probeButton{{name: "do", value: "save"}, {action: "/b"}}},
		{"GET", "", []probeField{{name: "q"}}, nil},
	}
	if diff := cmp.Diff(want, formsOf(root), cmp.AllowUnexported(probe{}, probeField{}, probeButton{})); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
}

// TestProber: each field has had each text, and so has each alone, by each button.
func TestProber(t *testing.T) {
	alone, together := make(map[string]bool), make(map[string]bool)
	var requests []url.Values
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sign-in", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/form", http.StatusSeeOther) })
	mux.HandleFunc("GET /form", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		_, _ = fmt.Fprint(w, `<form method="post" action="/form"><input name="a" value="1"><input name="b" value="2"><button name="do" value="save">Save</button></form>`)
	})
	sent := make(chan url.Values, 100)
	mux.HandleFunc("POST /form", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err == nil {
			sent <- r.PostForm
		}
		w.WriteHeader(http.StatusUnprocessableEntity)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	texts := []string{"x", "y", "z"}
	if n := newProber(t, s.URL, "secret").ProbeForms(t, "/form", texts, func(string) bool { return false }); n != 1 {
		t.Errorf("%d forms were sent", n)
	}
	close(sent)
	for form := range sent {
		requests = append(requests, form)
		a, b := form.Get("a"), form.Get("b")
		switch {
		case a == "1":
			alone["b="+b] = true
		case b == "2":
			alone["a="+a] = true
		default:
			together["a="+a], together["b="+b] = true, true
		}
		if form.Get("do") != "save" {
			t.Errorf("sent without a button: %v", form)
		}
	}
	if len(requests) != 2*len(texts) || len(alone) != len(texts) || len(together) != 2*len(texts) {
		t.Errorf("%d requests, in which texts were alone in %v and together in %v", len(requests), alone, together)
	}
}
