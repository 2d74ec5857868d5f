package handler_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/service"
)

const goodToken = "gdn_good"

// withToken returns a store with one token, which can be revoked.
func withToken() *revocable {
	return &revocable{set: service.NewAuthenticationSet(guidon.Revision{Number: 1}, []*service.Authentication{
		{ID: "1", Method: service.MethodToken, TokenHash: service.HashToken(goodToken)},
	})}
}

// revocable is a store whose tokens can be deleted by another instance. Only reads that
// must be newer than the deletion see it.
type revocable struct {
	states
	set     *service.AuthenticationSet
	revoked time.Time
}

func (r *revocable) Authentications(_ context.Context, d service.Demand, _ string) (*service.AuthenticationSet, time.Duration, error) {
	if !r.revoked.IsZero() && d.Begun.After(r.revoked) {
		return service.NewAuthenticationSet(guidon.Revision{Number: 2}, nil), 0, nil
	}
	return r.set, 0, nil
}

// untouchable is a body that must not be read.
type untouchable struct{ t *testing.T }

func (u untouchable) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// bodyRoutes returns every route of the API that has a body and needs a credential.
func bodyRoutes() []call.Route {
	routes := []call.Route{
		{Method: http.MethodPost, Pattern: "/ofrep/v1/evaluate/flags"},
		{Method: http.MethodPost, Pattern: "/ofrep/v1/evaluate/flags/f"},
	}
	for _, o := range handler.Operations() {
		for _, route := range o.Routes {
			if o.HasBody(route) && o.Area != call.AreaPublic {
				routes = append(routes, call.Route{Method: route.Method, Pattern: pathVariable.ReplaceAllString(route.Pattern, "x")})
			}
		}
	}
	return routes
}

// TestNoBodyBeforeCredential checks that the body of a caller without a valid credential
// is not read.
func TestNoBodyBeforeCredential(t *testing.T) {
	h := handler.New(handler.Config{
		Service:        service.NewService(withToken(), time.Now),
		Authentication: call.AuthenticationConfig{Required: true, TokenMethod: true},
	})
	for _, route := range bodyRoutes() {
		for _, authorization := range []string{"", "Bearer wrong", "nonsense"} {
			request := httptest.NewRequest(route.Method, route.Pattern, untouchable{t})
			request.ContentLength = 1 << 20
			if authorization != "" {
				request.Header.Set("Authorization", authorization)
			}
			recorder := httptest.NewRecorder()
			h.ServeHTTP(recorder, request)
			if recorder.Code != http.StatusUnauthorized {
				t.Errorf("%s %s with %q: status %d, want 401", route.Method, route.Pattern, authorization, recorder.Code)
			}
		}
	}
}

// TestRevokedWhileDecoding checks that a token that is still cached but no longer valid
// gets the same response as an unknown one, whatever the body.
func TestRevokedWhileDecoding(t *testing.T) {
	store := withToken()
	h := handler.New(handler.Config{
		Service:        service.NewService(store, time.Now),
		Authentication: call.AuthenticationConfig{Required: true, TokenMethod: true},
	})
	bodies := []string{`{"flagKey":"f","entityId":"e"}`, `{`, `{}`}
	for _, body := range bodies {
		if got := serve(h, http.MethodPost, "/evaluate/v1/boolean", body, "Authorization", "Bearer "+goodToken).Code; got == http.StatusUnauthorized {
			t.Errorf("%s before the token was revoked: 401", body)
		}
	}
	store.revoked = time.Now()
	for _, body := range bodies {
		if got := serve(h, http.MethodPost, "/evaluate/v1/boolean", body, "Authorization", "Bearer "+goodToken).Code; got != http.StatusUnauthorized {
			t.Errorf("%s after the token was revoked: %d, want 401", body, got)
		}
	}
}

// TestBodyLimits checks that, if credentials are required, callers without one have
// smaller limits for operations that need none, except for evaluation.
func TestBodyLimits(t *testing.T) {
	const flags, boolean, ofrep = "/api/v1/flags", "/evaluate/v1/boolean", "/ofrep/v1/evaluate/flags/f"
	open := call.AuthenticationConfig{TokenMethod: true}
	closed := call.AuthenticationConfig{Required: true, TokenMethod: true}
	excluded := call.AuthenticationConfig{Required: true, TokenMethod: true, ExcludeManagement: true, ExcludeEvaluation: true, ExcludeOFREP: true}
	for _, test := range []struct {
		name   string
		config call.AuthenticationConfig
		path   string
		token  string
		size   int
		large  bool // too large
	}{
		{"no credential required", open, flags, "", 1 << 20, false},
		{"no credential required, over the limit", open, flags, "", 5 << 20, true},
		{"with a credential", closed, flags, goodToken, 1 << 20, false},
		{"with a credential, over the limit", closed, flags, goodToken, 5 << 20, true},
		{"excluded, small", excluded, flags, "", 60 << 10, false},
		{"excluded, without a credential", excluded, flags, "", 100 << 10, true},
		{"excluded, with a wrong credential", excluded, flags, "wrong", 100 << 10, true},
		{"excluded, with a credential", excluded, flags, goodToken, 100 << 10, false},
		{"excluded legacy evaluation", excluded, "/api/v1/evaluate", "", 1 << 20, false},
		{"excluded evaluation", excluded, boolean, "", 1 << 20, false},
		{"excluded OFREP", excluded, ofrep, "", 900 << 10, false},
		{"excluded OFREP, over the limit", excluded, ofrep, "", 1100 << 10, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := handler.New(handler.Config{Service: service.NewService(withToken(), time.Now), Authentication: test.config})
			body := `{"unknown":"` + strings.Repeat("x", test.size) + `"}`
			var header []string
			if test.token != "" {
				header = []string{"Authorization", "Bearer " + test.token}
			}
			got := serve(h, http.MethodPost, test.path, body, header...)
			if large := got.Code == http.StatusRequestEntityTooLarge; large != test.large {
				t.Errorf("status %d, too large: want %v", got.Code, test.large)
			}
		})
	}
}

