package web_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/web"
	"github.com/guidonhq/guidon/handler/web/page"
	wireauth "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

// setup configures a server; the zero value has no way to sign in.
type setup struct {
	open       bool // authentication is not required
	tokens     bool // the token method is enabled
	publicPath string
	providers  map[string]string // display names of OpenID providers, by name
	codehost   *structpb.Struct  // the metadata of the code host, or nil
	session    call.SessionCookie
	nextURI    string
	noGrants   bool // there is no operation for the command line to sign in
	disabled   bool // it is disabled
	code       string
	grantError error
	fault      func() error // of the store; nil means none
	failures   *limit.Failures
	policy     service.Policy
}

// signIn describes the methods of a setup, as they are at the time.
type signIn struct {
	auth.SignIn
	setup *setup
}

// Describe implements auth.SignIn.
func (s signIn) Describe(method service.Method) (bool, *structpb.Struct) {
	switch {
	case method == service.MethodOIDC && s.setup.providers != nil:
		providers := make(map[string]*structpb.Value)
		for name, display := range s.setup.providers {
			providers[name] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
				"authorize_url": structpb.NewStringValue("https://elsewhere.example/"), // not used
				"display_name":  structpb.NewStringValue(display),
			}})
		}
		return true, &structpb.Struct{Fields: map[string]*structpb.Value{"providers": structpb.NewStructValue(&structpb.Struct{Fields: providers})}}
	case method == service.MethodCodehost && s.setup.codehost != nil:
		return true, s.setup.codehost
	}
	return false, nil
}

// faultyStore is a store that fails as fault says.
type faultyStore struct {
	service.Store
	fault func() error
}

// Authentications implements [service.Store].
func (s faultyStore) Authentications(ctx context.Context, d service.Demand, next string) (*service.AuthenticationSet, time.Duration, error) {
	if s.fault != nil {
		if err := s.fault(); err != nil {
			return nil, 0, err
		}
	}
	return s.Store.Authentications(ctx, d, next)
}

// server is the pages of a setup behind the router, over a database.
type server struct {
	t       testing.TB
	setup   setup
	site    *web.Site
	service *service.Service
	invoker *call.Invoker
	router  *exchange.Router
	log     bytes.Buffer
	grants  []*guidonv1.CreateGrantRequest // that were made
}

func newServer(t testing.TB, setup setup) *server {
	t.Helper()
	db := storetest.NewSQLite(t)
	s := &server{t: t, setup: setup, service: service.NewService(faultyStore{cache.New(db), setup.fault}, time.Now).WithPolicy(&setup.policy)}
	s.site = web.New(page.Config{PublicPath: setup.publicPath, Required: !setup.open, Session: setup.session, CheckReturnTo: loginstate.CheckReturnTo, Interface: page.Interface{Disabled: true}})
	s.invoker = call.NewInvoker(call.Config{
		Service: s.service, Authentication: call.AuthenticationConfig{Required: !setup.open, TokenMethod: setup.tokens},
		Session: setup.session, Budget: limit.NewBudget(0), Timeout: time.Minute, Failures: setup.failures,
		Logger: slog.New(slog.NewJSONHandler(&s.log, nil)),
	})
	rows := s.rows()
	s.router = exchange.NewRouter(rows, nil, []exchange.Mount{s.site.Mount(rows)}, exchange.Config{Invoker: s.invoker})
	return s
}

// rows returns the operations that pages run. All are those of the service but CreateGrant,
// which is that of a package for commands only.
func (s *server) rows() []exchange.Row {
	methods := auth.Methods{Token: s.setup.tokens, SignIn: signIn{setup: &s.setup}}
	sessions := auth.Sessions{Cookie: s.setup.session, Lifetime: time.Hour, NextURI: func(context.Context, *service.Authentication) string { return s.setup.nextURI }}
	route := func(method, path string) []call.Route { return []call.Route{{Method: method, Pattern: path}} }
	operations := []*call.Operation{
		call.Inform("/flipt.auth.PublicAuthenticationService/ListAuthenticationMethods", call.AreaPublic, route("GET", "/auth/v1/method"), methods.List),
		call.Inform("/flipt.auth.AuthenticationService/GetAuthenticationSelf", call.AreaAuthentication, route("GET", "/auth/v1/self"), auth.GetSelf),
		call.Ask[wireauth.RevokeAuthenticationSelfResponse]("/flipt.auth.AuthenticationService/RevokeAuthenticationSelf", call.AreaAuthentication, route("DELETE", "/auth/v1/self/revoke"), sessions.RevokeSelf).Light().With(call.Issues),
		call.Ask[guidonv1.CreateSessionResponse]("/guidon.v1.SessionService/CreateSession", call.AreaAuthentication, route("POST", "/auth/v1/self/sessions"), sessions.Create).Light().With(call.Issues),
		call.Ask[emptypb.Empty]("/test.Broken/Callback", call.AreaPublic, route("GET", "/auth/v1/method/{reason}/callback"), broken).Light(),
	}
	if !s.setup.noGrants {
		operations = append(operations, call.Ask[guidonv1.CreateGrantResponse]("/guidon.v1.SessionService/CreateGrant", call.AreaAuthentication, route("POST", "/auth/v1/self/grants"), s.createGrant).Light().EnabledIf(!s.setup.disabled))
	}
	rows := make([]exchange.Row, len(operations))
	for i, o := range operations {
		rows[i] = exchange.Row{Operation: o.ForEveryIdentity()}
	}
	rows[4].Form = browserForm{s.site}
	return rows
}

