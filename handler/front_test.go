package handler_test

import (
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// frontVariable is an environment variable that names the front between the tests of
// this package and a handler in this process: one of [lambdatest.Fronts], with the
// handler in a function of AWS Lambda behind it. If it is not set, there is no front.
const frontVariable = "TEST_FRONT"

// behindFront returns the handler behind the configured front.
func behindFront(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	name := os.Getenv(frontVariable)
	if name == "" {
		return h
	}
	fronts := lambdatest.Fronts()
	i := slices.IndexFunc(fronts, func(f lambdatest.Front) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("%s: unknown front %q", frontVariable, name)
	}
	f := lambda.New(lambda.Config{Handler: h})
	return fronts[i].Handler(func(r *http.Request, event []byte) (lambdatest.Result, error) {
		payload, err := f.Invoke(r.Context(), event)
		return lambdatest.Result{Payload: payload}, err
	})
}
