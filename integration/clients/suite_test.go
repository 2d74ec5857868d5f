package clients

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// lambdaDifferences are the tests of package handler that fail behind a front of AWS
// Lambda because of the front. No others may fail. docs/operations.md lists the
// differences; TestLambdaDifferences checks what clients get instead.
var lambdaDifferences = []struct {
	front string // pattern for the name of the front
	test  string
	why   string
}{
	{"*", "TestAbort", "there is no connection to cut: the answer is a 500"},
	{"*", "TestPanicElsewhere/in_the_middle_of_the_response", "the same"},
	{"*", "TestBadInput/an_oversized_import", "the front refuses a body of more than 6 MB"},
	{"*", "TestLargePlan", "the same"},
	{"*", "TestHalfBodies", "the front has read a body to its end, or refuses it"},
	{"*", "TestChangeStreamRecords", "a function does not stream events"},
	{"*", "TestOFREPEventStreams", "the same"},
	{"*", "TestRoleOfStreams", "the same"},
	{"*", "TestStateRejected/stream", "the same"},
	{"*", "TestTraceOfFront", "the front sets the header X-Amzn-Trace-Id"},
	{"*", "TestMessageHeader/invalid_UTF-8", "an event is JSON: U+FFFD replaces the bytes"},
	{"HTTP API*", "TestPaths/invalid_UTF-8_in_the_path", "an event is JSON, and the path in it is decoded"},
	{"HTTP API*", "TestInvalidUTF8InRequests", "the same"},
	{"REST API*", "TestInvalidUTF8InRequests", "an event is JSON, and the query in it is decoded"},
	{"REST API", "TestBadInput/a_query_that_is_malformed", "the front decodes the query"},
	{"REST API", "TestSteps/a_malformed_query", "the same"},
	{"load balancer", "TestBadInput/a_parameter_twice", "the last of several is passed on; not with multi-value headers"},
	{"load balancer", "TestSteps/a_parameter_twice", "the same"},
	{"load balancer", "TestOFREPErrors/a_namespace_twice", "the same"},
	{"load balancer", "TestOFREPErrors/a_namespace_twice,_bulk", "the same"},
	{"load balancer", "TestCredentials/only_the_first_header_counts", "the same"},
	{"load balancer", "TestRevision/two_headers", "the same"},
	{"load balancer", "TestLatestChanges/several_keys", "the same"},
	{"load balancer", "TestLatestChanges/too_many_keys", "the same"},
	{"load balancer", "TestFlagSummariesByKeys/several_keys", "the same"},
	{"load balancer", "TestFlagSummariesByKeys/too_many_keys", "the same"},
	{"load balancer", "TestCatalogErrors/too_many_tags", "the same"},
}

// insideTests are the tests of package handler that need a server in their own process, at
// least partly, because it has a clock, a store or an observer of the test, or is called
// without a request. All other tests run against a separate process.
var insideTests = []string{
	"TestAbort", "TestBackupOrigins", "TestCORSCredentials", "TestCounts", "TestCountsOfUnknown", "TestCountsOff", "TestCrossOriginOperations", "TestCrossOriginRoutes", "TestCrossOriginSignIn", "TestCrossOriginSources",
	"TestDatabaseUnavailable", "TestDiagnosticsAccess", "TestDuration", "TestEveryRouteIsReachable", "TestFailureAddress", "TestFailureEvent",
	"TestFailureLimit", "TestFailureLocal", "TestFailureLoopback", "TestFailureOfKnownToken", "TestFailureOnLambda", "TestFailureTotal",
	"TestFewLatestChanges", "TestFieldsOfForms", "TestFieldsRoundTrip", "TestHealth", "TestHeavy", "TestHosts", "TestImportMemory", "TestInvalidUTF8InRequests", "TestInvoke", "TestLargePlan",
	"TestMessagesOfOtherTransports", "TestMetaOfBuild", "TestMounts", "TestNULInRequests", "TestNotFailures", "TestNotThrottled", "TestOFREPFailures",
	"TestOFREPObserved", "TestOFREPRestored", "TestObserver", "TestObserverOfLargeBatch", "TestOneQueryPerRequest", "TestPanic", "TestPanicElsewhere",
	"TestPanickingObserver", "TestPlanOverGRPC", "TestProfiler", "TestRamp", "TestRanges", "TestReadOnlyTrusted", "TestRecordAddress", "TestReports", "TestRequestLimit", "TestRequestLimitIsOne", "TestRoles", "TestSelfOfJWT", "TestSessionCookie",
	"TestSignIn", "TestSnapshotObserved", "TestStateOperations", "TestSteps", "TestTextsOfOtherTransports", "TestTime", "TestTimeInAnalyses", "TestTimeOfStates", "TestTooLargeForTurn", "TestUnavailable", "TestUnknownFieldOverGRPC", "TestUnknownMembersOfOperations", "TestUnreadable",
}

// leastOutside is the minimum number of tests of package handler that run against separate
// processes. With fewer, some would no longer do so, unnoticed.
const leastOutside = 100

