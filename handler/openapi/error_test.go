package openapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
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
	overloaded := func(config *handler.Config) {
		config.Overload = &call.OverloadConfig{Delay: func() time.Duration { return 10 * time.Second }, Share: 0.1}
	}
	limited := func(config *handler.Config) {
		config.Requests = call.NewRequestLimiter(1, func() time.Time { return now })
	}
	routes := routesOf(false)
	ofrep := routes["/ofrep/v1/evaluate/flags/{key}"]
	create, get, evaluate := routes["/flipt.Flipt/CreateFlag"], routes["/flipt.Flipt/GetFlag"], routes["/flipt.evaluation.EvaluationService/Boolean"]
	const message = `{"namespaceKey":"default","key":"new-checkout","name":"New checkout"}`
	tests := []struct {
		response string
		to       target
		message  string
		header   []string
		option   func(*handler.Config)
	}{
		{"BadRequest", create, `{"namespaceKey":"default","key":"new-checkout"}`, nil, nil},
		{"Unauthenticated", create, message, []string{"Authorization", "Bearer wrong"}, nil},
		{"Forbidden", create, message, []string{"Authorization", "viewer"}, nil},
		{"NotFound", get, `{"namespaceKey":"default","key":"nope"}`, nil, nil},
		{"PreconditionFailed", create, message, []string{"If-Match", "1"}, nil},
		{"TooLarge", create, `{"namespaceKey":"default","key":"` + strings.Repeat("x", 4<<20) + `"}`, nil, nil},
		{"Limited", evaluate, `{"flagKey":"nope"}`, nil, limited},
		{"Unavailable", get, `{"namespaceKey":"default","key":"new-checkout"}`, nil, overloaded},
		{"OFREPBadRequest", ofrep, `{"context":[]}`, nil, nil},
		{"OFREPUnauthenticated", ofrep, `{}`, []string{"Authorization", "Bearer wrong"}, nil},
		{"OFREPForbidden", ofrep, `{}`, []string{"Authorization", "nobody"}, nil},
		{"OFREPNotFound", ofrep, `{}`, nil, nil},
		{"OFREPTooLarge", ofrep, `{"context":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, nil, nil},
		{"OFREPLimited", ofrep, `{}`, nil, limited},
		{"OFREPUnavailable", ofrep, `{}`, nil, overloaded},
	}
	for _, tt := range tests {
		t.Run(tt.response, func(t *testing.T) {
			var options []func(*handler.Config)
			if tt.option != nil {
				options = append(options, tt.option)
			}
			s := newShop(t, options...)
			if tt.option == nil {
				for i := range 4 { // the revision of the example
					s.send(create, fmt.Sprintf(`{"namespaceKey":"default","key":"f%d","name":"F"}`, i))
				}
			}
			for role, request := range map[string]string{"viewer": `{"name":"a","role":"viewer"}`, "nobody": `{"name":"b","role":"viewer","namespaceKeys":["other"]}`} {
				if slices.Contains(tt.header, role) {
					_, body := s.send(routes["/flipt.auth.AuthenticationMethodTokenService/CreateToken"], request)
					tt.header[1] = "Bearer " + textOf(member(t, body, "clientToken"))
				}
			}
			status, body := s.send(tt.to, tt.message, tt.header...)
			for range 20 {
				if tt.option != nil && status < 429 {
					status, body = s.send(tt.to, tt.message, tt.header...)
				}
			}
			var got any
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("%d %s: %v", status, body, err)
			}
			want := at(document, "components", "responses", tt.response, "content", "application/json", "example")
			text, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(canonical(t, string(text)), canonical(t, body)); diff != "" {
				t.Errorf("status %d (-want +got):\n%s", status, diff)
			}
		})
	}
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

// member returns a member of a JSON object.
func member(t *testing.T, body, name string) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return members[name]
}
