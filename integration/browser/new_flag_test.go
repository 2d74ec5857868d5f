package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestNewFlagFaults: what is wrong with a new flag is said beside the field, and nothing of
// the rest is lost; then it is created by Enter, once.
func TestNewFlagFaults(t *testing.T) {
	s := openShop(t)
	v := drafter{s.visitor(t, admin), false}
	before := s.revision(t)
	for _, test := range []struct{ name, flagName, key, metadata, field, want string }{
		{"no name", "", "", "", "name", "A name is needed."},
		{"no key", "日本", "", "", "key", "A key is needed"},
		{"bad key", "Check out", "check out", "", "key", "Did you mean"},
		{"taken key", "Mine", "wishlist", "", "key", "Default has a flag Wishlist with this key."},
		{"long key", "Mine", strings.Repeat("k", 260), "", "key", "255 characters at most, this has 260."},
		{"bad metadata", "Mine", "mine", `{"a": [1`, "metadata.0.value", "This list never ends: add ]}."},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.Visit(t, "/namespaces/default/new-flag")
			fields := map[string]string{"name": test.flagName, "key": test.key, "description": "kept"}
			if test.metadata != "" {
				v.act(t, nil, "add-metadata")
				fields["metadata.0.key"], fields["metadata.0.value"] = "about", test.metadata
			}
			v.fill(t, fields)
			v.Do(t, chromedp.Focus(css("#name")))
			p := v.Follow(t, chromedp.KeyEvent(kb.Enter))
			if p.Status != http.StatusUnprocessableEntity {
				t.Errorf("got status %d", p.Status)
			}
			got := eval[[]string](t, v.visitor, `(e => {
				const said = (e.getAttribute('aria-describedby') ?? '').split(' ').map(id => document.getElementById(id)?.innerText ?? '').join(' ');
				return [e.getAttribute('aria-invalid'), said, document.getElementById('name').value, document.getElementById('description').value, document.activeElement.getAttribute('role')];
			})(document.getElementById('`+test.field+`'))`)
			if got[0] != "true" || !strings.Contains(got[1], test.want) || got[2] != test.flagName || got[3] != "kept" || got[4] != "alert" {
				t.Errorf("got %q, want %q", got, test.want)
			}
			quiet(t, v.visitor)
		})
	}
	if got := s.revision(t); got != before {
		t.Errorf("something was saved in revision %s", got)
	}

	v.Visit(t, "/namespaces/default/new-flag")
	v.Do(t, chromedp.KeyEvent("New"))
	v.Await(t, "document.getElementById('key').value === 'new'")
	p := v.Follow(t, chromedp.KeyEvent(kb.Enter))
	if !strings.Contains(p.URL, "/flags/new?saved=") {
		t.Errorf("Enter leads to %s", p.URL)
	}
	for _, path := range []string{"", "/details", "/history", "/code", "/delete"} {
		if p := v.Visit(t, flagsPath+"/new"+path); p.Status != http.StatusOK {
			t.Errorf("%s of a flag called new has status %d", path, p.Status)
		}
	}
}
