package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// sdkDocument holds what the tests of the published clients ask for.
var sdkDocument = map[string]any{
	"segments": []any{map[string]any{
		"key": "segment1", "name": "Segment 1",
		"constraints": []any{map[string]any{
			"type": "STRING_COMPARISON_TYPE", "property": "fizz", "operator": "eq", "value": "buzz",
		}},
	}},
	"flags": []any{
		map[string]any{
			"key": "flag1", "name": "Flag 1", "enabled": true,
			"variants": []any{map[string]any{"key": "variant1", "attachment": `{"colour":"teal"}`}},
			"rules": []any{map[string]any{
				"segmentKeys":   []any{"segment1"},
				"distributions": []any{map[string]any{"variant": "variant1", "rollout": 100}},
			}},
		},
		map[string]any{
			"key": "flag_boolean", "name": "Boolean", "type": "BOOLEAN_FLAG_TYPE",
			"rollouts": []any{map[string]any{"segment": map[string]any{"segmentKeys": []any{"segment1"}, "value": true}}},
		},
	},
}

// TestNodeClient runs the published Node client against the server.
func TestNodeClient(t *testing.T) {
	need(t, "node")
	need(t, "npm")
	install := exec.Command("npm", "ci")
	install.Dir = "node"
	if out, err := install.CombinedOutput(); err != nil {
		skip(t, "npm ci: %v\n%s", err, out)
	}

	const token = "sdk-test-token"
	s := start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"),
		"GUIDON_AUTHENTICATION_REQUIRED=true",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+token)
	s.must(t, "POST", "/api/v1/namespaces/default/import", map[string]any{"document": sdkDocument}, nil,
		"Authorization: Bearer "+token)

	tests := exec.Command("npm", "test")
	tests.Dir = "node"
	tests.Env = append(os.Environ(), "GUIDON_URL="+s.URL, "GUIDON_TOKEN="+token)
	if out, err := tests.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// need skips the test where a program that it runs is not installed.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		skip(t, "%s is not installed", program)
	}
}

// skip skips the test on a developer's machine, and fails it where INTEGRATION=1
// says that everything has to run, as continuous integration does.
func skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("INTEGRATION") == "1" {
		t.Fatalf(format, args...)
	}
	if _, isBenchmark := t.(*testing.B); isBenchmark { // whose skips package testing keeps to itself
		fmt.Fprintf(os.Stderr, t.Name()+": SKIPPED: "+format+"\n", args...)
	}
	t.Skipf("SKIPPED: "+format, args...)
}
