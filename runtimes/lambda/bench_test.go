package lambda_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

const (
	benchBody     = `{"namespaceKey":"default","flagKey":"checkout","entityId":"user-42","context":{"country":"PT","plan":"pro"}}`
	benchResponse = `{"match":true,"segmentKeys":["pro"],"reason":"MATCH_EVALUATION_REASON","variantKey":"blue","variantAttachment":"{\"a\":1}","requestId":"","requestDurationMillis":0.1,"timestamp":"2026-11-21T07:00:00Z","flagKey":"checkout"}`
)

// benchHandler responds like an evaluation, without evaluating anything.
func benchHandler(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		panic(err)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", "220")
	header.Set("X-Request-Id", "00000000-0000-4000-8000-000000000001")
	header.Set("Guidon-Revision", "42")
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, benchResponse)
}

func benchRequest() *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/evaluate/v1/variant?pretty=no", strings.NewReader(benchBody))
	for name, value := range map[string]string{
		"Accept": "application/json", "Accept-Encoding": "gzip, deflate, br", "Accept-Language": "en-US,en;q=0.9,pt;q=0.8",
		"Authorization": "Bearer 3f8c2ab9d14e4f0b8c6d0e5a7b9c1d2e", "Content-Type": "application/json", "Content-Length": "106",
		"User-Agent":  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
		"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Origin": "https://shop.example",
	} {
		r.Header.Set(name, value)
	}
	return r
}

// newDirect returns a function that calls the handler directly, for comparison.
func newDirect() func() {
	r := benchRequest()
	return func() {
		r.Body = io.NopCloser(strings.NewReader(benchBody))
		benchHandler(httptest.NewRecorder(), r)
	}
}

// newInvocation returns a function that calls the handler through the Lambda function.
func newInvocation(tb testing.TB, front lambdatest.Front) func() {
	event, err := front.Event(benchRequest())
	if err != nil {
		tb.Fatal(err)
	}
	f := lambda.New(lambda.Config{Handler: http.HandlerFunc(benchHandler)})
	ctx := tb.Context()
	return func() {
		if _, err := f.Invoke(ctx, event); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkInvoke measures the overhead of the Lambda function over its handler.
func BenchmarkInvoke(b *testing.B) {
	measure := func(name string, call func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
	measure("direct", newDirect())
	for _, front := range lambdatest.Fronts() {
		measure(front.Name, newInvocation(b, front))
	}
}

// TestAllocations limits the allocations of the overhead that BenchmarkInvoke measures.
func TestAllocations(t *testing.T) {
	const limit = 60
	direct := testing.AllocsPerRun(100, newDirect())
	for _, front := range lambdatest.Fronts() {
		if added := testing.AllocsPerRun(100, newInvocation(t, front)) - direct; added > limit {
			t.Errorf("%s: %.0f allocations, want at most %d", front.Name, added, limit)
		}
	}
}