// createGrant grants what a browser session asks for.
func (s *server) createGrant(_ context.Context, _ *service.Service, c *call.Call, m *guidonv1.CreateGrantRequest, _ *call.Request) (call.Response, error) {
	switch {
	case s.setup.grantError != nil:
		return call.Response{}, s.setup.grantError
	case c.Caller.Authentication.Client != service.ClientBrowser:
		return call.Response{}, guidon.Errorf(guidon.PermissionDenied, "permission denied: needs a browser session")
	}
	s.grants = append(s.grants, m)
	return call.Response{Message: &guidonv1.CreateGrantResponse{Code: s.setup.code, ExpiresAt: timestamppb.Now()}}, nil
}

// broken is a step of signing in that fails with the code in its path.
func broken(context.Context, *service.Service, *call.Call, *emptypb.Empty, *call.Request) (call.Response, error) {
	return call.Response{}, guidon.Errorf(guidon.Unauthenticated, "the attempt is broken")
}

// browserForm is the form of a step of signing in.
type browserForm struct{ site *web.Site }

// Serve implements [exchange.Form].
func (f browserForm) Serve(x *exchange.Exchange, o *call.Operation) {
	x.Call = call.Request{Message: &emptypb.Empty{}}
	if _, err := x.Carry(x.Request.Context(), o); err != nil {
		x.ReplyError(err)
	}
}

// Error implements [exchange.Form].
func (f browserForm) Error(x *exchange.Exchange, err error) {
	f.site.ErrorPage(x, call.HTTPStatus(guidon.CodeOf(err)), x.PathVariable("reason"))
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   string
}

// cookies returns the values of the cookies that the response sets, by name.
func (r reply) cookies() map[string]string {
	set := make(map[string]string)
	for _, c := range (&http.Response{Header: r.header}).Cookies() {
		set[c.Name] = c.Value
	}
	return set
}

// do sends a request. Headers are names and values in turn.
func (s *server) do(method, target, body string, headers ...string) reply {
	s.t.Helper()
	request := httptest.NewRequestWithContext(s.t.Context(), method, "http://flags.test", strings.NewReader(body))
	u, err := url.ParseRequestURI(target)
	if err != nil {
		s.t.Fatal(err)
	}
	request.URL.Path, request.URL.RawPath, request.URL.RawQuery = u.Path, u.RawPath, u.RawQuery
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, request)
	r := w.Result()
	content, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{r.StatusCode, r.Header, string(content)}
}

// get gets a page with the session, which may be empty.
func (s *server) get(target, session string) reply {
	s.t.Helper()
	return s.do("GET", target, "", cookie(session)...)
}

// post sends a form as a page of ours does.
func (s *server) post(target, session string, form url.Values) reply {
	s.t.Helper()
	return s.do("POST", target, form.Encode(), append(cookie(session), "Sec-Fetch-Site", "same-origin", "Content-Type", "application/x-www-form-urlencoded")...)
}

func cookie(session string) []string {
	if session == "" {
		return nil
	}
	return []string{"Cookie", sessionCookie + "=" + session}
}

const sessionCookie = "service_client_token"

// token returns a new static token.
func (s *server) token(in service.TokenInput) string {
	s.t.Helper()
	if in.Name == "" {
		in.Name = "deploy"
	}
	token, _, err := s.service.CreateToken(s.t.Context(), service.Write{}, in)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// session returns a new session of a static token with the name.
func (s *server) session(name string) string {
	s.t.Helper()
	r := s.post("/sign-in", "", url.Values{"token": {s.token(service.TokenInput{Name: name})}})
	session := r.cookies()[sessionCookie]
	if r.status != http.StatusSeeOther || session == "" {
		s.t.Fatalf("signing in: %d %s", r.status, r.body)
	}
	return session
}
