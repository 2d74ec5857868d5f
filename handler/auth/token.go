package auth

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// CreateToken creates a token.
func CreateToken(ctx context.Context, s *service.Service, w service.Write, m *auth.CreateTokenRequest) (*auth.CreateTokenResponse, error) {
	expiresAt, err := convert.Instant("expiresAt", m.GetExpiresAt())
	if err != nil {
		return nil, err
	}
	role, err := service.ParseRole(m.GetRole())
	if err != nil {
		return nil, err
	}
	token, created, err := s.CreateToken(ctx, w, service.TokenInput{
		Role: role, Namespaces: m.GetNamespaceKeys(),
		Name: m.GetName(), Description: m.GetDescription(), Namespace: m.GetNamespaceKey(),
		ExpiresAt: expiresAt, Metadata: m.GetMetadata(),
	})
	if err != nil {
		return nil, err
	}
	return &auth.CreateTokenResponse{ClientToken: token, Authentication: Message(created)}, nil
}

// ListAuthentications lists the authentications page by page.
func ListAuthentications(
	ctx context.Context, s *service.Service, c *call.Call, m *auth.ListAuthenticationsRequest,
) (*auth.ListAuthenticationsResponse, error) {
	filter := service.AuthenticationFilter{Method: service.Method(m.GetMethod()), Subject: m.GetSubject()}
	items, next, err := s.ListAuthentications(ctx, c.Demand, filter, m.GetLimit(), m.GetPageToken())
	if err != nil {
		return nil, err
	}
	if n, _ := convert.Fitting(items, convert.Weight[service.Authentication]()); n < len(items) {
		items, next = items[:n], service.AuthenticationsAfter(m.GetPageToken(), n)
	}
	return &auth.ListAuthenticationsResponse{Authentications: lists.Map(items, Message), NextPageToken: next}, nil
}

// GetAuthentication returns an authentication.
func GetAuthentication(
	ctx context.Context, s *service.Service, c *call.Call, m *auth.GetAuthenticationRequest,
) (*auth.Authentication, error) {
	a, err := s.GetAuthentication(ctx, c.Demand, m.GetId())
	return convert.Result(a, err, Message)
}

// DeleteAuthentication deletes an authentication.
func DeleteAuthentication(
	ctx context.Context, s *service.Service, w service.Write, m *auth.DeleteAuthenticationRequest,
) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.DeleteAuthentication(ctx, w, m.GetId())
}

// GetSelf returns the caller's authentication. There is none if credentials are not
// required (contract 10.1).
func GetSelf(_ context.Context, _ *service.Service, c *call.Call, _ *emptypb.Empty) (*auth.Authentication, error) {
	self := c.Caller.Authentication
	if self == nil {
		return nil, call.Unauthenticated("the request has no authentication to return")
	}
	m := Message(self)
	m.Access = lists.Map(self.Grants(), wireGrant)
	return m, nil
}

// ExpireSelf ends the caller's authentication at a time, and the session of a browser
// with it (contract 10.4).
func ExpireSelf(
	ctx context.Context, s *service.Service, c *call.Call, m *auth.ExpireAuthenticationSelfRequest, _ *call.Request,
) (call.Response, error) {
	at, err := convert.Instant("expiresAt", m.GetExpiresAt())
	if err == nil {
		err = s.ExpireSelf(ctx, c.Write(), at)
	}
	if err != nil {
		return call.Response{}, err
	}
	return call.Response{Message: &emptypb.Empty{}, EndsSession: true}, nil
}

func wireGrant(g service.Grant) *auth.Grant {
	return &auth.Grant{Role: g.Role.String(), NamespaceKeys: g.Namespaces, Source: string(g.Origin), Subject: g.Subject}
}

// Message returns the authentication as clients see it.
func Message(a *service.Authentication) *auth.Authentication {
	m := &auth.Authentication{
		Id: a.ID, Method: auth.Method(a.Method), ExpiresAt: convert.Timestamp(a.ExpiresAt),
		CreatedAt: convert.Timestamp(a.CreatedAt), UpdatedAt: convert.Timestamp(a.UpdatedAt), Metadata: a.Metadata,
		Client: string(a.Client), Subject: a.Subject,
	}
	if !a.Unlimited() { // of a static token: what people and workloads may do depends on bindings
		m.Access = lists.Map(a.Grants(), wireGrant)
	}
	return m
}
