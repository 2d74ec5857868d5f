package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
)

// TestErrors checks the examples of errors: a server gives them.
func TestErrors(t *testing.T) {
	document := tree(t)
	routes := routesOf(false)
	create, get, evaluate := routes["/flipt.Flipt/CreateFlag"], routes["/flipt.Flipt/GetFlag"], routes["/flipt.evaluation.EvaluationService/Boolean"]
	ofrep := routes["/ofrep/v1/evaluate/flags/{key}"]

	usual := newShop(t)
	for i := range 4 { // so that the revision is that of the example
		usual.send(create, fmt.Sprintf(`{"namespaceKey":"default","key":"f%d","name":"F"}`, i))
	}
	viewer, stranger := usual.tokenFor(`{"name":"viewer","role":"viewer"}`), usual.tokenFor(`{"name":"stranger","role":"viewer","namespaceKeys":["other"]}`)
	overloaded := newShop(t, func(config *handler.Config) {
		config.Overload = &call.OverloadConfig{Delay: func() (time.Duration, bool) { return 10 * time.Second, false }, Share: 0.1}
	})
	limited := newShop(t, func(config *handler.Config) {
		config.Requests = call.NewRequestLimiter(1, func() time.Time { return now })
	})
	for range 10 { // all that the limit allows in ten seconds
		limited.send(evaluate, `{"flagKey":"nope"}`)
	}

	const message = `{"namespaceKey":"default","key":"new-checkout","name":"New checkout"}`
	for _, tt := range []struct {
		response string
		shop     *shop
		to       target
		message  string
		header   []string
	}{
		{"BadRequest", usual, create, `{"namespaceKey":"default","key":"new-checkout"}`, nil},
		{"Unauthenticated", usual, create, message, []string{"Authorization", "Bearer wrong"}},
		{"Forbidden", usual, create, message, []string{"Authorization", "Bearer " + viewer}},
		{"NotFound", usual, get, `{"namespaceKey":"default","key":"nope"}`, nil},
		{"PreconditionFailed", usual, create, message, []string{"If-Match", "1"}},
		{"TooLarge", usual, create, `{"namespaceKey":"default","key":"` + strings.Repeat("x", 4<<20) + `"}`, nil},
		{"Limited", limited, evaluate, `{"flagKey":"nope"}`, nil},
		{"Unavailable", overloaded, get, `{"namespaceKey":"default","key":"new-checkout"}`, nil},
		{"OFREPBadRequest", usual, ofrep, `{"context":[]}`, nil},
		{"OFREPUnauthenticated", usual, ofrep, `{}`, []string{"Authorization", "Bearer wrong"}},
		{"OFREPForbidden", usual, ofrep, `{}`, []string{"Authorization", "Bearer " + stranger}},
		{"OFREPNotFound", usual, ofrep, `{}`, nil},
		{"OFREPTooLarge", usual, ofrep, `{"context":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, nil},
		{"OFREPLimited", limited, ofrep, `{}`, nil},
		{"OFREPUnavailable", overloaded, ofrep, `{}`, nil},
	} {
		t.Run(tt.response, func(t *testing.T) {
			status, body := tt.shop.send(tt.to, tt.message, tt.header...)
			want, err := json.Marshal(at(document, "components", "responses", tt.response, "content", "application/json", "example"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(canonical(t, string(want)), canonical(t, body)); diff != "" {
				t.Errorf("status %d (-want +got):\n%s", status, diff)
			}
		})
	}
}

// tokenFor returns a new token.
func (s *shop) tokenFor(request string) string {
	s.t.Helper()
	_, body := s.send(routesOf(false)["/flipt.auth.AuthenticationMethodTokenService/CreateToken"], request)
	var created struct{ ClientToken string }
	if err := json.Unmarshal([]byte(body), &created); err != nil {
		s.t.Fatalf("%s: %v", body, err)
	}
	return created.ClientToken
}

// canonical returns a JSON text with sorted members.
func canonical(t *testing.T, text string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}
