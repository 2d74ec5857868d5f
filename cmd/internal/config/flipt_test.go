package config

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// fliptReference returns every key of Flipt.
func fliptReference(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/flipt-keys-v1.61.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	list := slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") })
	if len(list) < 200 {
		t.Fatalf("got %d keys, want at least 200", len(list))
	}
	return list
}

// TestEveryFliptKey: every key of Flipt, and its variable, is kept, or has a key or an
// explanation instead.
func TestEveryFliptKey(t *testing.T) {
	for _, key := range fliptReference(t) {
		k, ok := FindFlipt(key)
		if !ok || k.Status == FliptKept && k.Key != key || k.Status != FliptKept && k.hint() == "" {
			t.Errorf("%s: got %+v", key, k)
		}
		if (k.Status == FliptMoved || k.Status == FliptCombined) != (k.To != "") {
			t.Errorf("%s: got the fate %d and the key %q", key, k.Status, k.To)
		}
		variable := variableName(strings.ReplaceAll(key, "*", "google-2"))
		if got, rest, ok := FindFliptVariable(variable); !ok || got.Key != k.Key || strings.Contains(key, "*") && rest != "google-2" {
			t.Errorf("%s: got %+v and %q, want %s", variable, got, rest, k.Key)
		}
	}
}

// TestNoOtherFliptKeys: the table has no keys that Flipt has not.
func TestNoOtherFliptKeys(t *testing.T) {
	list := fliptReference(t)
	for _, k := range fliptKeys() {
		known := slices.ContainsFunc(list, func(key string) bool {
			return key == k.Key || k.Status != FliptKept && strings.HasPrefix(key, k.Key+".")
		})
		if !known && k.Key != ourTeams {
			t.Errorf("%s is no key of Flipt", k.Key)
		}
	}
}

func TestFindFliptVariable(t *testing.T) {
	for _, test := range []struct{ variable, key, rest string }{
		{"SERVER_HTTP_PORT", "server.http_port", ""},
		{"SERVER_HTTP_PORTS", "", ""},
		{"SERVER_HTTP_PORT_X", "", ""},
		{"TRACING_OTLP_HEADERS_X", traceHeaders, "x"},
		{"TRACING_ZIPKIN_ENDPOINT", "tracing.zipkin", "endpoint"},
		{"TRACING_ZIPKINX", "", ""},
		{"AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_METADATA_TEAM", fliptMetadata, "team"},
		{"AUTHENTICATION_METHODS_OIDC_PROVIDERS_MY_IDP_CLIENT_ID", "authentication.methods.oidc.providers.*.client_id", "my_idp"},
		{"AUTHENTICATION_METHODS_OIDC_PROVIDERS_CLIENT_ID", "", ""},
		{"AUTHENTICATION_METHODS_GITHUB_ALLOWED_TEAMS_ACME", FliptTeams, "acme"},
		{"SERVICE_HOST", "", ""},
	} {
		if k, rest, ok := FindFliptVariable(test.variable); ok != (test.key != "") || k.Key != test.key || rest != test.rest {
			t.Errorf("%s: got %q and %q, want %q and %q", test.variable, k.Key, rest, test.key, test.rest)
		}
	}
}
