package lambda

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// buildEmpty builds the empty function, with which the real one is compared, and returns
// its path.
func buildEmpty(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "empty")
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w", "-o", path, "./testdata/emptyfunction") // #nosec G204 -- our own
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building the empty function: %v\n%s", err, out)
	}
	return path
}

// emptyFunction returns the function at the path, which does nothing or, if a database is
// given, reads one row by primary key.
func emptyFunction(b *testing.B, path, database string) *lambdatest.Function {
	b.Helper()
	f := &lambdatest.Function{Bootstrap: path, Timeout: harness.Patience, Env: []string{"EMPTY_DB_URL=" + database}}
	b.Cleanup(f.Kill)
	return f
}

// evaluationEvent is a request for an evaluation.
func evaluationEvent(b *testing.B) []byte {
	b.Helper()
	body := `{"namespaceKey":"default","flagKey":"flag-7","entityId":"user-42","context":{"country":"PT"}}`
	event, err := lambdatest.HTTPAPI("$default").Event(httptest.NewRequest(http.MethodPost, "/evaluate/v1/boolean", strings.NewReader(body)))
	if err != nil {
		b.Fatal(err)
	}
	return event
}

// answered invokes the function and fails unless the response is 200.
func answered(b *testing.B, f *lambdatest.Function, event []byte) lambdatest.Result {
	b.Helper()
	result, err := f.Invoke(b.Context(), event)
	if err != nil || result.FunctionError != "" || !strings.Contains(string(result.Payload), `"statusCode":200`) {
		b.Fatalf("got %s %s, error %v", result.FunctionError, result.Payload, err)
	}
	return result
}

// medians measures the two alternately, so that both run under the same load, and
// reports the medians and their ratio.
func medians(b *testing.B, real, empty func() time.Duration) {
	b.Helper()
	const runs = 20
	var reals, empties []time.Duration
	for b.Loop() {
		for range runs {
			reals, empties = append(reals, real()), append(empties, empty())
		}
	}
	slices.Sort(reals)
	slices.Sort(empties)
	r, e := reals[len(reals)/2], empties[len(empties)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(r)/float64(time.Millisecond), "ms")
	b.ReportMetric(float64(e)/float64(time.Millisecond), "empty-ms")
	b.ReportMetric(float64(r)/float64(e), "ratio")
}

// BenchmarkLambda compares starts and invocations of the function with those of an empty
// one, in processes that are frozen between invocations.
func BenchmarkLambda(b *testing.B) {
	harness.DurablePostgres.Need(b)
	database := harness.DurablePostgres.Migrated(b)
	_, err := harness.OpenStore(b, database).Update(b.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		for i := range 1000 {
			flag := &guidon.Flag{Key: fmt.Sprintf("flag-%d", i), Name: fmt.Sprintf("Flag %d", i), Type: guidon.BooleanFlag, Enabled: true}
			if err := tx.PutFlag(ctx, flag); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	path, event := buildEmpty(b), evaluationEvent(b)
	f := harness.Function(b, database)

	first := func(f *lambdatest.Function) func() time.Duration { // from the start to the response
		return func() time.Duration { f.Kill(); r := answered(b, f, event); return r.Init + r.Duration }
	}

	b.Run("init", func(b *testing.B) {
		empty := emptyFunction(b, path, "")
		start := func(f *lambdatest.Function) func() time.Duration {
			return func() time.Duration { f.Kill(); return answered(b, f, event).Init }
		}
		medians(b, start(f), start(empty))
	})
	b.Run("cold", func(b *testing.B) { // with the 1000 flags from the database
		medians(b, first(f), first(emptyFunction(b, path, database)))
	})
	b.Run("cold_redis", func(b *testing.B) { // with the 1000 flags from Redis
		redis := harness.StartRedis(b)
		f := harness.Function(b, database, harness.ThroughRedis(redis.URL)...)
		for kept(b, redis) == 0 { // snapshots are not stored in a new Redis immediately
			f.Kill()
			answered(b, f, event)
		}
		medians(b, first(f), first(emptyFunction(b, path, database)))
	})
	b.Run("warm", func(b *testing.B) { // thawed, with a query for the revision
		empty := emptyFunction(b, path, database)
		call := func(f *lambdatest.Function) func() time.Duration {
			answered(b, f, event)
			return func() time.Duration { return answered(b, f, event).Duration }
		}
		medians(b, call(f), call(empty))
	})
}

// kept returns the size of the snapshot of the default namespace in Redis.
func kept(b *testing.B, server *dbtest.Server) (size int) {
	b.Helper()
	client, err := rediscache.Open(rediscache.Connection{URL: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	snapshots, err := client.HVals(b.Context(), "guidon:snapshot:default").Result()
	if err != nil {
		b.Fatal(err)
	}
	for _, snapshot := range snapshots {
		size += len(snapshot)
	}
	return size
}
