package web

import "testing"

// TestPlaceName: the page says in words where a visitor returns to.
func TestPlaceName(t *testing.T) {
	for path, want := range map[string]string{
		"/namespaces/default/flags/checkout-redesign":         "the flag checkout-redesign of default",
		"/namespaces/default/flags/checkout-redesign/history": "the flag checkout-redesign of default",
		"/namespaces/a%20b/segments/x?edit=1":                 "the segment x of a b",
		"/namespaces/default/flags?q=a":                       "the flags of default",
		"/namespaces/default/changes/17":                      "/namespaces/default/changes/17",
		"/settings/tokens":                                    "the static tokens",
		"/settings/elsewhere":                                 "/settings/elsewhere",
		"/flags":                                              "/flags",
		"/namespaces//flags/x":                                "/namespaces//flags/x",
		"/namespaces/%zz/flags/x":                             "/namespaces/%zz/flags/x",
		"/":                                                   "/",
	} {
		if got := placeName(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
