package auth

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// SignIn signs people and workloads in. It is safe for concurrent use. Only the operations
// of methods that it describes as enabled are called.
type SignIn interface {
	// Describe returns whether the method is enabled, and what clients must know of it.
	Describe(method service.Method) (enabled bool, metadata *structpb.Struct)

	// AuthorizeURL begins an attempt of a person to sign in with the method.
	AuthorizeURL(
		ctx context.Context, s *service.Service, method service.Method, m *auth.AuthorizeURLRequest, request *call.Request,
	) (call.Response, error)
	// Callback ends it.
	Callback(
		ctx context.Context, s *service.Service, w service.Write, method service.Method, m *auth.CallbackRequest, request *call.Request,
	) (call.Response, error)
	// Reject ends the attempt of a callback whose query is refused with the error.
	Reject(method service.Method, m *auth.CallbackRequest, err error) call.Response
	// Revoke ends the sessions of a user who signed out at an OpenID provider.
	Revoke(ctx context.Context, s *service.Service, c *call.Call, m *auth.RevokeRequest, _ *call.Request) (call.Response, error)
	// VerifyServiceAccount gives a workload a client token for its service account token.
	VerifyServiceAccount(
		ctx context.Context, s *service.Service, c *call.Call, m *auth.VerifyServiceAccountRequest, _ *call.Request,
	) (call.Response, error)
	// CreateGrant allows a command line to sign in as the person of a browser session.
	CreateGrant(ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.CreateGrantRequest, _ *call.Request) (call.Response, error)
	// ExchangeGrant gives the command line its token.
	ExchangeGrant(ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ExchangeGrantRequest, _ *call.Request) (call.Response, error)

	// NextURI returns where a browser ends the session at the provider that the
	// authentication came from, or "" if that stays open.
	NextURI(ctx context.Context, a *service.Authentication) string
	call.Verifier
}

// maxStepQuery limits the query of a step of signing in, in bytes.
const maxStepQuery = 8 << 10

// verifying are the traits of operations that start or end sessions by a credential in the request.
const verifying = call.Issues | call.SignsInOrOut | call.VerifiesCredential | call.KeepsSession | call.Private

// Rows returns the operations by which people and workloads sign in. page is that of
// errors, for browsers; it may be nil. prefix is the path of the API.
func Rows(in SignIn, prefix string, page func(x *exchange.Exchange, status int, reason string)) []exchange.Row {
	step := exchange.Step{Check: checkQuery, Page: page}
	form := func(o *call.Operation, form exchange.Form) exchange.Row {
		return exchange.Row{Operation: o, Form: form}
	}
	enabled := func(m service.Method) bool {
		on, _ := in.Describe(m)
		return on
	}
	oidc, codehost := enabled(service.MethodOIDC), enabled(service.MethodCodehost)
	const oidcService, codehostService = "/flipt.auth.AuthenticationMethodOIDCService/", "/flipt.auth.AuthenticationMethodGithubService/"
	oidcPath, codehostPath := prefix+"/method/oidc/{provider}/", prefix+"/method/codehost/"
	return []exchange.Row{
		form(authorize(in, service.MethodOIDC, oidcService, oidcPath).EnabledIf(oidc), step),
		form(callback(in, service.MethodOIDC, oidcService, oidcPath).EnabledIf(oidc), step),
		form(call.Ask[emptypb.Empty](
			oidcService+"Revoke", call.AreaPublic, route(http.MethodPost, oidcPath+"revoke"), in.Revoke,
		).Light().With(verifying).ForEveryIdentity().EnabledIf(oidc), logoutForm{exchange.Messages}),
		form(authorize(in, service.MethodCodehost, codehostService, codehostPath).EnabledIf(codehost), step),
		form(callback(in, service.MethodCodehost, codehostService, codehostPath).EnabledIf(codehost), step),
		form(call.Ask[auth.VerifyServiceAccountResponse](
			"/flipt.auth.AuthenticationMethodKubernetesService/VerifyServiceAccount", call.AreaPublic,
			route(http.MethodPost, prefix+"/method/kubernetes/serviceaccount"), in.VerifyServiceAccount,
		).Light().With(verifying).ForEveryIdentity().EnabledIf(enabled(service.MethodKubernetes)), nil),
		form(call.Ask[guidonv1.CreateGrantResponse](
			"/guidon.v1.SessionService/CreateGrant", call.AreaAuthentication, route(http.MethodPost, prefix+"/self/grants"), in.CreateGrant,
		).Light().With(call.Issues|call.SignsInOrOut).ForEveryIdentity(), nil),
		form(call.Ask[guidonv1.ExchangeGrantResponse](
			"/guidon.v1.SessionService/ExchangeGrant", call.AreaPublic, route(http.MethodPost, prefix+"/method/cli/exchange"), in.ExchangeGrant,
		).Light().With(verifying).ForEveryIdentity(), nil),
	}
}

