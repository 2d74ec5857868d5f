package flags_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// TestUnreadable: the pages say which flags and segments this release cannot read, and which
// flags fail because of a segment. They work otherwise.
func TestUnreadable(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, statement := range []string{
		`UPDATE flags SET body = REPLACE(body, 'BOOLEAN_FLAG_TYPE', 'NEWER_FLAG_TYPE') WHERE flag_key = 'wishlist'`,
		`UPDATE segments SET body = REPLACE(body, '_MATCH_TYPE', '_NEWER_TYPE') WHERE segment_key = 'staff'`,
	} {
		if _, err := s.DB.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	s = webtest.New(t, webtest.Options{DB: s.DB})
	rows := map[string]string{}
	for _, tr := range s.Get("/namespaces/default/flags").Check(200).All("tr") {
		rows[webtest.Attribute(tr, "data-row")] = webtest.TextOf(tr)
	}
	const flag, segment = `flag "wishlist" needs a newer release of Guidon`, `segment "staff" needs a newer release of Guidon`
	for key, want := range map[string]string{
		"wishlist": flag, "checkout-redesign": `flag "checkout-redesign" cannot be evaluated: ` + segment, "homepage-layout": "grid while off",
	} {
		if !strings.Contains(rows[key], want) {
			t.Errorf("%s: got %q, want %q", key, rows[key], want)
		}
	}
	for _, test := range []struct {
		path   string
		status int
		want   string
	}{
		{"/namespaces/default/flags/wishlist", 501, flag},
		{"/namespaces/default/flags/checkout-redesign", 200, segment},
		{"/namespaces/default/flags/homepage-layout", 200, "Homepage layout"},
		{"/namespaces/default/segments", 200, segment},
		{"/namespaces/default/segments/staff", 501, segment},
		{"/namespaces/default/changes", 200, "Changes"},
		{"/namespaces/default/flags/wishlist/history", 501, flag},
	} {
		if r := s.Get(test.path).Check(test.status); !strings.Contains(webtest.TextOf(r.All("body")[0]), test.want) {
			t.Errorf("%s: got %s, want %q", test.path, webtest.TextOf(r.All("body")[0]), test.want)
		}
	}
}
