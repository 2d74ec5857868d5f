package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/guidonhq/guidon/integration/harness"
)

// newcomer is somebody in their first hour with an empty server.
type newcomer struct {
	*visitor
	*shop
	scripts bool
	keys    bool  // they use no mouse
	created int64 // the revision in which they created a flag
}

// opens presses a link or button that opens another page.
func (n *newcomer) opens(t *testing.T, sel css) {
	t.Helper()
	if p := n.Follow(t, n.press(sel)); p.Status != http.StatusOK {
		t.Fatalf("%s leads to %s with status %d: %s", sel, p.URL, p.Status, n.Main(t))
	}
}

// press presses a link or button.
func (n *newcomer) press(sel css) chromedp.Action[chromedp.Void] {
	if n.keys {
		return chromedp.Steps(reach(sel), chromedp.KeyEvent(kb.Enter))
	}
	return click(sel)
}

// asks presses a link to a question, which scripts open in the page.
func (n *newcomer) asks(t *testing.T, link css) {
	t.Helper()
	if !n.scripts {
		n.opens(t, link)
		return
	}
	n.Do(t, n.press(link))
	n.Await(t, "document.querySelector('dialog[open]')")
}

// enters replaces the texts of fields, by selector and text in turn.
func (n *newcomer) enters(t *testing.T, fields ...string) {
	t.Helper()
	for i := 0; i < len(fields); i += 2 {
		n.Do(t, fill(css(fields[i]), fields[i+1]))
	}
}

// sends presses Enter in the field of one line that was filled in last, or the button.
func (n *newcomer) sends(t *testing.T, button css) {
	t.Helper()
	if !n.keys {
		n.opens(t, button)
		return
	}
	if p := n.Follow(t, chromedp.KeyEvent(kb.Enter)); p.Status != http.StatusOK {
		t.Fatalf("Enter leads to %s with status %d: %s", p.URL, p.Status, n.Main(t))
	}
}

// lit checks what the flag dark-mode of the example shop answers for somebody in its share.
func (n *newcomer) lit(t *testing.T, want string) {
	t.Helper()
	n.answers(t, "default", "dark-mode", entities("dark-mode", booleanBuckets)[0], nil, want)
}

// named checks that the flag that they created has the name.
func (n *newcomer) named(t *testing.T, want string) {
	t.Helper()
	if got := n.content(t, "default", "flags/first"); !strings.Contains(got, `"name":"`+want+`"`) {
		t.Fatalf("the flag is %s, want the name %s", got, want)
	}
}

const firstFlag = flagsPath + "/first"

// firstHour are the tasks of the first hour, in an order in which each finds what it needs.
// Every one makes a revision of the namespace default, but for the last.
var firstHour = []struct {
	name string
	do   func(t *testing.T, n *newcomer)
}{
	{"look around first", func(t *testing.T, n *newcomer) {
		n.Visit(t, flagsPath)
		n.opens(t, "button[value=example]")
		n.lit(t, "On")
	}},
	{"create a flag", func(t *testing.T, n *newcomer) {
		n.Visit(t, "/namespaces/default/new-flag")
		n.enters(t, "#name", "First", "#key", "first")
		n.sends(t, "button.primary[value=save]")
		n.named(t, "First")
		n.created = n.revisionOf(t, "default")
	}},
	{"save an edit", func(t *testing.T, n *newcomer) {
		n.Visit(t, firstFlag+"/details")
		n.enters(t, "#name", "Renamed")
		n.opens(t, "button.primary[value=save]")
		n.named(t, "Renamed")
	}},
	{"turn off", func(t *testing.T, n *newcomer) {
		n.Visit(t, booleanPath)
		n.asks(t, "a[data-dialog][href$=turn-off]:not(.pop a)")
		n.opens(t, "#question button[name=do]")
		n.lit(t, "Off")
	}},
	{"turn on", func(t *testing.T, n *newcomer) {
		n.Visit(t, booleanPath)
		n.asks(t, "a[data-dialog][href$=turn-off]:not(.pop a)")
		n.opens(t, "#question button[name=do]")
		n.lit(t, "On")
	}},
	{"undo", func(t *testing.T, n *newcomer) { // what was saved just now
		n.opens(t, ".toast button")
		n.opens(t, "#review button.primary")
		n.lit(t, "Off")
	}},
	{"restore", func(t *testing.T, n *newcomer) {
		n.Visit(t, fmt.Sprintf("%s?at=%d", firstFlag, n.created))
		n.opens(t, ".pastbar a.btn")
		n.opens(t, "#review button.primary")
		n.named(t, "First")
	}},
	{"import a document", func(t *testing.T, n *newcomer) {
		n.Visit(t, "/namespaces/default/import")
		n.enters(t, "#text", "flags:\n- key: first\n  name: Imported\n  type: BOOLEAN_FLAG_TYPE\n")
		n.opens(t, "button[value=preview]")
		n.opens(t, "button[value=apply]")
		n.named(t, "Imported")
	}},
	{"new namespace", func(t *testing.T, n *newcomer) {
		n.Visit(t, "/settings/new-namespace")
		n.enters(t, "#name", "Second") // its key follows
		n.sends(t, "button.primary[value=save]")
		if got := n.revisionOf(t, "second"); got != 1 {
			t.Errorf("the namespace has revision %d", got)
		}
	}},
}

// TestFirstHour: the tasks of a first hour work with and without authentication and scripts,
// by mouse and by keys.
func TestFirstHour(t *testing.T) {
	open := func(t *testing.T) (*shop, role) { // as the README starts a server
		s := harness.Start(t, harness.SQLiteURL(t))
		return &shop{Server: s, public: s.URL}, guest
	}
	closed := func(t *testing.T) (*shop, role) {
		s := harness.Start(t, harness.SQLiteURL(t), signInSettings...)
		return &shop{Server: s, public: s.URL, tokens: map[role]string{admin: adminToken}}, admin
	}
	for _, test := range []struct {
		name          string
		start         func(t *testing.T) (*shop, role)
		scripts, keys bool
	}{
		{"authentication and scripts", closed, true, false},
		{"authentication", closed, false, false},
		{"scripts", open, true, false},
		{"neither", open, false, false},
		{"scripts, by keys", open, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, as := test.start(t)
			n := &newcomer{visitor: s.visitor(t, as), shop: s, scripts: test.scripts, keys: test.keys}
			if !n.scripts {
				n.WithoutScripts(t)
			}
			for i, task := range firstHour {
				t.Log(task.name)
				task.do(t, n)
				if got, want := n.revisionOf(t, "default"), int64(min(i+2, len(firstHour))); got != want {
					t.Fatalf("got revision %d, want %d: %s", got, want, n.Main(t))
				}
			}
			quiet(t, n.visitor)
		})
	}
}