func route(method, pattern string) []call.Route {
	return []call.Route{{Method: method, Pattern: pattern}}
}

// authorize returns the operation that begins an attempt to sign in.
func authorize(in SignIn, method service.Method, name, path string) *call.Operation {
	return call.Ask[auth.AuthorizeURLResponse](name+"AuthorizeURL", call.AreaPublic, route(http.MethodGet, path+"authorize"),
		func(ctx context.Context, s *service.Service, _ *call.Call, m *auth.AuthorizeURLRequest, request *call.Request) (call.Response, error) {
			if request.Rejected != nil {
				return call.Response{}, request.Rejected
			}
			return in.AuthorizeURL(ctx, s, method, m, request)
		}).Light().With(call.KeepsSession).ForEveryIdentity()
}

// callback returns the operation that ends an attempt to sign in. Its method is GET although
// it creates a session: the provider sends the browser there.
func callback(in SignIn, method service.Method, name, path string) *call.Operation {
	return call.Ask[auth.CallbackResponse](name+"Callback", call.AreaPublic, route(http.MethodGet, path+"callback"),
		func(ctx context.Context, s *service.Service, c *call.Call, m *auth.CallbackRequest, request *call.Request) (call.Response, error) {
			if request.Rejected != nil {
				return in.Reject(method, m, request.Rejected), request.Rejected
			}
			return in.Callback(ctx, s, c.Write(), method, m, request)
		}).Light().With(call.Issues | call.KeepsSession).ForEveryIdentity()
}

// checkQuery returns an error if the query of a step is too long or has a parameter twice,
// since others may read the other value. A callback must have at least one.
func checkQuery(o *call.Operation, raw string, query url.Values) error {
	if len(raw) > maxStepQuery {
		return guidon.Errorf(guidon.InvalidArgument, "the query string is too long: %d bytes, the limit is %d", len(raw), maxStepQuery)
	}
	for _, values := range query {
		switch {
		case len(values) == 1:
		case o.Changes():
			return Refuse(ReasonState, guidon.Unauthenticated, messageBeginAgain, errTwice)
		default:
			return guidon.Errorf(guidon.InvalidArgument, "the query string has a parameter twice")
		}
	}
	if text := query.Get("redirect"); !o.Changes() && text != "" {
		if _, err := strconv.ParseBool(text); err != nil { // the error of the decoder repeats it
			return guidon.Errorf(guidon.InvalidArgument, "invalid field redirect: must be true or false")
		}
	}
	if o.Changes() && query.Has("iss") && query.Get("iss") == "" {
		return Refuse(ReasonInvalid, guidon.Unauthenticated, messageBeginAgain, errEmptyIssuer)
	}
	return nil
}

// Methods tells which sign-in methods there are.
type Methods struct {
	Token  bool // static tokens can be created
	SignIn SignIn
}

// List returns the sign-in methods (contract 10.4).
func (a Methods) List(context.Context, *service.Service, *call.Call, *emptypb.Empty) (*auth.ListAuthenticationMethodsResponse, error) {
	response := &auth.ListAuthenticationMethodsResponse{}
	for _, method := range service.Methods() {
		info := &auth.MethodInfo{Method: auth.Method(method), SessionCompatible: method.Browser()}
		switch {
		case method == service.MethodToken:
			info.Enabled = a.Token
		default:
			info.Enabled, info.Metadata = a.SignIn.Describe(method)
		}
		if method == service.MethodOIDC && info.GetMetadata() == nil {
			info.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"providers": structpb.NewStructValue(&structpb.Struct{})}}
		}
		response.Methods = append(response.Methods, info)
	}
	return response, nil
}
