package handler

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// lastOperation is an observer that records the operation of the last request.
type lastOperation string

func (o *lastOperation) Finished(operation, _ string, _ guidon.Code, _ time.Duration) {
	*o = lastOperation(operation)
}

// TestFastRoutes: a request on the fast path gets the same response as through chi.
func TestFastRoutes(t *testing.T) {
	var last lastOperation
	config := Config{Service: service.NewService(nil, nil), Authentication: AuthenticationConfig{Required: true}, Observer: &last}
	fast, general := New(config), New(config)
	general.router.exact, general.router.tails = nil, nil
	found := 0
	for _, path := range []string{
		"/evaluate/v1/boolean", "/evaluate/v1/variant", "/evaluate/v1/batch", "/evaluate/v1/batch/", "/evaluate/v1//batch", "/evaluate/v1/other",
		"/api/v1/evaluate", "/api/v1/namespaces", "/api/v1/namespaces/", "/api/v1/namespaces//flags", "/auth/v1/method/token", "/meta/info", "/health",
		ofrepFlags, ofrepFlags + "/", ofrepFlags + "//", ofrepFlags + "/a", ofrepFlags + "/a/", ofrepFlags + "/a/b", ofrepFlags + "/a%2Fb", ofrepFlags + "/%20",
		"/" + ofrepFlags, "/" + ofrepFlags + "/a", ofrepConfiguration, ofrepConfiguration + "/", "/ofrep/v1/evaluate/flagsa", "/",
	} {
		for _, method := range []string{get, post, put, http.MethodHead, http.MethodOptions, "OTHER"} {
			request := func() *http.Request {
				return httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader("{"))
			}
			if fast.router.find(request()) != nil {
				found++
			}
			got, want := httptest.NewRecorder(), httptest.NewRecorder()
			fast.ServeHTTP(got, request())
			gotOperation := last
			general.ServeHTTP(want, request())
			if gotOperation != last {
				t.Errorf("%s %s: operation %q, want %q", method, path, gotOperation, last)
			}
			if got.Code != want.Code || got.Body.String() != want.Body.String() {
				t.Errorf("%s %s: got %d %s, want %d %s", method, path, got.Code, got.Body, want.Code, want.Body)
			}
		}
	}
	if found != 11 {
		t.Errorf("%d requests on the fast path, want 11", found)
	}
}
