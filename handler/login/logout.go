package login

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	wire "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// Revoke implements [auth.SignIn]. A token that is not valid is InvalidArgument (OpenID
// Connect Back-Channel Logout 1.0 2.8).
func (s *SignIn) Revoke(
	ctx context.Context, svc *service.Service, c *call.Call, m *wire.RevokeRequest, _ *call.Request,
) (call.Response, error) {
	note := &call.SignIn{Method: methodOIDC}
	response := call.Response{SignIn: note}
	p, found := s.config.OIDC[m.GetProvider()]
	if !found {
		return response, errUnknownProvider
	}
	note.Provider = p.Name()
	logout, err := p.VerifyLogout(ctx, m.GetLogoutToken())
	if errors.Is(err, guidon.Unauthenticated) {
		note.Reason = auth.ReasonInvalid
		return response, call.FailedCredential(invalidLogout(err))
	}
	if err != nil {
		return response, providerRefusal(err, auth.ReasonInvalid)
	}
	note.Subject = logout.Subject
	out := service.SignOut{
		Provider: methodOIDC + ":" + p.Name(), Subject: logout.Subject, SID: logout.Session,
		Digest: digestOf("guidon: logout token", p.Name(), logout.ID), Until: logout.Until,
	}
	if err := s.endSessions(ctx, svc, c.Write(), out); err != nil {
		if errors.Is(err, guidon.InvalidArgument) {
			note.Reason = auth.ReasonInvalid
			err = invalidLogout(err)
		}
		return response, err
	}
	response.Message = &emptypb.Empty{}
	return response, nil
}

// endSessions ends the sessions, and remembers the token even if there are none.
func (s *SignIn) endSessions(ctx context.Context, svc *service.Service, w service.Write, out service.SignOut) error {
	w.By.Actor.ID, w.By.Actor.Method = out.Provider, service.MethodOIDC.String()
	ended, err := svc.EndSessionsOf(ctx, w, out)
	if err != nil || ended > 0 {
		return err
	}
	return s.config.Secrets.Spend(ctx, out.Digest, out.Until)
}

func invalidLogout(err error) error {
	return &guidon.Error{Code: guidon.InvalidArgument, Message: "invalid logout token", Err: err}
}

// NextURI implements [auth.SignIn]. A provider that cannot be asked now is left out: the
// person is signed out here already.
func (s *SignIn) NextURI(ctx context.Context, a *service.Authentication) string {
	if a == nil || a.Client != service.ClientBrowser {
		return ""
	}
	name, ok := service.SubjectProvider(a.Subject)
	p, found := s.config.OIDC[name]
	if !ok || !found || !p.Logout {
		return ""
	}
	url, err := p.EndSessionURL(ctx, a.Metadata["io.service.auth.email"], s.config.PublicURL+"/sign-in")
	if err != nil {
		s.config.Logger.WarnContext(ctx, "cannot end the session at the provider", "provider", p.Name(), "error", err)
		return ""
	}
	return url
}
