package browser

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// openShopAway is openShop on PostgreSQL behind a proxy that can take it away.
func openShopAway(t *testing.T) (*shop, *dbtest.Proxy) {
	t.Helper()
	harness.Postgres.Need(t)
	proxy, database := dbtest.NewProxy(t, harness.Postgres.Migrated(t))
	s := harness.Start(t, database, with("GUIDON_SERVER_REQUEST_TIMEOUT=2s")...)
	return stock(t, s, s.URL), proxy
}

// TestAway: while the database does not answer, pages show what was last known, and a form
// that was not saved, or of which that is not known, is kept and then saved once.
func TestAway(t *testing.T) {
	s, proxy := openShopAway(t)
	v := s.visitor(t, admin)
	isCommit := func(r dbtest.Request) bool { return r.IsCommit() }
	always := func(dbtest.Request) bool { return true }
	for _, test := range []struct {
		name, list, path, field, text string
		at                            func(dbtest.Request) bool // when the database goes away
		stored                        bool                      // the first attempt was saved
	}{
		{"a flag before the change", flagsPath, booleanPath + "?edit=2", "rule-1-share", "40", always, false},
		{"a flag after the change", flagsPath, booleanPath + "?edit=2", "rule-1-share", "45", isCommit, true},
		{"a segment before the change", "/namespaces/default/segments", segmentPath, "name", "Deutschland", always, false},
		{"a segment after the change", "/namespaces/default/segments", segmentPath, "name", "Germany again", isCommit, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.Visit(t, test.path)
			if test.field == "name" {
				v.Do(t, click(css("[aria-label='More actions']")), click(css("button[name=do][value=name]")))
				awaitFocus(t, v, "name")
			}
			retype(t, v, test.field, test.text)
			awaitText(t, v, ".savebar", "1 unsaved change")
			before := s.number(t)
			decide, away := dbtest.Once(dbtest.Unreachable, test.at)
			proxy.Inflict(decide)
			p := v.Follow(t, click(do("save")))
			<-away
			if p.Status != http.StatusServiceUnavailable || !strings.Contains(v.Main(t), "It is not known whether this was saved") {
				t.Fatalf("got status %d: %s", p.Status, v.Main(t))
			}

			tab := v.Tab(t)
			for _, path := range []string{test.list, test.path} {
				if p := tab.Visit(t, path); p.Status != http.StatusOK {
					t.Errorf("%s has status %d: %s", path, p.Status, tab.Main(t))
				}
				awaitText(t, tab, ".rev.soon", "As of")
				awaitText(t, tab, "main", "The database does not answer, so nothing can be saved now")
			}

			proxy.Inflict(nil)
			tab.Await(t, "await fetch(location.href).then(r => r.ok && !r.headers.has('Guidon-Stale'))")
			looked := eval[string](t, v, lookAgain)
			if want := map[bool]string{true: "What you entered is stored", false: "1 unsaved change"}[test.stored]; !strings.Contains(looked, want) {
				t.Errorf("Look does not show %q: %s", want, looked)
			}
			p = v.Follow(t, click(do("save")))
			if p.Status != http.StatusOK || s.number(t) != before+1 {
				t.Errorf("then status %d and revision %d after %d: %s", p.Status, s.number(t), before, v.Main(t))
			}
			awaitText(t, v, "main", strings.TrimSuffix(test.text, "%"))
			awaitText(t, v, ".toast", "Saved as revision "+strconv.FormatInt(before+1, 10))
		})
	}
}

// lookAgain sends the form as its button Look does, and returns what the tab shows that it
// opens.
const lookAgain = `(button => fetch(button.form.action, {method: 'POST', body: new URLSearchParams(new FormData(button.form, button))})
	.then(response => response.text())
)(document.querySelector('button[value=look][formtarget=_blank]'))`

// number returns the revision of the namespace default.
func (s *shop) number(t *testing.T) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s.revision(t), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
