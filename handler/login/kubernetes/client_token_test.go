package kubernetes_test

import (
	"regexp"
	"testing"

	"github.com/guidonhq/guidon/handler/login/kubernetes"
)

// TestClientToken: key and token decide, and nothing else. The result has the form of all
// client tokens.
func TestClientToken(t *testing.T) {
	a, b := [32]byte{1}, [32]byte{2}
	got := kubernetes.ClientToken(a, "x.y.z")
	const want = "gdn_0HboUmgFBE1R-HTRI0c617bAkjnqr2pUGPoywFHakb412cPgM" // computed independently
	if got != want {
		t.Errorf("got %q, want %q: running instances have exchanged tokens for it", got, want)
	}
	if again := kubernetes.ClientToken(a, "x.y.z"); again != got {
		t.Errorf("got %q and %q for the same token", got, again)
	}
	if !regexp.MustCompile(`^gdn_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$`).MatchString(got) {
		t.Errorf("%q does not have the form of a client token", got)
	}
	seen := map[string]bool{got: true}
	for _, other := range []string{kubernetes.ClientToken(b, "x.y.z"), kubernetes.ClientToken(a, "x.y.Z"), kubernetes.ClientToken(a, "")} {
		if seen[other] {
			t.Errorf("%q twice", other)
		}
		seen[other] = true
	}
}
