package handler_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
)

// serve sends a request to the handler without a network.
func serve(h *handler.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	request.Host = "localhost"
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder
}

// FuzzOFREP sends random bodies. No response may be a 500. A repeated bulk request must
// get the same response, and a client that has the response must get a 304.
func FuzzOFREP(f *testing.F) {
	for _, body := range []string{
		`{"context":{"targetingKey":"user-1","age":42,"beta":true,"geo":{"cc":"NO"},"at":"2026-05-01","none":null}}`,
		`{"context":{"flags":"on,half,nope","plan":4.2e1}}`, `{"context":[]}`, `{"context":{"targetingKey":{}}}`, `{}`, `{`, `null`, ``,
	} {
		f.Add(body)
	}
	s := newOFREP(f)
	h := handler.New(handler.Config{Service: s.service})
	f.Fuzz(func(t *testing.T, body string) {
		first := serve(h, "POST", ofrepPath, body)
		checkOFREP(t, first)
		if again := serve(h, "POST", ofrepPath, body); again.Code != first.Code || again.Body.String() != first.Body.String() {
			t.Errorf("first %s, then %s", first.Body, again.Body)
		}
		if first.Code == http.StatusOK {
			if r := serve(h, "POST", ofrepPath, body, "If-None-Match", first.Header().Get("ETag")); r.Code != http.StatusNotModified || r.Body.Len() > 0 {
				t.Errorf("%d %s", r.Code, r.Body)
			}
		}
		checkOFREP(t, serve(h, "POST", ofrepPath+"/half", body))
	})
}

// checkOFREP checks that the body of the response has the format for its status (OFREP
// 3, 4, 5).
func checkOFREP(t *testing.T, r *httptest.ResponseRecorder) {
	t.Helper()
	var answer struct {
		Flags                   []any
		Variant                 *string
		ErrorCode, ErrorDetails string
	}
	if err := json.Unmarshal(r.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%d %s: %v", r.Code, r.Body, err)
	}
	ok := answer.ErrorCode == "" && (answer.Flags != nil || answer.Variant != nil)
	if r.Code >= 500 || (r.Code == http.StatusOK) != ok || !ok && (answer.ErrorCode == "" || answer.ErrorDetails == "") {
		t.Errorf("%d %s", r.Code, r.Body)
	}
}
