package config

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOrDefault: a default file that does not exist is left out, one that is named is not.
func TestOrDefault(t *testing.T) {
	there := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, standard, want string }{
		{"", there, there}, {"", there + "x", ""}, {"/named", there, "/named"}, {"/named", there + "x", "/named"},
	} {
		if got := orDefault(test.path, test.standard); got != test.want {
			t.Errorf("%q, %q: got %q, want %q", test.path, test.standard, got, test.want)
		}
	}
	k := Kubernetes{ServiceAccountTokenPath: "/b"}
	if k.TokenFile() != "/b" {
		t.Errorf("got %q", k.TokenFile())
	}
}
