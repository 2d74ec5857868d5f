package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// download requests what a form downloads, as its button does.
func download(t *testing.T, v *visitor, form string) string {
	t.Helper()
	return eval[string](t, v, `(form => fetch(form.action + '?' + new URLSearchParams(new FormData(form))).then(response => {
		if (!response.headers.get('Content-Disposition').startsWith('attachment')) throw new Error('it is no download');
		return response.text();
	}))(document.querySelector('`+form+`'))`)
}

// importText imports a text into the namespace, and returns what the page says before it does.
func importText(t *testing.T, v *visitor, namespace, mode, text string) (said string) {
	t.Helper()
	v.Visit(t, "/namespaces/"+namespace+"/import")
	v.Do(t, fill(css("textarea"), text), click(css("input[name=mode][value="+mode+"]")))
	v.Follow(t, click(do("preview")))
	said = v.Main(t)
	if count(t, v, "button[value=apply]") == 1 {
		v.Follow(t, click(do("apply")))
	}
	return said
}

// TestTransfer: what is exported and imported elsewhere is exported again as the same bytes;
// the page before an import says what it then does; faults are named by their line.
func TestTransfer(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, "/namespaces/default/export")
	exported := download(t, v, "#export")
	report(t, v.Axe(t))

	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(exported), 0o600); err != nil {
		t.Fatal(err)
	}
	v.Visit(t, "/namespaces/empty/import")
	v.Do(t, chromedp.SetUploadFiles(css("input[type=file]"), []string{file}))
	before := s.revisionOf(t, "empty")
	v.Follow(t, click(do("preview")))
	awaitText(t, v, ".savebar", "26 flags and 15 segments")
	if got := s.revisionOf(t, "empty"); got != before {
		t.Error("the preview saves")
	}
	planned := eval[[]string](t, v, "[...document.querySelectorAll('table.plan tbody .key')].map(e => e.innerText)")
	v.Follow(t, click(do("apply")))
	if got := s.revisionOf(t, "empty"); got != before+1 {
		t.Errorf("imported in %d revisions: %s", got-before, v.Main(t))
	}
	var done struct{ Changes []struct{ Key string } }
	s.get(t, fmt.Sprintf("/api/v1/namespaces/empty/changes?firstRevision=%d&lastRevision=%[1]d&limit=100", before+1), &done)
	var changed []string
	for _, c := range done.Changes {
		changed = append(changed, c.Key)
	}
	slices.Sort(planned)
	slices.Sort(changed)
	if diff := cmp.Diff(planned, changed); diff != "" {
		t.Errorf("planned and done (-planned +done):\n%s", diff)
	}
	v.Visit(t, "/namespaces/empty/export")
	again := download(t, v, "#export")
	if got, want := withoutNamespace(again), withoutNamespace(exported); got != want {
		t.Errorf("after the import, got %s, want %s", got, want)
	}
	if said := importText(t, v, "empty", "update", exported); !strings.Contains(said, "Nothing would change") {
		t.Errorf("imported again: %s", said)
	}

	renamed := strings.Replace(exported, "name: Dark mode", "name: Night mode", 1)
	importText(t, v, "empty", "skip", renamed)
	v.Visit(t, "/namespaces/empty/flags/dark-mode")
	awaitText(t, v, "h1", "Dark mode")
	if said := importText(t, v, "empty", "update", renamed); !strings.Contains(said, "1 flag One revision") || !strings.Contains(said, "Night mode") {
		t.Errorf("a new name: %s", said)
	}
	v.Visit(t, "/namespaces/empty/flags/dark-mode")
	awaitText(t, v, "h1", "Night mode")

	v.Visit(t, "/namespaces/empty/import")
	v.Do(t, fill(css("textarea"), "version: \"1.4\"\nflags:\n  - key: a\n    name: [\n"))
	v.Follow(t, click(do("preview")))
	awaitText(t, v, "main", "Line 4: ")
	if got := eval[string](t, v, "document.querySelector('textarea').value"); !strings.Contains(got, "name: [") {
		t.Errorf("the text is %q then", got)
	}
	quiet(t, v)
}

// withoutNamespace returns an exported file without the lines about its namespace.
func withoutNamespace(text string) string {
	_, text, _ = strings.Cut(text, "flags:\n")
	return text
}
