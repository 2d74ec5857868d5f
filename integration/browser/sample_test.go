package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// policy is that of the pages, as far as the tests need it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// sample is a page of the test server. The zero value is right in every way.
type sample struct {
	status      int
	css, script string // contents of the files
	before      string // elements before <main>
	main        string // elements in <main>, after the usual ones
	html        string // instead of the whole page
	policy      string
}

const goodPage = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sample</title><link rel="stylesheet" href="/style.css"><script type="module" src="/script.js"></script></head>
<body><a href="#main">Skip to content</a><header>Sample</header>%s<main id="main" tabindex="-1"><h1>Heading</h1><p>Some text</p>%s</main></body></html>`

func (s sample) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/style.css":
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, "body { margin: 0; color: #111; background: #fff } @media (prefers-color-scheme: dark) { body { color: #eee; background: #111 } a { color: #9cf } }"+s.css)
	case "/script.js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, s.script)
	case "/":
		if s.policy == "" {
			s.policy = policy
		}
		w.Header().Set("Content-Security-Policy", s.policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if s.status != 0 {
			w.WriteHeader(s.status)
		}
		if s.html == "" {
			s.html = fmt.Sprintf(goodPage, s.before, s.main)
		}
		fmt.Fprint(w, s.html)
	case "/favicon.ico":
		w.WriteHeader(http.StatusNoContent)
	default:
		http.NotFound(w, r)
	}
}

// TestAudit: a good page has no finding, and each check finds a page that is bad in just
// its way.
func TestAudit(t *testing.T) {
	const open = "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'"
	var page sample
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { page.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	v := newVisitor(t, server.URL)
	for _, test := range []struct {
		name string
		page sample
		want []string
	}{
		{"good", sample{}, nil},
		{"a message", sample{script: `console.error("message")`}, []string{"console"}},
		{"a warning", sample{script: `console.warn("message")`}, []string{"console"}},
		{"an exception", sample{script: `throw new Error("message")`}, []string{"exception"}},
		{"a rejection", sample{script: `Promise.reject(new Error("message"))`}, []string{"exception"}},
		{"a dialog", sample{script: `alert("message")`}, []string{"dialog"}},
		{"an inline script", sample{main: `<script>1</script>`}, []string{"console", "markup", "policy"}},
		{"an allowed inline script", sample{main: `<script>1</script>`, policy: open}, []string{"markup"}},
		{"an inline handler", sample{main: `<p onclick="1">Text</p>`, policy: open}, []string{"markup"}},
		{"an inline style", sample{main: `<p style="margin: 0">Text</p>`, policy: open}, []string{"markup"}},
		{"a style element", sample{main: `<style>p { margin: 0 }</style>`, policy: open}, []string{"markup"}},
		{"a blocked style", sample{main: `<p style="margin: 0">Text</p>`}, []string{"console", "markup", "policy"}},
		{"a trusted type", sample{script: `document.querySelector("p").innerHTML = "<b>text</b>"`}, []string{"console", "exception", "policy"}},
		{"a missing file", sample{main: `<img src="/missing.png" alt="">`}, []string{"console", "request"}},
		{"another origin", sample{main: `<img src="` + other.URL + `/" alt="">`, policy: "img-src *"}, []string{"origin", "request"}},
		{"many bytes", sample{css: "/*" + string(slices.Repeat([]byte("x"), 60<<10)) + "*/"}, []string{"bytes"}},
		{"many requests", sample{script: `for (let i = 0; i < 3; i++) fetch("/style.css?" + i)`}, []string{"requests"}},
		{"a shift", sample{script: `requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector("h1").before(document.createElement("hr"))))`, css: "hr { height: 100px } h1 { font-size: 60px }"}, []string{"shift"}},
		{"too wide", sample{main: `<p class="wide">Text</p>`, css: ".wide { width: 321px }"}, []string{"overflow"}},
		{"low contrast", sample{main: `<p class="faint">Text</p>`, css: ".faint { color: #bbb; background: #fff }"}, []string{"axe"}},
		{"low contrast in the dark", sample{main: `<p class="faint">Text</p>`, css: "@media (prefers-color-scheme: dark) { .faint { color: #333 } }"}, []string{"axe"}},
		{"low contrast on a phone", sample{main: `<p class="faint">Text</p>`, css: "@media (width < 600px) { .faint { color: #bbb; background: #fff } }"}, []string{"axe"}},
		{"low contrast on a large screen", sample{main: `<p class="faint">Text</p>`, css: "@media (width > 600px) { .faint { color: #bbb; background: #fff } }"}, []string{"axe"}},
		{"a field without a label", sample{main: `<input name="a">`}, []string{"axe"}},
		{"small targets", sample{main: `<p class="small"><a href="/">a</a><a href="/a">b</a></p>`, css: ".small a { display: inline-block; width: 8px; height: 8px; font-size: 8px }"}, []string{"axe"}},
		{"a button for a script", sample{main: `<button type="button">Press</button>`}, []string{"dead without scripts"}},
		{"a covered link", sample{main: `<p class="over">Text <a href="/">Home</a></p>`, css: ".over { position: relative } .over::after { content: ''; position: absolute; inset: 0 }"}, []string{"covered"}},
		{"two headings", sample{main: `<h1>Heading</h1>`}, []string{"markup"}},
		{"text outside of landmarks", sample{before: `<p>Text</p>`}, []string{"axe"}},
		{"the same id", sample{main: `<p id="main">Text</p>`}, []string{"markup"}},
		{"no way past the navigation", sample{html: `<!DOCTYPE html><html lang="en"><title>Sample</title><header><a href="/">Home</a></header><main id="main"><h1>Heading</h1><p>Some text</p></main>`}, []string{"markup"}},
		{"no language", sample{html: `<!DOCTYPE html><html><title>Sample</title><a href="#main">Skip</a><main id="main"><h1>Heading</h1><p>Some text</p></main>`}, []string{"axe", "markup"}},
		{"no document type", sample{html: `<html lang="en"><title>Sample</title><a href="#main">Skip</a><main id="main"><h1>Heading</h1><p>Some text</p></main>`}, []string{"markup"}},
		{"no main", sample{html: `<!DOCTYPE html><html lang="en"><title>Sample</title><header><h1>Heading</h1><p>Some text</p></header>`}, []string{"axe", "markup", "text"}},
		{"an error", sample{status: http.StatusNotFound}, []string{"status"}},
		{"another title", sample{script: `document.title = "Other"`}, []string{"title"}},
		{"a missing text", sample{css: "p { display: none }"}, []string{"text"}},
		{"scripts make the text", sample{html: `<!DOCTYPE html><html lang="en"><title>Sample</title><script type="module" src="/script.js"></script><a href="#main">Skip</a><main id="main"><h1>Heading</h1><p></p></main>`, script: `document.querySelector("p").textContent = "Some text"`}, []string{"text"}},
		{"scripts make a heading", sample{script: `document.querySelector("main").append(Object.assign(document.createElement("h2"), {textContent: "More"}))`}, []string{"no scripts"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			page = test.page
			found := v.Audit(t, wanted{Path: "/", Title: "Sample", Texts: []string{"Heading", "Some text"}})
			var got []string
			for _, f := range found {
				if !slices.Contains(got, f.Check) {
					got = append(got, f.Check)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, found)
			}
		})
	}
}
