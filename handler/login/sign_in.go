package login

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// SignIn implements [auth.SignIn]. It is safe for concurrent use.
type SignIn struct {
	config Config
	keys   *keys
	sealer *loginstate.Sealer
}

var _ auth.SignIn = (*SignIn)(nil)

// New returns a SignIn. It sends no request.
func New(c Config) (*SignIn, error) {
	if c.Secrets == nil || c.Now == nil {
		return nil, errors.New("login: no secrets or no clock")
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	s := &SignIn{config: c, keys: &keys{store: c.Secrets, now: c.Now}}
	s.sealer = &loginstate.Sealer{
		Keys: s.keys, Lifetime: c.StateLifetime, Now: c.Now,
		Path: c.PublicPath + methodPath, Secure: c.Session.Secure, HostPrefix: c.Session.HostPrefix,
	}
	s.expect()
	return s, nil
}

// methodPath is the path below which the steps of signing in are.
const methodPath = "/auth/v1/method/"

// The names of the methods in logs and metrics.
const (
	methodOIDC       = "oidc"
	methodCodehost   = "codehost"
	methodKubernetes = "kubernetes"
	methodCLI        = "cli"
)

// Describe implements [auth.SignIn].
func (s *SignIn) Describe(method service.Method) (enabled bool, metadata *structpb.Struct) {
	switch method {
	case service.MethodOIDC:
		return s.describeProviders()
	case service.MethodCodehost:
		if s.config.Codehost == nil {
			return false, nil
		}
		return true, s.steps("codehost", map[string]string{"display_name": s.config.Codehost.DisplayName, "type": s.config.Codehost.Type})
	case service.MethodKubernetes:
		return s.config.Cluster != nil, nil
	case service.MethodJWT:
		return s.config.JWT != nil, nil
	}
	return false, nil
}

func (s *SignIn) describeProviders() (bool, *structpb.Struct) {
	if len(s.config.OIDC) == 0 {
		return false, nil
	}
	providers := map[string]*structpb.Value{}
	for name, p := range s.config.OIDC {
		providers[name] = structpb.NewStructValue(s.steps("oidc/"+name, map[string]string{"display_name": p.DisplayName}))
	}
	return true, &structpb.Struct{Fields: map[string]*structpb.Value{
		"providers": structpb.NewStructValue(&structpb.Struct{Fields: providers}),
	}}
}

// steps returns the metadata of a way to sign in: the paths of its steps, and the others.
func (s *SignIn) steps(path string, others map[string]string) *structpb.Struct {
	fields := map[string]*structpb.Value{
		"authorize_url": structpb.NewStringValue(s.config.PublicPath + methodPath + path + "/authorize"),
		"callback_url":  structpb.NewStringValue(s.config.PublicPath + methodPath + path + "/callback"),
	}
	for name, value := range others {
		fields[name] = structpb.NewStringValue(value)
	}
	return &structpb.Struct{Fields: fields}
}

// Remembered implements [call.Verifier].
func (s *SignIn) Remembered(ctx context.Context, token string) (*service.Identity, bool) {
	return s.config.JWT.Remembered(ctx, token)
}

// Verify implements [call.Verifier].
func (s *SignIn) Verify(ctx context.Context, token string) (*service.Identity, error) {
	return s.config.JWT.Verify(ctx, token)
}

// errUnknownProvider does not repeat the name, which is the client's.
var errUnknownProvider = guidon.Errorf(guidon.NotFound, "there is no such provider")

// people returns the provider, and the note of an attempt to sign in with it.
func (s *SignIn) people(method service.Method, name string) (People, *call.SignIn, error) {
	if method == service.MethodCodehost {
		return s.config.Codehost, &call.SignIn{Method: methodCodehost}, nil
	}
	note := &call.SignIn{Method: methodOIDC}
	p, found := s.config.OIDC[name]
	if !found {
		return nil, note, errUnknownProvider
	}
	note.Provider = p.Name()
	return p, note, nil
}

// cookies returns the cookies in the values of the header.
func cookies(lines []string) []*http.Cookie {
	return (&http.Request{Header: http.Header{"Cookie": lines}}).Cookies()
}

// expect announces all combinations of attempts to the observer.
func (s *SignIn) expect() {
	if s.config.Observer == nil {
		return
	}
	expect := func(method, provider string) {
		for _, result := range append(auth.Reasons, "ok", "error") {
			s.config.Observer.SignInExpected(method, provider, result)
		}
	}
	for name := range s.config.OIDC {
		expect(methodOIDC, name)
	}
	if s.config.Codehost != nil {
		expect(methodCodehost, "")
	}
	if s.config.Codehost != nil || len(s.config.OIDC) > 0 {
		expect(methodCLI, "")
	}
	if s.config.Cluster != nil {
		expect(methodKubernetes, "")
	}
}

// observe reports the end of an attempt, whose error may be nil.
func (s *SignIn) observe(method, provider string, err error) {
	if s.config.Observer == nil {
		return
	}
	result := "ok"
	if err != nil {
		result = reasonOf(err)
	}
	s.config.Observer.SignedIn(method, provider, result)
}

// refused records in the note why an attempt was refused.
func refused(note *call.SignIn, err error) {
	if guidon.CodeOf(err) != guidon.InvalidArgument {
		note.Reason = reasonOf(err)
	}
	if f, ok := errors.AsType[*provider.Failure](err); ok {
		note.Said = f.Said
	}
}

// reasonOf returns the reason why an attempt was refused, or "error" if that is not one of
// those that clients see.
func reasonOf(err error) string {
	if r, ok := errors.AsType[*auth.Refusal](err); ok && r.Reason() != "" {
		return r.Reason()
	}
	return "error"
}

const (
	messageDenied        = "the provider did not sign you in; begin again"
	messageUnavailable   = "the provider is unavailable; try again later"
	messageMisconfigured = "signing in is not configured correctly; tell an administrator"
)

// providerRefusal returns the error of a provider as that of an attempt. One that is
// Internal is that the provider refuses the credentials of this service.
func providerRefusal(err error, reason string) *auth.Refusal {
	if guidon.CodeOf(err) == guidon.Internal {
		return auth.Refuse(auth.ReasonMisconfigured, guidon.Internal, messageMisconfigured, err)
	}
	return auth.Refused(err, reason)
}

// serviceRefusal returns the error of the service as that of an attempt.
func serviceRefusal(err error, reason string) error {
	switch guidon.CodeOf(err) {
	case guidon.Unauthenticated, guidon.PermissionDenied:
		return auth.Refused(err, reason)
	}
	return err
}
