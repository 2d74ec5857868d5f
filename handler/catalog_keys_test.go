package handler_test

import (
	"strings"
	"testing"
)

// TestFlagSummariesByKeys: a list of keys selects exactly those flags that exist.
func TestFlagSummariesByKeys(t *testing.T) {
	s := newEdited(t)
	const path = "/api/v1/namespaces/default/catalog/flags?sort=KEY_FLAG_SORT"
	for query, want := range map[string]string{
		"&keys=checkout&keys=none": "checkout", "&keys=banner&keys=checkout": "banner checkout", "&keys=check": "", "&keys=checkout&query=banner": "", "": "banner checkout",
	} {
		var got []string
		for _, part := range strings.Split(s.do("GET", path+query, "").body, `"flags":[`)[1:] {
			for _, key := range []string{"banner", "checkout"} {
				if strings.Contains(strings.Split(part, `"facets"`)[0], `"key":"`+key+`"`) {
					got = append(got, key)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	s.do("GET", path+strings.Repeat("&keys=a", 101), "").fails(t, 400, 3, "invalid field keys: must not have more than 100 values")
}
