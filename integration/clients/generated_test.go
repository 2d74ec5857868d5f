package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestGeneratedGoClient generates a client from openapi.yaml with oapi-codegen, and runs it
// against the server. It has a module of its own, in whose copy the client is generated.
func TestGeneratedGoClient(t *testing.T) {
	s := startForClients(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("generated")); err != nil {
		t.Fatal(err)
	}
	description := filepath.Join(harness.ModuleDir(t), "handler", "openapi.yaml")
	for _, args := range [][]string{
		{"tool", "oapi-codegen", "-config", "oapi-codegen.yaml", description},
		{"test", "-count=1", "."},
	} {
		run := exec.Command("go", args...) // #nosec G204 -- our own
		run.Dir = dir
		run.Env = append(os.Environ(), "CGO_ENABLED=0", "GUIDON_URL="+s.URL, "GUIDON_TOKEN="+sdkToken)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
}

// TestGeneratedTypeScriptClient generates types from openapi.yaml with openapi-typescript, checks the
// client of openapi-fetch against them, and runs it against the server.
func TestGeneratedTypeScriptClient(t *testing.T) {
	harness.InstallNode(t, "typescript")
	s := startForClients(t)
	run := exec.Command("npm", "test")
	run.Dir = "typescript"
	run.Env = append(os.Environ(), "GUIDON_URL="+s.URL, "GUIDON_TOKEN="+sdkToken)
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
