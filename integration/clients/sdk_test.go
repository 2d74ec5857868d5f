package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// ofrepDocument contains the flags that the tests of the OpenFeature providers evaluate, in
// a separate namespace.
var ofrepDocument = map[string]any{
	"namespace": map[string]any{"key": "ofrep", "name": "OFREP"},
	"segments": []any{
		segmentOf("adults", "NUMBER_COMPARISON_TYPE", "age", "gte", "18"),
		segmentOf("late", "DATETIME_COMPARISON_TYPE", "since", "gt", "2026-05-01T10:20:30Z"),
	},
	"flags": []any{
		booleanFor("adult", "adults"), booleanFor("since", "late"),
		map[string]any{"key": "off", "name": "Off", "type": "BOOLEAN_FLAG_TYPE"},
		map[string]any{"key": "disabled", "name": "Disabled"},
		map[string]any{
			"key": "half", "name": "Half", "enabled": true,
			"variants": []any{map[string]any{"key": "a"}, map[string]any{"key": "b"}},
			"rules": []any{map[string]any{
				"segmentKeys": []any{"adults"},
				"distributions": []any{
					map[string]any{"variant": "a", "rollout": 50}, map[string]any{"variant": "b", "rollout": 50},
				},
			}},
		},
		typedFlag("named", "nope", `false`, nil), typedFlag("ratio", "quarter", `0.25`, nil),
		typedFlag("banner", "plain", `{"text":"Hello","sizes":[1,2.5],"dark":false}`, []any{"adults"}),
	},
}

func segmentOf(key, comparison, property, operator, value string) map[string]any {
	return map[string]any{"key": key, "name": key, "constraints": []any{map[string]any{
		"type": comparison, "property": property, "operator": operator, "value": value,
	}}}
}

// booleanFor returns a boolean flag that is true for the segment.
func booleanFor(key, segment string) map[string]any {
	return map[string]any{"key": key, "name": key, "type": "BOOLEAN_FLAG_TYPE", "rollouts": []any{
		map[string]any{"segment": map[string]any{"segmentKeys": []any{segment}, "value": true}},
	}}
}

// typedFlag returns a flag whose value is the attachment of its only variant, for the
// segments or, if there are none, by default.
func typedFlag(key, variant, attachment string, segments []any) map[string]any {
	f := map[string]any{
		"key": key, "name": key, "enabled": true, "metadata": `{"openfeature.value":"attachment"}`,
		"variants": []any{map[string]any{"key": variant, "attachment": attachment, "default": segments == nil}},
	}
	if segments != nil {
		f["metadata"] = `{"openfeature.value":"attachment","owner":"web"}`
		f["rules"] = []any{map[string]any{
			"segmentKeys": segments, "distributions": []any{map[string]any{"variant": variant, "rollout": 100}},
		}}
	}
	return f
}

// TestNodeClients runs the published Node clients against the server: the client of the
// Flipt v1 API, and the OpenFeature providers for servers and browsers.
func TestNodeClients(t *testing.T) {
	harness.InstallNode(t, "node")
	s := startForClients(t)
	tests := exec.Command("npm", "test")
	tests.Dir = "node"
	tests.Env = append(os.Environ(), "GUIDON_URL="+s.URL, "GUIDON_TOKEN="+sdkToken)
	if out, err := tests.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

const sdkToken = "sdk-test-token"

// startForClients starts a server that requires sdkToken and contains the documents above.
func startForClients(t *testing.T) *harness.Server {
	t.Helper()
	s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"),
		"GUIDON_AUTHENTICATION_REQUIRED=true",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+sdkToken,
		"GUIDON_WEBHOOKS_ALLOW_HTTP=true", "GUIDON_WEBHOOKS_ALLOWED_NETWORKS=127.0.0.0/8")
	for namespace, document := range map[string]any{"default": harness.Document, "ofrep": ofrepDocument} {
		s.Must(t, "POST", "/api/v1/namespaces/"+namespace+"/import", map[string]any{"document": document}, nil,
			"Authorization: Bearer "+sdkToken)
	}
	return s
}
