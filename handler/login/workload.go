package login

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	wire "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// longLived is the lifetime of a service account token from which on an exchange is warned
// about: it is accepted even if it was copied long ago.
const longLived = 30 * 24 * time.Hour

// VerifyServiceAccount implements [auth.SignIn].
func (s *SignIn) VerifyServiceAccount(
	ctx context.Context, svc *service.Service, c *call.Call, m *wire.VerifyServiceAccountRequest, _ *call.Request,
) (call.Response, error) {
	note := &call.SignIn{Method: methodKubernetes}
	response := call.Response{SignIn: note}
	message, err := s.exchange(ctx, svc, c.Write(), m.GetServiceAccountToken(), note)
	if err != nil {
		refused(note, err)
	} else {
		response.Message = message
	}
	s.observe(note.Method, "", err)
	return response, err
}

func (s *SignIn) exchange(
	ctx context.Context, svc *service.Service, w service.Write, proof string, note *call.SignIn,
) (*wire.VerifyServiceAccountResponse, error) {
	if proof == "" {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field serviceAccountToken: must not be empty")
	}
	identity, err := s.config.Cluster.Verify(ctx, proof)
	if errors.Is(err, guidon.Unauthenticated) {
		return nil, call.FailedCredential(providerRefusal(err, auth.ReasonInvalid))
	}
	if err != nil {
		return nil, providerRefusal(err, auth.ReasonInvalid)
	}
	note.Subject = identity.Subject
	key, err := s.keys.Newest(ctx)
	if err != nil {
		return nil, err
	}
	token := kubernetes.ClientToken(key.Secret, proof)
	a, err := svc.Exchange(ctx, w, identity, token)
	if err != nil {
		return nil, serviceRefusal(err, auth.ReasonInvalid)
	}
	if a.ExpiresAt.Sub(s.config.Now()) > longLived {
		s.config.Logger.WarnContext(ctx, "a service account exchanged a token that is valid for more than 30 days; use a projected token, or set authentication.methods.kubernetes.max_lifetime",
			"subject", identity.Subject, "expires_at", a.ExpiresAt)
	}
	return &wire.VerifyServiceAccountResponse{ClientToken: token, Authentication: auth.Message(a)}, nil
}
