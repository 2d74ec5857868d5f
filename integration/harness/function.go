package harness

import (
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// bootstrap builds the function once, for this machine.
var bootstrap = sync.OnceValues(func() (string, error) {
	if path := built("bootstrap"); path != "" {
		return path, nil
	}
	path := filepath.Join(buildDir, "bootstrap")
	return path, BuildFunction(path)
})

// BuildFunction builds the function for AWS Lambda as for a release. env is added to the
// environment of the build.
func BuildFunction(path string, env ...string) error {
	return release("build-lambda", "BOOTSTRAP="+path, env...)
}

// Function returns the function for AWS Lambda on the database, with additional settings in
// the environment. Its Log is a *Buffer. It is killed at the end of the test.
func Function(t testing.TB, database string, env ...string) *lambdatest.Function {
	t.Helper()
	path, err := bootstrap()
	mustSucceed(t, err)
	var log Buffer
	f := &lambdatest.Function{
		Bootstrap: path, Timeout: Patience, Log: &log,
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

// Behind returns the API of the function behind the front, until the end of the test.
func Behind(t testing.TB, f *lambdatest.Function, front lambdatest.Front) *Server {
	t.Helper()
	s := httptest.NewServer(f.Serve(front))
	t.Cleanup(s.Close)
	return &Server{URL: s.URL}
}
