package login

import (
	"context"

	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	wire "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// AuthorizeURL implements [auth.SignIn]. The response sets the login cookie of the attempt,
// and makes the browser forget those that are too many.
func (s *SignIn) AuthorizeURL(
	ctx context.Context, _ *service.Service, method service.Method, m *wire.AuthorizeURLRequest, request *call.Request,
) (call.Response, error) {
	people, note, err := s.people(method, m.GetProvider())
	response := call.Response{SignIn: note}
	if err != nil {
		return response, err
	}
	attempt, err := loginstate.Begin(s.config.Now(), people.Fingerprint(), m.GetReturnTo())
	if err != nil {
		return response, err
	}
	url, err := people.AuthorizeURL(ctx, attempt)
	if err != nil {
		refusal := providerRefusal(err, auth.ReasonInvalid)
		refused(note, refusal)
		return response, refusal
	}
	if response.SetCookie, err = s.attemptCookies(ctx, attempt, request); err != nil {
		return call.Response{SignIn: note}, err
	}
	if m.GetRedirect() {
		note.Location = url
	}
	response.Message = &wire.AuthorizeURLResponse{AuthorizeUrl: url}
	return response, nil
}

// attemptCookies returns the values of Set-Cookie that begin the attempt.
func (s *SignIn) attemptCookies(ctx context.Context, a *loginstate.Attempt, request *call.Request) ([]string, error) {
	surplus, err := s.sealer.Surplus(ctx, cookies(request.Cookie))
	if err != nil {
		return nil, err
	}
	values := lists.Map(surplus, func(name string) string { return s.sealer.Forget(name).String() })
	cookie, err := s.sealer.Cookie(ctx, a)
	if err != nil {
		return nil, err
	}
	return append(values, cookie.String()), nil
}
