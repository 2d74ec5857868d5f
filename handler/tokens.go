package handler

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// expireSelfName is the operation whose successful responses clear the session cookies.
const expireSelfName = "/flipt.auth.AuthenticationService/ExpireAuthenticationSelf"

// listMethods returns the sign-in methods (contract 10.4).
func (h *Handler) listMethods(context.Context, *call, *emptypb.Empty) (*auth.ListAuthenticationMethodsResponse, error) {
	response := &auth.ListAuthenticationMethodsResponse{}
	for _, method := range service.Methods() {
		info := &auth.MethodInfo{Method: auth.Method(method), SessionCompatible: method.Browser()}
		switch method {
		case service.MethodToken:
			info.Enabled = h.config.Authentication.TokenMethod
		case service.MethodOIDC:
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

func createToken(ctx context.Context, s *service.Service, w service.Write, m *auth.CreateTokenRequest) (*auth.CreateTokenResponse, error) {
	expiresAt, err := convert.Instant("expiresAt", m.GetExpiresAt())
	if err != nil {
		return nil, err
	}
	token, created, err := s.CreateToken(ctx, w, service.TokenInput{
		Name: m.GetName(), Description: m.GetDescription(), Namespace: m.GetNamespaceKey(),
		ExpiresAt: expiresAt, Metadata: m.GetMetadata(),
	})
	if err != nil {
		return nil, err
	}
	return &auth.CreateTokenResponse{ClientToken: token, Authentication: wireAuthentication(created)}, nil
}

func (h *Handler) listAuthentications(ctx context.Context, c *call, m *auth.ListAuthenticationsRequest) (*auth.ListAuthenticationsResponse, error) {
	items, next, err := h.service.ListAuthentications(ctx, c.demand, service.Method(m.GetMethod()), m.GetLimit(), m.GetPageToken())
	if err != nil {
		return nil, err
	}
	if n, _ := fitting(items, authenticationWeight); n < len(items) {
		items, next = items[:n], service.AuthenticationsAfter(m.GetPageToken(), n)
	}
	return &auth.ListAuthenticationsResponse{Authentications: convert.All(items, wireAuthentication), NextPageToken: next}, nil
}

func (h *Handler) getAuthentication(ctx context.Context, c *call, m *auth.GetAuthenticationRequest) (*auth.Authentication, error) {
	a, err := h.service.GetAuthentication(ctx, c.demand, m.GetId())
	return convert.Result(a, err, wireAuthentication)
}

func deleteAuthentication(ctx context.Context, s *service.Service, w service.Write, m *auth.DeleteAuthenticationRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.DeleteAuthentication(ctx, w, m.GetId())
}

// getSelf returns the caller's authentication. There is none if credentials are not
// required (contract 10.1).
func (h *Handler) getSelf(_ context.Context, c *call, _ *emptypb.Empty) (*auth.Authentication, error) {
	self := c.caller.Authentication
	if self == nil {
		return nil, unauthenticated("the request has no authentication to return")
	}
	return wireAuthentication(self), nil
}

func expireSelf(ctx context.Context, s *service.Service, w service.Write, m *auth.ExpireAuthenticationSelfRequest) (*emptypb.Empty, error) {
	at, err := convert.Instant("expiresAt", m.GetExpiresAt())
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, s.ExpireSelf(ctx, w, at)
}

func wireAuthentication(a *service.Authentication) *auth.Authentication {
	return &auth.Authentication{
		Id: a.ID, Method: auth.Method(a.Method), ExpiresAt: convert.Timestamp(a.ExpiresAt),
		CreatedAt: convert.Timestamp(a.CreatedAt), UpdatedAt: convert.Timestamp(a.UpdatedAt), Metadata: a.Metadata,
	}
}
