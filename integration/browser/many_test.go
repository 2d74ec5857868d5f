package browser

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/guidonhq/guidon/integration/harness"
)

const manyPath = "/namespaces/many/flags"

// importMany makes the namespace many, with 10,000 boolean flags that are on.
func (s *shop) importMany(t *testing.T) {
	t.Helper()
	var document strings.Builder
	document.WriteString("version: \"1.4\"\nnamespace:\n  key: many\n  name: Many\nflags:\n")
	for i := range 10_000 {
		fmt.Fprintf(&document, "  - key: flag-%05d\n    name: Flag %05d\n    type: BOOLEAN_FLAG_TYPE\n    enabled: true\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "many.yaml")
	if err := os.WriteFile(file, []byte(document.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	load := harness.Command(t, "", "import", file, "--address", s.URL)
	load.Env = append(load.Env, "GUIDON_TOKEN="+adminToken)
	harness.Ends(t, load, true, "")
}

// TestManyFlags: a list of 10,000 flags is sorted, filtered, selected from, and changed at
// once, by one revision that is undone.
func TestManyFlags(t *testing.T) {
	s := openShop(t)
	s.importMany(t)
	v := s.visitor(t, admin)
	keys := func() []string {
		return eval[[]string](t, v, "[...document.querySelectorAll('tbody tr')].map(row => row.dataset.row)")
	}
	first := func(want string, n int) {
		t.Helper()
		if got := keys(); len(got) != n || got[0] != want {
			t.Errorf("%s: got %d rows, beginning with %v, want %d with %s", v.Page(t).URL, len(got), got[:min(len(got), 1)], n, want)
		}
	}
	v.Visit(t, manyPath)
	awaitText(t, v, "main", "1–50 of 10,000")
	v.Follow(t, click(css("th.col-flag a")))
	first("flag-00000", 50)
	if got := count(t, v, "th.col-flag[aria-sort=ascending]"); got != 1 {
		t.Error("the column does not say that it is sorted")
	}
	v.Follow(t, click(css("th.col-flag a")))
	first("flag-09999", 50)
	v.Follow(t, click(css("a[rel=next]")))
	first("flag-09949", 50)

	v.Visit(t, manyPath+"?sort=key")
	check := stays(t, v)
	press(t, v, "/")
	v.Do(t, chromedp.KeyEvent("flag-0012"))
	v.Await(t, "document.querySelectorAll('tbody tr').length === 10 && new URL(location).searchParams.get('q') === 'flag-0012'")
	check()
	typed := keys()
	v.Visit(t, manyPath+"?q=flag-0012&sort=key")
	if got := keys(); strings.Join(got, " ") != strings.Join(typed, " ") {
		t.Errorf("the address leads to %v, typing to %v", got, typed)
	}
	first("flag-00120", 10)
	v.Follow(t, click(css("tbody a.row")))
	eval[chromedp.Void](t, v, "history.back()")
	v.Await(t, "location.pathname.endsWith('/flags') && document.readyState === 'complete' && document.querySelectorAll('tbody tr').length === 10")
	first("flag-00120", 10)

	v.Visit(t, manyPath+"?q=flag-0012&sort=key")
	before := s.revisionOf(t, "many")
	v.Do(t, click(css("thead .pick input")))
	awaitText(t, v, ".bulk", "10 selected")
	v.Follow(t, click(do("turn-off")))
	awaitText(t, v, "h1", "Turn off 10 flags for everyone?")
	v.Follow(t, click(css("main form button.danger")))
	if got := s.revisionOf(t, "many"); got != before+1 {
		t.Errorf("10 flags were turned off in %d revisions", got-before)
	}
	s.answers(t, "many", "flag-00125", "anybody", nil, "Off")
	s.answers(t, "many", "flag-00130", "anybody", nil, "On")
	undoSaved(t, v)
	s.answers(t, "many", "flag-00125", "anybody", nil, "On")

	v.Visit(t, manyPath+"?q=nowhere+to+be+found")
	awaitText(t, v, "main", "No flag matches “nowhere to be found”")
	v.Follow(t, click(named("a", "Clear filters")))
	awaitText(t, v, "main", "of 10,000")
	quiet(t, v)
}

// undoSaved undoes what was saved just now, by its toast.
func undoSaved(t *testing.T, v *visitor) {
	t.Helper()
	v.Await(t, "document.querySelector('.toast button')")
	v.Follow(t, click(css(".toast button")))
	if p := v.Follow(t, click(css("#review button.primary"))); p.Status != http.StatusOK || !strings.Contains(p.URL, "saved=") {
		t.Fatalf("undoing leads to %s with status %d: %s", p.URL, p.Status, v.Main(t))
	}
}