// slowBody returns its first bytes immediately, and the rest when wait is closed.
type slowBody struct {
	first, rest io.Reader
	begun       func()
	wait        <-chan struct{}
}

func (b *slowBody) Read(p []byte) (int, error) {
	if n, err := b.first.Read(p); err == nil {
		return n, nil
	}
	b.begun()
	<-b.wait
	return b.rest.Read(p)
}

// TestBudget fills the memory for bodies. Another large request gets 503 with
// Retry-After, while small ones are served. When the others have ended, a large one is
// served too.
func TestBudget(t *testing.T) {
	h := handler.New(handler.Config{
		Service: service.NewService(&states{}, time.Now), Budget: limit.NewBudget(4 << 20), // of which 768 kB are for large bodies
	})
	large := `{"requests":[],"reference":"` + strings.Repeat("x", 300<<10) + `"}`
	const path = "/evaluate/v1/batch"

	begun, wait := make(chan struct{}, 2), make(chan struct{})
	var ended sync.WaitGroup
	for range 2 {
		ended.Go(func() {
			request := httptest.NewRequest(http.MethodPost, path, &slowBody{
				first: strings.NewReader(large[:100<<10]), rest: strings.NewReader(large[100<<10:]),
				begun: sync.OnceFunc(func() { begun <- struct{}{} }), wait: wait,
			})
			request.ContentLength = int64(len(large))
			recorder := httptest.NewRecorder()
			h.ServeHTTP(recorder, request)
			if recorder.Code != http.StatusOK {
				t.Errorf("a request that reserved memory: status %d %s", recorder.Code, recorder.Body)
			}
		})
	}
	<-begun
	<-begun
	got := serve(h, http.MethodPost, path, large)
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("a large request without room: status %d, Retry-After %q, want 503", got.Code, got.Header().Get("Retry-After"))
	}
	if got := serve(h, http.MethodPost, path, `{"requests":[{"flagKey":"f"}]}`); got.Code != http.StatusOK {
		t.Errorf("a small request while large ones fill the memory: status %d %s", got.Code, got.Body)
	}
	close(wait)
	ended.Wait()
	if got := serve(h, http.MethodPost, path, large); got.Code != http.StatusOK {
		t.Errorf("a large request when the others have ended: status %d %s", got.Code, got.Body)
	}
	checkEmpty(t, h)
}

// checkEmpty checks that nothing is reserved.
func checkEmpty(t *testing.T, h *handler.Handler) {
	t.Helper()
	b := h.Budget()
	if used := b.Bodies.Stats().Used + b.Messages.Stats().Used + b.Responses.Stats().Used; used != 0 {
		t.Errorf("%d bytes are reserved and no request is in progress", used)
	}
}

// TestBudgetReturned checks that the reserved memory is released however a request ends.
func TestBudgetReturned(t *testing.T) {
	h := handler.New(handler.Config{Service: service.NewService(&states{}, time.Now)})
	lost := errors.New("connection lost")
	for name, body := range map[string]io.Reader{
		"good":       strings.NewReader(`{"requests":[]}`),
		"large":      strings.NewReader(`{"requests":[],"reference":"` + strings.Repeat("x", 1<<20) + `"}`),
		"malformed":  strings.NewReader(`{"requests":[` + strings.Repeat("{},", 30000)),
		"many":       strings.NewReader(`{"requests":[` + strings.Repeat("{},", 300000) + `{}]}`),
		"too large":  strings.NewReader(strings.Repeat("x", 5<<20)),
		"cut":        io.MultiReader(strings.NewReader(strings.Repeat(" ", 1<<20)), failingReader{lost}),
		"panicking":  io.MultiReader(strings.NewReader(strings.Repeat(" ", 1<<20)), panicReader{}),
		"cut, early": failingReader{lost},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodPost, "/evaluate/v1/batch", io.NopCloser(body))
			request.ContentLength = -1
			h.ServeHTTP(httptest.NewRecorder(), request)
			checkEmpty(t, h)
		})
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("read") }

// TestBudgetOfResponses checks that a long response without memory for it is a 503, that
// short ones are still written, and that long ones are when memory is free again.
func TestBudgetOfResponses(t *testing.T) {
	flag := &guidon.Flag{Key: "f", Name: "F", Description: strings.Repeat("x", 1<<20)}
	snapshot := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1, Stamp: 1}, []*guidon.Flag{flag}, nil)
	h := over(snapshot)
	const all = 1 << 40 // takes all memory for large responses
	if !h.Budget().Responses.TryAcquire(all) {
		t.Fatal("the budget is not empty")
	}
	const path = "http://localhost/api/v1/namespaces/default/flags/f"
	if got := download(t, h, path); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("a long response without room: %d, want 503", got.status)
	}
	if got := download(t, h, "http://localhost/health"); got.status != http.StatusOK {
		t.Errorf("a short response: %d, want 200", got.status)
	}
	h.Budget().Responses.Release(all)
	if got := download(t, h, path); got.status != http.StatusOK || len(got.body) < 1<<20 {
		t.Errorf("a long response: %d with %d bytes, want 200", got.status, len(got.body))
	}
	checkEmpty(t, h)
}
