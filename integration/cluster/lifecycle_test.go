package cluster

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestSecondServerIsRefused: a second server on an SQLite file ends with an error.
func TestSecondServerIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guidon.db")
	first := harness.Start(t, "file:"+file)
	second := harness.Launch(t, "file:"+file)
	if code := second.Wait(t); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if log := second.Log(); !strings.Contains(log, "in use") {
		t.Errorf("the log does not give the reason:\n%s", log)
	}
	first.Must(t, "GET", "/health", nil, nil)
}

// TestSecondSignalEndsAtOnce: after the first SIGTERM the server waits for the shutdown
// delay. A second one ends it immediately.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"), "GUIDON_SERVER_SHUTDOWN_DELAY=1h")
	s.Signal(t, syscall.SIGTERM)
	for { // until the health check fails, the signal has not been handled
		a, err := s.Call(t.Context(), "GET", "/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status == 503 {
			break
		}
	}
	s.Signal(t, syscall.SIGTERM)
	if code := s.Wait(t); code == 0 {
		t.Error("exit code 0 after a second signal, want a nonzero one")
	}
}

// TestBootstrapToken: a random bootstrap token is valid and logged once. A configured one
// is valid and never logged.
func TestBootstrapToken(t *testing.T) {
	required := []string{
		"GUIDON_AUTHENTICATION_REQUIRED=true",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
	}
	t.Run("random", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "guidon.db")
		s := harness.Start(t, "file:"+file, required...)
		token := regexp.MustCompile(`gdn_[-_A-Za-z0-9]+=*`).FindString(s.Log())
		if token == "" {
			t.Fatalf("no token in the log:\n%s", s.Log())
		}
		s.Must(t, "GET", "/auth/v1/self", nil, nil, "Authorization: Bearer "+token)
		s.Signal(t, syscall.SIGTERM)
		s.Wait(t)
		if log := harness.Start(t, "file:"+file, required...).Log(); strings.Contains(log, "gdn_") {
			t.Errorf("a later start logged a token:\n%s", log)
		}
	})
	t.Run("configured", func(t *testing.T) {
		const secret = "a-configured-secret"
		s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"),
			append(required, "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN="+secret)...)
		s.Must(t, "GET", "/auth/v1/self", nil, nil, "Authorization: Bearer "+secret)
		if strings.Contains(s.Log(), secret) {
			t.Errorf("the secret is in the log:\n%s", s.Log())
		}
	})
}

// TestCommandLineBesideServer: a command that would write to the SQLite file of a running
// server fails and names --address, with which it succeeds.
func TestCommandLineBesideServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guidon.db")
	s := harness.Start(t, "file:"+file)
	document := filepath.Join("..", "..", "examples", "shop.yaml")

	harness.Ends(t, harness.Command(t, "file:"+file, "import", document), false, "--address")
	remote := exec.Command(harness.Program(t), "import", document, "--address", s.URL)
	remote.Env = []string{"HOME=" + t.TempDir()}
	if out, err := remote.CombinedOutput(); err != nil {
		t.Errorf("remote import: %v\n%s", err, out)
	}
}
