package handler_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
)

// FuzzHandler sends arbitrary requests to the API. No response may be a 500, and every
// error must have the body of contract 5.1.
func FuzzHandler(f *testing.F) {
	for _, o := range handler.Operations() {
		for _, route := range o.Routes {
			f.Add(route.Method, route.Pattern, `{"key":"k","name":"K","flagKey":"f","segmentKey":"s","rank":1}`, "limit=1&expiresAt=2030-01-01T00:00:00Z", "1")
		}
	}
	f.Add("POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"f","context":{"a":null}},null]}`, "", "")
	f.Add("PUT", "/api/v1/namespaces//flags//rules//", `[`, "pretty", `"`)
	f.Add("BREW", "//", "\xff", "%zz", "*")
	service := newService(f)
	h := handler.New(handler.Config{Service: service, Authentication: call.AuthenticationConfig{TokenMethod: true}})
	f.Fuzz(func(t *testing.T, method, path, body, query, ifMatch string) {
		if method == "" || strings.ContainsFunc(method, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Skip("net/http rejects such a method")
		}
		request := httptest.NewRequest(http.MethodGet, "http://localhost/", strings.NewReader(body))
		request.Method, request.URL.Path, request.URL.RawQuery = method, path, query
		request.Header.Set("If-Match", ifMatch)
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		checkFuzzed(t, recorder)
	})
}

func checkFuzzed(t *testing.T, recorder *httptest.ResponseRecorder) {
	t.Helper()
	code, body := recorder.Code, recorder.Body.Bytes()
	if code == http.StatusInternalServerError {
		t.Fatalf("%d %s", code, body)
	}
	if code == http.StatusOK || strings.HasPrefix(recorder.Header().Get("Content-Type"), "text/plain") {
		return
	}
	var answer struct {
		Code      *int
		Message   *string
		ErrorCode *string // of OFREP, which has errors of its own
	}
	if err := json.Unmarshal(body, &answer); err != nil || (answer.Code == nil || answer.Message == nil) && answer.ErrorCode == nil {
		t.Errorf("%d %s: %v", code, body, err)
	}
}
