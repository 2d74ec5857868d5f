package integration

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// bootstrap builds the function once, for this machine.
var bootstrap = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildDir, "bootstrap")
	return path, buildBootstrap(path)
})

// buildBootstrap builds the function as for a release.
func buildBootstrap(path string, env ...string) error {
	build := exec.Command("make", "-s", "-C", "..", "build-lambda", "BOOTSTRAP="+path) // #nosec G204 -- our own
	build.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the function: %w\n%s", err, out)
	}
	return nil
}

// function returns the function on the database, with additional settings in the
// environment. It is killed at the end of the test.
func function(t testing.TB, database string, env ...string) *lambdatest.Function {
	t.Helper()
	path, err := bootstrap()
	if err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	f := &lambdatest.Function{
		Bootstrap: path, Timeout: patience, Log: &log,
		Env: append([]string{"GUIDON_DB_URL=" + database}, env...),
	}
	t.Cleanup(func() {
		f.Kill()
		if t.Failed() {
			t.Logf("log of the function:\n%s", log.String())
		}
	})
	return f
}

// behind returns the API of the function behind the front.
func behind(t testing.TB, f *lambdatest.Function, front lambdatest.Front) *server {
	t.Helper()
	s := httptest.NewServer(f.Serve(front))
	t.Cleanup(s.Close)
	return &server{URL: s.URL}
}
