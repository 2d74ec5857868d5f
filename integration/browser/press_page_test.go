package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// pressPage has a control of each kind. Its script notes trusted events.
const pressPage = `<!DOCTYPE html><title>Press</title><style>
	#far { margin: 3000px 0 300px } #bar { position: fixed; bottom: 0; height: 60px; width: 100%; background: gray }
	#hidden { position: absolute; opacity: 0; width: 1px; height: 1px } #curtain { position: absolute; inset: 0; background: white }
</style><main><div id="curtain"></div><button id="button"><b>Press</b></button>
<label><input id="hidden" type="radio" name="a" value="b">Choose it</label>
<input id="text" value="old"><input id="date" type="date"><select id="list"><option value="a">A</option><option value="b">B</option><option value="c">C</option><option value="d">D</option></select>
<p id="far"><button id="low">Low</button></p></main><div id="bar"></div><script src="/script.js"></script>`

const pressScript = `window.seen = [];
for (const type of ['click', 'input', 'change']) addEventListener(type, e => seen.push(type + ' ' + (e.target.id || e.target.localName) + ' ' + e.isTrusted), true);
setTimeout(() => document.getElementById('curtain').remove(), 300);`

// TestPress: visitors press what is there for people, by events that the browser trusts.
func TestPress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/script.js" {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, pressScript)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, pressPage)
	}))
	t.Cleanup(server.Close)
	v := newVisitor(t, server.URL)
	v.Visit(t, "/")
	for _, test := range []struct {
		name   string
		action chromedp.Action[chromedp.Void]
		want   string // is true then
	}{
		{"a button below a curtain", click(chromedp.CSS("#button")), "seen.join() === 'click b true'"},
		{"a radio button by its label", click(chromedp.CSS("#hidden")), "document.getElementById('hidden').checked"},
		{"a button below the window, behind a bar", click(chromedp.CSS("#low")), "seen.includes('click low true')"},
		{"a text", fill(chromedp.CSS("#text"), "new\u00fc"), "document.getElementById('text').value === 'new\u00fc' && seen.includes('input text true')"},
		{"no text", fill(chromedp.CSS("#text"), ""), "document.getElementById('text').value === ''"},
		{"a date", fill(chromedp.CSS("#date"), "2026-12-01"), "document.getElementById('date').value === '2026-12-01'"},
		{"an option further down", choose(chromedp.CSS("#list"), "d"), "document.getElementById('list').value === 'd' && seen.filter(e => e === 'change list true').length === 1"},
		{"an option further up", choose(chromedp.CSS("#list"), "b"), "document.getElementById('list').value === 'b'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.Do(t, test.action)
			v.Await(t, test.want)
		})
	}
}

// scripted matches what presses, types or sends by a script instead of real input.
var scripted = regexp.MustCompile(`\.click\(|requestSubmit|\.submit\b|dispatchEvent\(new \w*Event\('(?:click|submit|input|change|key|mouse|pointer)` +
	`|chromedp\.(?:Click|DoubleClick|Submit|Reset|Clear|SetValue|SetJavascriptAttribute)\b`)

// attackers are files that send forms as no visitor could. They test what the server does then.
var attackers = []string{"attack_test.go", "attack_form_test.go"}

// TestRealInput: tests of pages press and type by real input; see [click].
func TestRealInput(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if file == "press_page_test.go" || slices.Contains(attackers, file) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line, content := range strings.Split(string(text), "\n") {
			if found := scripted.FindString(content); found != "" {
				t.Errorf("%s:%d has %q; use click, fill or choose", file, line+1, found)
			}
		}
	}
}
