package auth

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// Methods tells which sign-in methods there are.
type Methods struct {
	Token  bool   // static tokens can be created
	SignIn SignIn // nil if nobody can sign in
}

// SignIn signs people and workloads in. It describes its methods, and has the operations
// by which clients use them.
type SignIn interface {
	// Describe returns whether the method is enabled, and what clients must know of it.
	Describe(method service.Method) (enabled bool, metadata *structpb.Struct)
	// Rows returns the operations, whose area is AreaPublic or AreaAuthentication.
	Rows() []exchange.Row
	// NextURI returns where a browser ends the session at the provider that the
	// authentication came from, or "" if that stays open.
	NextURI(ctx context.Context, a *service.Authentication) string
	call.Verifier
}

// List returns the sign-in methods (contract 10.4).
func (a Methods) List(context.Context, *service.Service, *call.Call, *emptypb.Empty) (*auth.ListAuthenticationMethodsResponse, error) {
	response := &auth.ListAuthenticationMethodsResponse{}
	for _, method := range service.Methods() {
		info := &auth.MethodInfo{Method: auth.Method(method), SessionCompatible: method.Browser()}
		switch {
		case method == service.MethodToken:
			info.Enabled = a.Token
		case a.SignIn != nil:
			info.Enabled, info.Metadata = a.SignIn.Describe(method)
		}
		if method == service.MethodOIDC && info.GetMetadata() == nil {
			info.Metadata = noProviders()
		}
		response.Methods = append(response.Methods, info)
	}
	return response, nil
}

// noProviders returns the metadata of the OIDC method if there are no providers.
func noProviders() *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{"providers": structpb.NewStructValue(&structpb.Struct{})}}
}
