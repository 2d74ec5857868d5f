package kubernetes_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/service"
)

// fixture is a cluster with an API server.
type fixture struct {
	*kubernetes.Cluster
	server *logintest.Cluster
	clock  *logintest.Clock
	own    string // the file with our own token
}

// newFixture returns a fixture that is configured as change says, which may be nil.
func newFixture(t testing.TB, change func(*kubernetes.Config)) *fixture {
	t.Helper()
	f := &fixture{clock: logintest.NewClock()}
	f.server = logintest.NewCluster(t, f.clock)
	f.own = writeFile(t, f.server.Own+"\n")
	c := kubernetes.Config{DiscoveryURL: f.server.URL, ServiceAccountTokenPath: f.own, Now: f.clock.Now}
	if change != nil {
		change(&c)
	}
	var err error
	if f.Cluster, err = kubernetes.New(c); err != nil {
		t.Fatal(err)
	}
	return f
}

// byKeys configures the other mode.
func byKeys(c *kubernetes.Config) { c.Verify = kubernetes.Keys }

// modes are the changes of a configuration for both modes.
var modes = map[string]func(*kubernetes.Config){"review": nil, "keys": byKeys}

// token returns a token of the account shop/checkout with the other claims.
func (f *fixture) token(others map[string]any) string {
	return f.server.Key.Token("ES256", f.server.Claims("shop", "checkout", others))
}

// at returns the time so long after now as a claim.
func (f *fixture) at(d time.Duration) int64 { return f.clock.Now().Add(d).Unix() }

// accept verifies the token, which must succeed.
func (f *fixture) accept(t testing.TB, name, token string) *service.Identity {
	t.Helper()
	identity, err := f.Verify(t.Context(), token)
	if err != nil {
		t.Errorf("%s: rejected: %v", name, err)
		return new(service.Identity)
	}
	return identity
}

// refuse verifies the token, which must fail in the same way as every invalid one.
func (f *fixture) refuse(t testing.TB, name, token string) {
	t.Helper()
	identity, err := f.Verify(t.Context(), token)
	if err == nil {
		t.Errorf("%s: accepted as %q", name, identity.Subject)
		return
	}
	if guidon.CodeOf(err) != guidon.Unauthenticated || guidon.PublicMessage(err) != guidon.PublicMessage(service.ErrUnauthenticated) {
		t.Errorf("%s: got %v, want the error of all invalid credentials", name, err)
	}
	if identity != nil {
		t.Errorf("%s: got %v beside an error", name, identity)
	}
}

// fail verifies the token, which must fail with the code.
func (f *fixture) fail(t testing.TB, name, token string, want guidon.Code) error {
	t.Helper()
	_, err := f.Verify(t.Context(), token)
	if err == nil || guidon.CodeOf(err) != want {
		t.Errorf("%s: got %v, want the code %v", name, err, want)
	}
	return err
}

func writeFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
