package handler_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	wireauth "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// denyingSignIn is a sign-in method that denies every caller.
type denyingSignIn struct{ auth.NoSignIn }

// Describe implements auth.SignIn.
func (denyingSignIn) Describe(method service.Method) (bool, *structpb.Struct) {
	return method == service.MethodCodehost, nil
}

// Callback implements auth.SignIn.
func (denyingSignIn) Callback(context.Context, *service.Service, service.Write, service.Method, *wireauth.CallbackRequest, *call.Request) (call.Response, error) {
	return call.Response{}, call.Unauthenticated("everybody is denied")
}

// TestSessionCookie: the configured cookie is the one that is read, over every transport,
// and the one that is cleared. A failed sign-in clears nothing.
func TestSessionCookie(t *testing.T) {
	const plain, prefixed = "service_client_token", "__Host-service_client_token"
	clearing := func(prefix, attributes string) (values []string) {
		for _, name := range []string{"service_client_state", "service_client_token"} {
			values = append(values, prefix+name+"=; Path=/"+attributes+"; SameSite=Lax")
		}
		return values
	}
	for _, test := range []struct {
		name          string
		cookie        call.SessionCookie
		read, ignored string
		cleared       []string
	}{
		{"nothing configured", call.SessionCookie{}, plain, prefixed, clearing("", "; Max-Age=0; HttpOnly")},
		{"secure", call.SessionCookie{Secure: true}, plain, prefixed, clearing("", "; Max-Age=0; HttpOnly; Secure")},
		{"a prefix", call.SessionCookie{Secure: true, HostPrefix: true}, prefixed, plain, clearing("__Host-", "; Max-Age=0; HttpOnly; Secure")},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newInside(t, "calls operations without a request", required, func(c *handler.Config) {
				c.Session, c.SignIn, c.Mounts = test.cookie, denyingSignIn{}, []exchange.Mount{greeting}
			})
			token := s.token("")
			for _, path := range []string{"/auth/v1/self", "/api/v1/flags", "/ui"} {
				for name, want := range map[string]int{test.read: 200, test.ignored: 401} {
					if r := s.do("GET", path, "", "Cookie", name+"="+token); r.status != want || r.header["Set-Cookie"] != nil {
						t.Errorf("GET %s with %s: got %d %s and cookies %q, want %d", path, name, r.status, r.body, r.header["Set-Cookie"], want)
					}
				}
			}
			for name, want := range map[string]bool{test.read: true, test.ignored: false} {
				_, err := s.handler.Invoke(t.Context(), operation(t, "GetAuthenticationSelf"), call.Request{
					Message: &emptypb.Empty{}, Transport: "grpc", Credentials: call.Credentials{Cookie: []string{name + "=" + token}},
				})
				if (err == nil) != want {
					t.Errorf("over gRPC with %s: got error %v, want success: %t", name, err, want)
				}
			}
			for _, request := range []struct {
				path, cookie string
				want         []string
			}{
				{"/auth/v1/self", test.read, test.cleared},
				{"/auth/v1/self", test.ignored, nil},
				{"/auth/v1/self", "other", nil},
				{"/auth/v1/method/codehost/callback", test.read, nil},
				{"/auth/v1/method/codehost/callback/", test.read, nil},
				{"/api/v1/flags", test.read, nil},
				{"/ui", test.read, nil},
			} {
				r := s.do("GET", request.path, "", "Cookie", request.cookie+"=nobody")
				if diff := cmp.Diff(request.want, r.header["Set-Cookie"]); r.status != 401 || diff != "" {
					t.Errorf("GET %s with %s: got %d %s, cookies (-want +got):\n%s", request.path, request.cookie, r.status, r.body, diff)
				}
			}
			s.token("") // another administrator
			expired := s.must("", "PUT", "/auth/v1/self/expire", "", "Cookie", test.read+"="+token)
			if diff := cmp.Diff(test.cleared, expired.header["Set-Cookie"]); diff != "" {
				t.Errorf("expiring itself (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRecordAddress: the change records of bindings have the address of the caller only if
// that is configured.
func TestRecordAddress(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		s := newInside(t, "configures the handler", required, func(c *handler.Config) { c.RecordAddress = recorded })
		admin := []string{"Authorization", "Bearer " + s.token("")}
		s.do("POST", "/auth/v1/bindings", `{"role":"viewer","subject":"jwt:*"}`, admin...)
		r := s.do("GET", "/api/v1/namespaces/default/changes?kind=binding", "", admin...)
		if r.status != 200 || strings.Contains(r.body, `"address":"`) != recorded {
			t.Errorf("configured %t: got %d %s", recorded, r.status, r.body)
		}
	}
}
