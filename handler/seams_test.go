package handler_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	wireauth "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// greeting is a mount with one page, for callers that are known.
var greeting = exchange.Mount{
	Prefixes: []string{"/", "/ui"},
	Serve: func(x *exchange.Exchange) {
		a, err := x.Identify(call.Credentials{Cookie: x.Request.Header["Cookie"]}, service.Demand{})
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
		{"a form of another origin", "POST", "/ui/flags/a", append([]string{"Sec-Fetch-Site", "cross-site"}, cookie...), 403, "the page says permission denied: cross-origin request: only pages of this service can send it, and those of authentication.session.csrf.trusted_origins"},
		{"a stranger", "GET", "/ui", nil, 401, "the page says request was not authenticated"},
		{"a path that nobody owns", "GET", "/elsewhere", nil, 404, "the page says Not Found"},
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
func (ticket) Callback(ctx context.Context, s *service.Service, w service.Write, _ service.Method, m *wireauth.CallbackRequest, request *call.Request) (call.Response, error) {
	if request.Rejected != nil {
		return call.Response{}, request.Rejected
	}
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
		Message: &wireauth.CallbackResponse{}, SetCookie: []string{"service_client_token=" + token + "; Path=/; HttpOnly"},
		SignIn: &call.SignIn{Method: "oidc", Provider: m.GetProvider(), Location: "/flags"},
	}, nil
}

// Reject implements auth.SignIn.
func (ticket) Reject(service.Method, *wireauth.CallbackRequest, error) call.Response {
	return call.Response{}
}

// everyMethod is a way to sign in with which every method is enabled, and nothing happens.
type everyMethod struct{ auth.NoSignIn }

// Describe implements auth.SignIn.
func (everyMethod) Describe(service.Method) (bool, *structpb.Struct) { return true, nil }

// AuthorizeURL implements auth.SignIn.
func (everyMethod) AuthorizeURL(context.Context, *service.Service, service.Method, *wireauth.AuthorizeURLRequest, *call.Request) (call.Response, error) {
	return call.Response{Message: &wireauth.AuthorizeURLResponse{}}, nil
}

// Callback implements auth.SignIn.
func (everyMethod) Callback(context.Context, *service.Service, service.Write, service.Method, *wireauth.CallbackRequest, *call.Request) (call.Response, error) {
	return call.Response{Message: &wireauth.CallbackResponse{}}, nil
}

// Revoke implements auth.SignIn.
func (everyMethod) Revoke(context.Context, *service.Service, *call.Call, *wireauth.RevokeRequest, *call.Request) (call.Response, error) {
	return call.Response{Message: &emptypb.Empty{}}, nil
}

// VerifyServiceAccount implements auth.SignIn.
func (everyMethod) VerifyServiceAccount(context.Context, *service.Service, *call.Call, *wireauth.VerifyServiceAccountRequest, *call.Request) (call.Response, error) {
	return call.Response{Message: &wireauth.VerifyServiceAccountResponse{}}, nil
}

// CreateGrant implements auth.SignIn.
func (everyMethod) CreateGrant(context.Context, *service.Service, *call.Call, *guidonv1.CreateGrantRequest, *call.Request) (call.Response, error) {
	return call.Response{Message: &guidonv1.CreateGrantResponse{}}, nil
}

// ExchangeGrant implements auth.SignIn.
func (everyMethod) ExchangeGrant(context.Context, *service.Service, *call.Call, *guidonv1.ExchangeGrantRequest, *call.Request) (call.Response, error) {
	return call.Response{Message: &guidonv1.ExchangeGrantResponse{}}, nil
}

// withEveryMethod enables every way to sign in.
func withEveryMethod(c *handler.Config) { c.SignIn = everyMethod{} }

// TestSignIn: what signs people in gives browsers a session and sends them on, leaves the
// session alone if it fails, has no dry run, and is among the methods.
func TestSignIn(t *testing.T) {
	const callback = "/auth/v1/method/oidc/ticket/callback"
	s := newServer(t, required, func(c *handler.Config) { c.SignIn = ticket{} })
	dry := s.do("GET", callback+"?code=ticket", "", call.DryRunHeader, "true")
	dry.fails(t, 400, 3, "invalid header Guidon-Dry-Run: Callback has no dry run")
	if got := dry.header.Values("Set-Cookie"); len(got) > 0 {
		t.Errorf("a dry run sets cookies %q", got)
	}
	r := s.do("GET", callback+"?code=ticket", "")
	if r.status != http.StatusFound || r.header.Get("Location") != "/flags" || r.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %s and header %v", r.status, r.body, r.header)
	}
	session, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
	if r := s.do("GET", "/auth/v1/self", "", "Cookie", session); r.status != http.StatusOK {
		t.Errorf("the session gets %d %s", r.status, r.body)
	}
	denied := s.do("GET", callback, "", "Cookie", session)
	denied.fails(t, 401, 16, "no ticket")
	if got := denied.header.Values("Set-Cookie"); len(got) > 0 {
		t.Errorf("a failed sign-in sets cookies %q", got)
	}
	foreign := s.do("POST", "/auth/v1/self/sessions", "{}", "Cookie", session, "Sec-Fetch-Site", "cross-site")
	if foreign.status != http.StatusForbidden {
		t.Errorf("a page of another origin gets %d %s", foreign.status, foreign.body)
	}
	response, err := s.handler.Invoke(t.Context(), operation(t, "ListAuthenticationMethods"), call.Request{Message: &emptypb.Empty{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range response.Message.(*wireauth.ListAuthenticationMethodsResponse).GetMethods() {
		want := m.GetMethod() == wireauth.Method_METHOD_OIDC || m.GetMethod() == wireauth.Method_METHOD_TOKEN
		if m.GetEnabled() != want {
			t.Errorf("%s: enabled %t, want %t", m.GetMethod(), m.GetEnabled(), want)
		}
	}
}

// robot accepts one JWT.
type robot struct{ auth.NoSignIn }

var robotIdentity = &service.Identity{Method: service.MethodJWT, Expires: time.Now().Add(time.Hour)}

// Describe implements auth.SignIn.
func (robot) Describe(method service.Method) (bool, *structpb.Struct) {
	return method == service.MethodJWT, nil
}

// Remembered implements call.Verifier.
func (robot) Remembered(_ context.Context, token string) (*service.Identity, bool) {
	return robotIdentity, token == "a.b.c"
}

// TestSelfOfJWT: the caller with a JWT is known, although it has neither sessions nor a record.
func TestSelfOfJWT(t *testing.T) {
	s := newServer(t, required, func(c *handler.Config) { c.SignIn = robot{} })
	const notStored = `{"code":3,"message":"a token that is not stored, such as a JWT, ends only when it expires","details":[]}`
	for _, test := range []struct {
		method, path string
		status       int
		want         string // the start of the body
	}{
		{"GET", "/auth/v1/self", 200, `{"id":"","method":"METHOD_JWT"`},
		{"GET", "/auth/v1/self/sessions", 200, `{"authentications":[]}`},
		{"POST", "/auth/v1/self/sessions", 400, `{"code":3,"message":"only a static token can begin a session","details":[]}`},
		{"DELETE", "/auth/v1/self/sessions/x", 404, `{"code":5,"message":"session \"x\" not found","details":[]}`},
		{"PUT", "/auth/v1/self/expire", 400, notStored},
		{"DELETE", "/auth/v1/self/revoke", 400, notStored},
		{"DELETE", "/auth/v1/self/revoke?everywhere=true", 400, notStored},
	} {
		r := s.do(test.method, test.path, "", "Authorization", "JWT a.b.c")
		if r.status != test.status || !strings.HasPrefix(r.body, test.want) {
			t.Errorf("%s %s: got %d %s, want %d %s", test.method, test.path, r.status, r.body, test.status, test.want)
		}
	}
}

// TestSteps: a step of signing in has each parameter once, and its errors are pages for
// browsers.
func TestSteps(t *testing.T) {
	const callback = "/auth/v1/method/oidc/ticket/callback"
	s := newServer(t, required, func(c *handler.Config) {
		c.SignIn = ticket{}
		c.StepError = func(x *exchange.Exchange, status int, reason string) {
			x.Reply(status, "text/html", fmt.Appendf(nil, "a page about %q", reason))
		}
	})
	for _, test := range []struct {
		name, query, accept string
		status              int
		want                string
	}{
		{"a page", "", "text/html,*/*", 401, `a page about "denied"`},
		{"no page", "", "application/json", 401, `{"code":16,"message":"no ticket","details":[]}`},
		{"a parameter twice", "?code=ticket&code=ticket", "text/html", 401, `a page about "state"`},
		{"an empty issuer", "?code=ticket&iss=", "text/html", 401, `a page about "invalid"`},
		{"a malformed query", "?code=%zz", "", 400, `{"code":3,"message":"the query string is malformed","details":[]}`},
		{"a query that is too long", "?code=" + strings.Repeat("a", 9000), "text/html", 400, `a page about ""`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := s.do("GET", callback+test.query, "", "Accept", test.accept)
			if r.status != test.status || r.body != test.want {
				t.Errorf("got %d %s, want %d %s", r.status, r.body, test.status, test.want)
			}
			if got := r.header.Get("Referrer-Policy") + " " + r.header.Get("Cache-Control"); got != "no-referrer no-store" {
				t.Errorf("got header %q", got)
			}
		})
	}
}
