package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// lambdaDifferences are the tests of package handler that do not hold behind a
// front of AWS Lambda, whatever the function does. docs/operations.md tells them.
var lambdaDifferences = []struct {
	front string // how the name of the fronts begins
	test  string
	why   string
}{
	{"", "TestProfiler", "nobody is on the machine of a function"},
	{"", "TestAbort", "there is no connection to cut: the answer is a 500"},
	{"", "TestBadInput/an_oversized_import", "the front refuses a body of more than 6 MB"},
	{"", "TestBodies", "the front has read a body to its end, or refuses it"},
	{"", "TestChangeStreamRecords", "a function does not stream events"},
	{"", "TestOFREPEventStreams", "the same"},
	{"HTTP API", "TestPaths/invalid_UTF-8_in_the_path", "an event is JSON, and the path in it is decoded"},
	{"REST API", "TestBadInput/a_query_that_is_malformed", "the front decodes the query"},
	{"load balancer", "TestBadInput/a_parameter_twice", "the last of several is passed on; not with multi-value headers"},
	{"load balancer", "TestCredentials/only_the_first_header_counts", "the same"},
	{"load balancer", "TestRevision/two_headers", "the same"},
}

// TestLambdaSuite runs the whole suite of package handler, management, evaluation,
// OFREP, tokens, errors and limits, once more behind each front.
func TestLambdaSuite(t *testing.T) {
	suite := filepath.Join(t.TempDir(), "handler.test")
	if out, err := exec.Command("go", "test", "-c", "-o", suite, "../handler").CombinedOutput(); err != nil { // #nosec G204 -- our own
		t.Fatalf("%v\n%s", err, out)
	}
	for _, front := range lambdatest.Fronts() {
		t.Run(front.Name, func(t *testing.T) {
			t.Parallel()
			var skipped []string
			for _, d := range lambdaDifferences {
				if strings.HasPrefix(front.Name, d.front) && (d.front != "load balancer" || front.Name == d.front) {
					skipped = append(skipped, "^"+strings.ReplaceAll(d.test, "/", "$/^")+"$")
				}
			}
			run := exec.CommandContext(t.Context(), suite, "-test.skip", strings.Join(skipped, "|")) // #nosec G204 -- our own
			run.Dir = "../handler"                                                                   // for its testdata
			run.Env = append(os.Environ(), "TEST_FRONT="+front.Name)
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
