package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHasToken: a file that does not exist is no token.
func TestHasToken(t *testing.T) {
	there := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{there: true, there + "x": false} {
		if got := (Kubernetes{ServiceAccountTokenPath: path}).hasToken(); got != want {
			t.Errorf("%q: got %t, want %t", path, got, want)
		}
	}
}
