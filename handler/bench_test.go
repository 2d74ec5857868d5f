package handler_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// newBench returns a handler with one flag to evaluate, without a logger.
func newBench(b *testing.B) *handler.Handler {
	service := newService(b)
	h := handler.New(handler.Config{Service: service})
	request := httptest.NewRequest(http.MethodPost, "http://localhost/api/v1/flags", strings.NewReader(`{"key":"f","name":"F","enabled":true}`))
	h.ServeHTTP(httptest.NewRecorder(), request)
	return h
}

// BenchmarkInvoke measures an evaluation without a transport.
func BenchmarkInvoke(b *testing.B) {
	h, o := newBench(b), operation(b, "Variant")
	m := &evaluation.EvaluationRequest{FlagKey: "f", EntityId: "e"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Invoke(b.Context(), o, call.Request{Transport: "local", Message: m}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHTTP measures an evaluation over HTTP, without the network.
func BenchmarkHTTP(b *testing.B) {
	h := newBench(b)
	b.ReportAllocs()
	for b.Loop() {
		request := httptest.NewRequest(http.MethodPost, "/evaluate/v1/variant", strings.NewReader(`{"flagKey":"f","entityId":"e","context":{"a":"b"}}`))
		recorder := httptest.NewRecorder()
		h.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			b.Fatal(recorder.Body)
		}
	}
}
