package auth

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// Sessions has the operations on the caller's own sessions.
type Sessions struct {
	Cookie   call.SessionCookie
	Lifetime time.Duration                                               // of a browser session
	Most     int                                                         // sessions of one static token; 0 means no limit
	NextURI  func(ctx context.Context, a *service.Authentication) string // see [SignIn]
}

// List returns the caller's sessions.
func (Sessions) List(ctx context.Context, s *service.Service, c *call.Call, _ *emptypb.Empty) (*guidonv1.ListSessionsResponse, error) {
	sessions, err := s.Sessions(ctx, c.Demand, c.Caller.Authentication)
	if err != nil {
		return nil, err
	}
	return &guidonv1.ListSessionsResponse{Authentications: lists.Map(sessions, Message)}, nil
}

// Create begins a browser session with the static token of the request.
func (a Sessions) Create(
	ctx context.Context, s *service.Service, c *call.Call, _ *emptypb.Empty, request *call.Request,
) (call.Response, error) {
	note := &call.SignIn{Method: "token"}
	token, session, err := s.BeginSession(ctx, c.Write(), service.SignIn{
		Client: service.ClientBrowser, Lifetime: a.Lifetime, Most: a.Most, Replaced: SessionOf(ctx, s, a.Cookie, request),
	})
	if err != nil {
		return call.Response{SignIn: note}, err
	}
	note.Subject = session.Actor().ID
	return call.Response{
		Message:   &guidonv1.CreateSessionResponse{Authentication: Message(session)},
		SetCookie: []string{a.Cookie.Set(token)}, SignIn: note,
	}, nil
}

// SessionOf returns the id of the session that the browser has, or "".
func SessionOf(ctx context.Context, s *service.Service, cookie call.SessionCookie, request *call.Request) string {
	token, err := cookie.Read(request.Cookie)
	if err != nil || token == "" {
		return ""
	}
	session, _, err := s.Authenticate(ctx, service.Demand{}, "", token)
	if err != nil {
		return ""
	}
	return session.ID
}

// Delete ends a session of the caller's.
func (Sessions) Delete(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.DeleteSessionRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.EndSession(ctx, w, m.GetId())
}

// RevokeSelf ends the caller's authentication or, if the request says so, all of the
// caller's subject, and the session of a browser with it.
func (a Sessions) RevokeSelf(
	ctx context.Context, s *service.Service, c *call.Call, m *auth.RevokeAuthenticationSelfRequest, _ *call.Request,
) (call.Response, error) {
	self := c.Caller.Authentication
	if err := s.RevokeSelf(ctx, c.Write(), m.GetEverywhere()); err != nil {
		return call.Response{}, err
	}
	return call.Response{Message: &auth.RevokeAuthenticationSelfResponse{NextUri: a.NextURI(ctx, self)}, EndsSession: true}, nil
}
