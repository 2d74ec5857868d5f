package login

import (
	"context"
	"crypto/subtle"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/oauth2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const (
	grantLifetime = time.Minute
	maxGrantName  = 64 // characters
)

// A code challenge (S256) and a code verifier (RFC 7636 4.1).
var (
	challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
	verifierPattern  = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)
)

// CreateGrant implements [auth.SignIn].
func (s *SignIn) CreateGrant(
	ctx context.Context, _ *service.Service, c *call.Call, m *guidonv1.CreateGrantRequest, _ *call.Request,
) (response call.Response, err error) {
	caller, name := c.Caller.Authentication, m.GetName()
	switch {
	case caller == nil:
		return response, service.ErrUnauthenticated
	case caller.Client != service.ClientBrowser:
		return response, guidon.Errorf(guidon.PermissionDenied, "permission denied: needs the session of a browser")
	case !challengePattern.MatchString(m.GetCodeChallenge()):
		return response, guidon.Errorf(guidon.InvalidArgument, "invalid field codeChallenge: must be an S256 challenge of 43 characters")
	case utf8.RuneCountInString(name) > maxGrantName:
		return response, guidon.Errorf(guidon.InvalidArgument, "invalid field name: must not be longer than %d characters", maxGrantName)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return response, guidon.Errorf(guidon.InvalidArgument, "invalid field name: must consist of printable characters")
	}
	expires := s.config.Now().Add(grantLifetime).Truncate(time.Second)
	code, err := s.sealer.SealGrant(ctx, loginstate.Grant{Session: caller.ID, Challenge: m.GetCodeChallenge(), Name: name, Expires: expires})
	if err == nil {
		response.Message = &guidonv1.CreateGrantResponse{Code: code, ExpiresAt: timestamppb.New(expires)}
	}
	return response, err
}

// ExchangeGrant implements [auth.SignIn]. A wrong verifier does not use the code up: only
// the command line that requested it has the right one.
func (s *SignIn) ExchangeGrant(
	ctx context.Context, svc *service.Service, c *call.Call, m *guidonv1.ExchangeGrantRequest, _ *call.Request,
) (call.Response, error) {
	note := &call.SignIn{Method: methodCLI}
	response := call.Response{SignIn: note}
	token, session, err := s.exchangeGrant(ctx, svc, c.Write(), m)
	s.observe(note.Method, "", err)
	if err != nil {
		refused(note, err)
		return response, err
	}
	note.Subject = session.Actor().ID
	response.Message = &guidonv1.ExchangeGrantResponse{ClientToken: token, Authentication: auth.Message(session)}
	return response, nil
}

func (s *SignIn) exchangeGrant(
	ctx context.Context, svc *service.Service, w service.Write, m *guidonv1.ExchangeGrantRequest,
) (string, *service.Authentication, error) {
	g, err := s.sealer.OpenGrant(ctx, m.GetCode())
	if err == nil && !proves(m.GetCodeVerifier(), g.Challenge) {
		err = &guidon.Error{Code: guidon.Unauthenticated, Message: "the code is not valid; sign in again", Err: errors.New("wrong verifier")}
	}
	if err != nil {
		return "", nil, refusedGrant(err)
	}
	token, session, err := svc.SignInAgain(ctx, w, g.Session, service.SignIn{
		Client: service.ClientCLI, Name: g.Name, Lifetime: s.config.CLILifetime, Most: s.config.Most,
		Attempt: digestOf("guidon: grant", m.GetCode()), Until: g.Expires,
	})
	return token, session, refusedGrant(err)
}

// refusedGrant returns err as that of a credential that failed, if it is one.
func refusedGrant(err error) error {
	if !errors.Is(err, guidon.Unauthenticated) {
		return err
	}
	return call.FailedCredential(auth.Refused(err, auth.ReasonInvalid))
}

// proves reports whether the verifier is that of the challenge.
func proves(verifier, challenge string) bool {
	got := oauth2.S256ChallengeFromVerifier(verifier)
	return verifierPattern.MatchString(verifier) && subtle.ConstantTimeCompare([]byte(got), []byte(challenge)) == 1
}
