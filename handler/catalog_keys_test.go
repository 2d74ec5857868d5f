package handler_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFlagSummariesByKeys: a list of keys selects exactly those flags that exist.
func TestFlagSummariesByKeys(t *testing.T) {
	s := newEdited(t)
	const path = "/api/v1/namespaces/default/catalog/flags?sort=KEY_FLAG_SORT"
	for _, test := range []struct{ name, query, want string }{
		{"no key", "", "banner checkout"},
		{"one key", "&keys=checkout", "checkout"},
		{"part of a key", "&keys=check", ""},
		{"a key and a query that excludes it", "&keys=checkout&query=banner", ""},
		{"several keys", "&keys=banner&keys=checkout&keys=none", "banner checkout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(s.flagKeys(path+test.query), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	t.Run("too many keys", func(t *testing.T) {
		s.do("GET", path+strings.Repeat("&keys=a", 1001), "").fails(t, 400, 3, "invalid field keys: must not have more than 1000 values")
	})
}

// flagKeys returns the keys of the flags that a list of summaries has.
func (s *server) flagKeys(path string) (keys []string) {
	s.t.Helper()
	var list struct{ Flags []struct{ Key string } }
	if err := json.Unmarshal([]byte(s.must("", "GET", path, "").body), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, f := range list.Flags {
		keys = append(keys, f.Key)
	}
	return keys
}
