package config

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMemberKeys: the name in a variable is unambiguous only if no key of a named group is
// the end of another.
func TestMemberKeys(t *testing.T) {
	groups := allNamedGroups(standard())
	if len(groups) == 0 {
		t.Fatal("no named groups")
	}
	for _, g := range groups {
		var suffixes []string
		for _, f := range g.members() {
			suffixes = append(suffixes, f.suffixes()...)
		}
		for i, suffix := range suffixes {
			for j, other := range suffixes {
				if i != j && strings.HasSuffix(other, suffix) {
					t.Errorf("%s: %s is the end of %s", g.key, suffix, other)
				}
			}
		}
	}
}

func TestSplit(t *testing.T) {
	g := allNamedGroups(standard())[0]
	for rest, want := range map[string]string{ // "" means none
		"GOOGLE_CLIENT_ID":                          "google",
		"GOOGLE_CLIENT_SECRET":                      "google",
		"GOOGLE_CLIENT_SECRET_FILE":                 "google",
		"MY_CLIENT_CLIENT_ID":                       "my_client",
		"CLIENT_ID_CLIENT_ID":                       "client_id",
		"MY-IDP_ISSUER_URL":                         "my-idp",
		"A_AUTHORIZE_PARAMS_PROMPT":                 "a",
		"A_AUTHORIZE_PARAMS_CLIENT_ID":              "a",
		"A_B_AUTHORIZE_PARAMS_X_AUTHORIZE_PARAMS_Y": "a_b",
		"A_SCOPES":                                  "a",
		"A_SCOPES_FILE":                             "", // lists have none
		"google_CLIENT_ID":                          "",
		"CLIENT_ID":                                 "",
		"_CLIENT_ID":                                "",
		"GOOGLE":                                    "",
		"GOOGLE_NONCE":                              "",
		"GOOGLE_AUTHORIZE_PARAMS":                   "",
		"GOOGLE_AUTHORIZE_PARAMS_":                  "",
		"":                                          "",
	} {
		if got, ok := g.split(rest); ok != (want != "") || ok && got != want {
			t.Errorf("%s: got %q, %t, want %q", rest, got, ok, want)
		}
	}
}

// FuzzSplit: whatever the variable, name and key are those of the variable.
func FuzzSplit(f *testing.F) {
	for _, rest := range []string{"GOOGLE_CLIENT_ID", "A_AUTHORIZE_PARAMS_CLIENT_ID", "_CLIENT_ID", "A_CA_PATH_FILE"} {
		f.Add(rest)
	}
	g := allNamedGroups(standard())[0]
	f.Fuzz(func(t *testing.T, rest string) {
		name, ok := g.split(rest)
		if !ok || g.checkName(name) != nil {
			return
		}
		var found problems
		c := standard()
		variable := g.variablePrefix() + rest
		loadEnvironment(c, environment{variable: "x"}, &found)
		for _, problem := range found.list {
			if strings.Contains(problem.String(), "unknown variable") {
				t.Errorf("%s: %s", variable, problem)
			}
		}
		if got := slices.Collect(maps.Keys(c.Authentication.Methods.OIDC.Providers)); !cmp.Equal(got, []string{name}) {
			t.Errorf("%s: got the providers %q, want %q", variable, got, name)
		}
	})
}
