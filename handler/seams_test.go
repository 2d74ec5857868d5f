package handler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// greeting is a mount with one page, for callers that are known.
var greeting = exchange.Mount{
	Prefixes: []string{"/", "/ui"},
	Serve: func(x *exchange.Exchange) {
		a, err := x.Identify()
		if err != nil {
			x.ReplyError(err)
			return
		}
		x.Reply(http.StatusOK, "text/plain", fmt.Appendf(nil, "%s for %s", x.Request.URL.Path, a.ID))
	},
	Error: func(x *exchange.Exchange, err error) {
		x.Reply(call.HTTPStatus(guidon.CodeOf(err)), "text/plain", []byte("the page says "+guidon.PublicMessage(err)))
	},
}

// TestMounts: pages live beside the API. They know the caller by the session's cookie,
// answer errors in their own way, and are logged like all else.
func TestMounts(t *testing.T) {
	s := newServer(t, required, func(c *handler.Config) { c.Mounts = []exchange.Mount{greeting} })
	token, created, err := s.service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "visitor"})
	if err != nil {
		t.Fatal(err)
	}
	cookie := []string{"Cookie", "service_client_token=" + token, "X-Request-Id", "page"}
	for _, test := range []struct {
		name, method, path string
		header             []string
		status             int
		want               string
	}{
		{"the start page", "GET", "/", cookie, 200, "/ for " + created.ID},
		{"another page", "GET", "/ui/flags/a", cookie, 200, "/ui/flags/a for " + created.ID},
		{"a form", "POST", "/ui/flags/a", append([]string{"Sec-Fetch-Site", "same-origin"}, cookie...), 200, "/ui/flags/a for " + created.ID},
		{"a form of another origin", "POST", "/ui/flags/a", append([]string{"Sec-Fetch-Site", "cross-site"}, cookie...), 403, "the page says permission denied: cross-origin request: pages of other origins cannot use the session cookie; present a token in the Authorization header"},
		{"a stranger", "GET", "/ui", nil, 401, "the page says request was not authenticated"},
		{"a path that nobody owns", "GET", "/elsewhere", nil, 404, "404 page not found\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			if r := s.do(test.method, test.path, "", test.header...); r.status != test.status || r.body != test.want {
				t.Errorf("got %d %q, want %d %q", r.status, r.body, test.status, test.want)
			}
		})
	}
	events, _ := s.logs.find(t, "page", 4)
	if got, want := events[1]["route"], "/ui"; got != want {
		t.Errorf("logged with the route %v, want %v", got, want)
	}
}

// ticket is a way to sign in: whoever comes back with a ticket gets a session.
type ticket struct{ auth.NoSignIn }

// Describe implements auth.SignIn.
func (ticket) Describe(method service.Method) (bool, *structpb.Struct) {
	if method != service.MethodOIDC {
		return false, nil
	}
	return true, &structpb.Struct{Fields: map[string]*structpb.Value{"providers": structpb.NewStringValue("ticket")}}
}

// Callback implements auth.SignIn.
func (ticket) Callback(ctx context.Context, s *service.Service, w service.Write, _ service.Method, m *wire.CallbackRequest, _ *call.Request) (call.Response, error) {
	if m.GetCode() != "ticket" {
		return call.Response{}, auth.Refuse(auth.ReasonDenied, guidon.Unauthenticated, "no ticket", nil)
	}
	token, _, err := s.SignIn(ctx, w, service.SignIn{
		Identity: &service.Identity{Method: service.MethodToken, Subject: "oidc:ticket:sub:1"}, Client: service.ClientBrowser, Lifetime: time.Hour,
	})
	if err != nil {
		return call.Response{}, err
	}
	return call.Response{
		Message: &wire.CallbackResponse{}, SetCookie: []string{"service_client_token=" + token + "; Path=/; HttpOnly"},
		SignIn: &call.SignIn{Method: "oidc", Provider: m.GetProvider(), Location: "/flags"},
	}, nil
}

// TestSignIn: what signs people in adds operations to the table, gives browsers a session,
// and is among the methods.
func TestSignIn(t *testing.T) {
	s := newServer(t, required, func(c *handler.Config) { c.SignIn = ticket{} })
	visitor := httptest.NewRecorder()
	s.handler.ServeHTTP(visitor, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/auth/v1/method/ticket", nil))
	cookies := visitor.Result().Cookies()
	if visitor.Code != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("got %d %s and cookies %v", visitor.Code, visitor.Body, cookies)
	}
	session := "service_client_token=" + cookies[0].Value
	if r := s.do("GET", "/auth/v1/self", "", "Cookie", session); r.status != http.StatusOK {
		t.Errorf("the session gets %d %s", r.status, r.body)
	}
	foreign := s.do("POST", "/auth/v1/method/ticket", "{}", "Cookie", session, "Sec-Fetch-Site", "cross-site")
	if foreign.status != http.StatusForbidden {
		t.Errorf("a page of another origin gets %d %s", foreign.status, foreign.body)
	}
	response, err := s.handler.Invoke(t.Context(), operation(t, "ListAuthenticationMethods"), call.Request{Message: &emptypb.Empty{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range response.Message.(*auth.ListAuthenticationMethodsResponse).GetMethods() {
		want := m.GetMethod() == auth.Method_METHOD_OIDC || m.GetMethod() == auth.Method_METHOD_TOKEN
		if m.GetEnabled() != want {
			t.Errorf("%s: enabled %t, want %t", m.GetMethod(), m.GetEnabled(), want)
		}
	}
}