// TestSuite runs the whole suite of package handler (management, evaluation, OFREP, tokens,
// errors and limits) against the real programs on PostgreSQL: the server, and the function
// behind one front or, with FULL=1, behind each. Each server of a test is a separate process with
// its own database. The servers that must be in the test's process are behind the front as well.
func TestSuite(t *testing.T) {
	harness.Postgres.Need(t)
	tests := filepath.Join(t.TempDir(), "handler.test")
	if out, err := exec.Command("go", "test", "-c", "-o", tests, "../../handler").CombinedOutput(); err != nil { // #nosec G204 -- our own
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		run := suiteRun{t: t, start: func(t *testing.T, database string, settings []string) (string, *harness.Buffer) {
			s := harness.Start(t, database, settings...)
			return s.URL, &s.Output
		}}
		run.check(tests, "", nil)
	})
	behindFront := func(name string, front lambdatest.Front, further ...string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := suiteRun{t: t, start: func(t *testing.T, database string, settings []string) (string, *harness.Buffer) {
				f := harness.Function(t, database, append(settings, further...)...)
				return harness.Behind(t, f, front).URL, f.Log.(*harness.Buffer)
			}}
			var failing []string
			for _, d := range lambdaDifferences {
				if ok, _ := path.Match(d.front, front.Name); ok {
					failing = append(failing, d.test)
				}
			}
			run.check(tests, front.Name, failing)
		})
	}
	const streaming = "GUIDON_LAMBDA_STREAMING=true"
	behindFront("function URL, streaming", lambdatest.FunctionURL(), streaming)
	if !harness.Full() { // package lambda tests each kind of event, and responses that are not streamed
		return
	}
	behindFront("REST API, streaming", lambdatest.RESTAPI(), streaming)
	for _, front := range lambdatest.Fronts() {
		behindFront(front.Name, front)
	}
}

// suiteRun is one run of the suite. It provides the services (see outside_test.go in
// package handler), each in a subtest.
type suiteRun struct {
	t     *testing.T
	start func(t *testing.T, database string, settings []string) (url string, log *harness.Buffer)

	mu      sync.Mutex
	outside map[string]int // number of separate processes, by the name of the test
	inside  map[string]int // number of servers in the test's process
}

// check runs the suite and compares the tests that fail with those that are expected to.
func (s *suiteRun) check(tests, front string, failing []string) {
	s.t.Helper()
	s.inside, s.outside = map[string]int{}, map[string]int{}
	provider := httptest.NewServer(s)
	defer provider.Close() // waits for the services to end

	run := exec.CommandContext(s.t.Context(), tests, "-test.v", "-test.run=^Test", "-test.timeout=10m") // #nosec G204 -- our own
	run.Dir = "../../handler"                                                                           // for its testdata
	run.Env = append(os.Environ(), "TEST_PROVIDER="+provider.URL, "TEST_FRONT="+front)
	out, err := run.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		s.t.Fatal(err)
	}
	wantCode := 0
	if len(failing) > 0 {
		wantCode = 1 // a panic gives another one
	}
	passed, failed := outcomes(out)
	slices.Sort(failing)
	if diff := cmp.Diff(failing, failed); diff != "" || run.ProcessState.ExitCode() != wantCode {
		s.t.Errorf("%v; tests that fail (-want +got):\n%s\n%s", err, diff, withoutPasses(out))
	}
	if diff := cmp.Diff(insideTests, slices.Sorted(maps.Keys(s.inside))); diff != "" {
		s.t.Errorf("tests with a server in their own process (-want +got):\n%s", diff)
	}
	if len(s.outside) < leastOutside {
		s.t.Errorf("%d tests have processes, want at least %d", len(s.outside), leastOutside)
	}
	processes, cases := 0, 0
	for test, n := range s.outside {
		processes += n
		cases += passed[test]
	}
	s.t.Logf("%d tests ran against %d processes, with %d passes including subtests; %d failed as expected; %d tests had a server in their own process",
		len(s.outside), processes, cases, len(failed), len(s.inside))
}

// ServeHTTP provides a service for the duration of the request, or records that the test
// needs none.
func (s *suiteRun) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	test := r.PostForm.Get("test")
	name, _, _ := strings.Cut(test, "/")
	if why := r.PostForm.Get("inside"); why != "" {
		s.record(s.inside, name)
		return
	}
	s.record(s.outside, name)
	provided := false
	s.t.Run(test, func(t *testing.T) {
		database := harness.Postgres.Migrated(t)
		url, log := s.start(t, database, r.PostForm["setting"])
		provided = true
		w.Header().Set("Service-Url", url)
		w.Header().Set("Database-Url", database)
		log.Follow(w, r)
	})
	if !provided {
		http.Error(w, "there is no service: see "+s.t.Name(), http.StatusInternalServerError)
	}
}

func (s *suiteRun) record(tests map[string]int, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tests[name]++
}

var outcomeLine = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+) \(`)

// outcomes parses the output of package testing. It returns how often each test passed,
// including its subtests, and which tests failed or were skipped. If that is due to
// subtests, only these are returned.
func outcomes(out []byte) (passed map[string]int, failed []string) {
	passed = map[string]int{}
	for _, match := range outcomeLine.FindAllSubmatch(out, -1) {
		if name := string(match[2]); string(match[1]) == "PASS" {
			test, _, _ := strings.Cut(name, "/")
			passed[test]++
		} else {
			failed = append(failed, name)
		}
	}
	slices.Sort(failed)
	for i := len(failed) - 2; i >= 0; i-- {
		if strings.HasPrefix(failed[i+1], failed[i]+"/") {
			failed = slices.Delete(failed, i, i+1)
		}
	}
	return passed, failed
}

// withoutPasses returns the output without the lines about tests that start or pass.
func withoutPasses(out []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(out) {
		if text := bytes.TrimSpace(line); !bytes.HasPrefix(text, []byte("===")) && !bytes.HasPrefix(text, []byte("--- PASS")) {
			kept = append(kept, line...)
		}
	}
	return kept
}
