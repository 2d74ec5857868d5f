package handler_test

import (
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// frontVariable names what stands between the tests of this package and a handler
// in this process: one of [lambdatest.Fronts], with the handler in a function of
// AWS Lambda behind it. Nothing is a listener of net/http, as ever.
const frontVariable = "TEST_FRONT"

// behindFront returns the handler as callers reach it.
func behindFront(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	name := os.Getenv(frontVariable)
	if name == "" {
		return h
	}
	fronts := lambdatest.Fronts()
	i := slices.IndexFunc(fronts, func(f lambdatest.Front) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("%s: there is no front %q", frontVariable, name)
	}
	f := lambda.New(lambda.Config{Handler: h})
	return fronts[i].Handler(func(r *http.Request, event []byte) (lambdatest.Result, error) {
		payload, err := f.Invoke(r.Context(), event)
		return lambdatest.Result{Payload: payload}, err
	})
}
