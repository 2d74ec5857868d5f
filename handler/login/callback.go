package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
	wire "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// maxParameter limits code and state of a callback, in bytes.
const maxParameter = 2 << 10

var errDenied = errors.New("the authorization response is an error")

// transportGRPC is that of callers who get the token in the message instead of a cookie.
const transportGRPC = "grpc"

// callback is one request of a browser that a provider has redirected back.
type callback struct {
	*SignIn
	service *service.Service
	write   service.Write
	method  service.Method
	people  People
	message *wire.CallbackRequest
	request *call.Request
	note    *call.SignIn
}

// Callback implements [auth.SignIn]. On success the response has the cookie of the session.
// Both on success and on failure it makes the browser forget the login cookie, unless the
// provider is unavailable, so that reloading the page works.
func (s *SignIn) Callback(
	ctx context.Context, svc *service.Service, w service.Write, method service.Method, m *wire.CallbackRequest,
	request *call.Request,
) (response call.Response, err error) {
	people, note, err := s.people(method, m.GetProvider())
	if err != nil {
		return call.Response{SignIn: note}, err
	}
	c := callback{SignIn: s, service: svc, write: w, method: method, people: people, message: m, request: request, note: note}
	response, err = c.run(ctx)
	response.SignIn = note
	if err != nil {
		refused(note, err)
	}
	if guidon.CodeOf(err) != guidon.InvalidArgument {
		s.observe(note.Method, note.Provider, err)
	}
	return response, err
}

// Reject implements [auth.SignIn].
func (s *SignIn) Reject(method service.Method, m *wire.CallbackRequest, err error) call.Response {
	_, note, unknown := s.people(method, m.GetProvider())
	if unknown != nil {
		return call.Response{SignIn: note}
	}
	refused(note, err)
	if guidon.CodeOf(err) != guidon.InvalidArgument {
		s.observe(note.Method, note.Provider, err)
	}
	return call.Response{SetCookie: []string{s.sealer.Forget(s.sealer.Name(m.GetState())).String()}, SignIn: note}
}

// run makes the checks in an order in which nothing of the request is used before it is
// certain that this browser began the attempt with this provider.
func (c *callback) run(ctx context.Context) (call.Response, error) {
	if err := c.check(); err != nil {
		return c.failed(c.sealer.Name(c.message.GetState()), err)
	}
	attempt, cookie, err := c.sealer.Open(ctx, cookies(c.request.Cookie), c.message.GetState(), c.people.Fingerprint())
	if err != nil {
		return c.failed(cookie, auth.Refused(err, auth.ReasonState))
	}
	if err := c.unspent(ctx, attempt); err != nil {
		return c.failed(cookie, err)
	}
	identity, err := c.identify(ctx, attempt)
	if err != nil {
		return c.failed(cookie, err)
	}
	c.note.Subject = identity.Subject
	return c.signIn(ctx, attempt, identity, cookie)
}

// check returns an error if code or state are too long.
func (c *callback) check() error {
	for _, p := range []struct{ name, value string }{{"code", c.message.GetCode()}, {"state", c.message.GetState()}} {
		if len(p.value) > maxParameter {
			return guidon.Errorf(guidon.InvalidArgument, "invalid field %s: must not be longer than %d bytes", p.name, maxParameter)
		}
	}
	return nil
}

// failed returns the response of an attempt that has failed.
func (c *callback) failed(cookie string, err error) (call.Response, error) {
	if guidon.CodeOf(err) == guidon.Unavailable {
		return call.Response{}, err
	}
	return call.Response{SetCookie: []string{c.sealer.Forget(cookie).String()}}, err
}

// unspent returns an error if the attempt was used already. The transaction that makes the
// session decides; this saves the provider the request.
func (c *callback) unspent(ctx context.Context, a *loginstate.Attempt) error {
	spent, err := c.config.Secrets.Spent(ctx, a.Digest())
	if err != nil {
		return err
	}
	if spent {
		return auth.Refuse(auth.ReasonState, guidon.Unauthenticated, "this attempt to sign in was used already; begin again", nil)
	}
	return nil
}

// digestOf returns the digest of the purpose and the texts, by which the database knows something that was used.
func digestOf(purpose string, texts ...string) string {
	digest := sha256.Sum256([]byte(purpose + "\x00" + strings.Join(texts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

// errTooSlow is the cause of contexts that end because the provider is too slow, and not
// because the client left.
var errTooSlow = fmt.Errorf("signing in takes longer than %v", clock.Text(maxWait))

// maxWait is how long one attempt may wait for its provider, with all its requests.
const maxWait = 10 * time.Second

// identify returns who the provider says it is. Checking the issuer and exchanging the code
// take at most maxWait together.
func (c *callback) identify(ctx context.Context, a *loginstate.Attempt) (*service.Identity, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxWait, errTooSlow)
	defer cancel()
	identity, err := c.ask(ctx, a)
	if guidon.CodeOf(err) == guidon.DeadlineExceeded && errors.Is(context.Cause(ctx), errTooSlow) {
		return nil, auth.Refuse(auth.ReasonUnavailable, guidon.Unavailable, messageUnavailable, fmt.Errorf("%w: %w", errTooSlow, err))
	}
	return identity, err
}

// issuerChecker is a provider that states in its responses which one it is (RFC 9207).
type issuerChecker interface {
	CheckIssuer(ctx context.Context, issuer string) error
}

var _ issuerChecker = OIDC{}

// ask asks the provider who it is.
func (c *callback) ask(ctx context.Context, a *loginstate.Attempt) (*service.Identity, error) {
	if checker, ok := c.people.(issuerChecker); ok {
		if err := checker.CheckIssuer(ctx, c.message.GetIss()); err != nil {
			return nil, providerRefusal(err, auth.ReasonInvalid)
		}
	}
	if e := c.message.GetError(); e != "" {
		said := provider.Printable(strings.TrimSuffix(e+": "+c.message.GetErrorDescription(), ": "))
		return nil, auth.Refuse(auth.ReasonDenied, guidon.Unauthenticated, messageDenied,
			&provider.Failure{Provider: c.note.Provider, Said: said, Err: errDenied})
	}
	if c.message.GetCode() == "" {
		return nil, auth.Refuse(auth.ReasonDenied, guidon.Unauthenticated, messageDenied, errors.New("the provider sent no code"))
	}
	identity, err := c.people.Identify(ctx, a, c.message.GetCode())
	if err != nil {
		return nil, providerRefusal(err, auth.ReasonInvalid)
	}
	return identity, nil
}

// signIn creates the session.
func (c *callback) signIn(ctx context.Context, a *loginstate.Attempt, identity *service.Identity, cookie string) (call.Response, error) {
	token, session, err := c.service.SignIn(ctx, c.write, service.SignIn{
		Identity: identity, Client: service.ClientBrowser, Lifetime: c.config.Session.Lifetime, Most: c.config.Most,
		Replaced: auth.SessionOf(ctx, c.service, c.config.Session, c.request),
		Attempt:  a.Digest(), Until: a.Begun.Add(c.config.StateLifetime),
	})
	if err != nil {
		return c.failed(cookie, c.refusal(err, identity))
	}
	c.note.Location = c.config.PublicPath + a.ReturnTo
	message := &wire.CallbackResponse{Authentication: auth.Message(session)}
	if c.request.Transport == transportGRPC {
		message.ClientToken = token
	}
	return call.Response{
		Message:   message,
		SetCookie: []string{c.config.Session.Set(token), c.sealer.Forget(cookie).String()},
	}, nil
}

// refusal returns the error of the service as that of the attempt. For a person who is not
// admitted it adds what the operator may have to do, for the log. If the provider was not
// available for claims that may decide, that is the error.
func (c *callback) refusal(err error, identity *service.Identity) error {
	if guidon.CodeOf(err) != guidon.PermissionDenied {
		return serviceRefusal(err, auth.ReasonState)
	}
	if guidon.CodeOf(identity.Missing) == guidon.Unavailable {
		return providerRefusal(identity.Missing, auth.ReasonInvalid)
	}
	var hint string
	if host := c.config.Codehost; c.method == service.MethodCodehost && host != nil {
		if missing := codehost.MissingOrganizations(identity, host.Organizations); len(missing) > 0 {
			hint = "the code host does not list " + strings.Join(missing, ", ") +
				": the person may not be a member, or the organization may not have approved the OAuth application"
		}
	}
	if identity.Missing != nil {
		hint = identity.Missing.Error()
	}
	if hint != "" {
		err = &guidon.Error{Code: guidon.PermissionDenied, Message: guidon.PublicMessage(err), Err: fmt.Errorf("%w; %s", err, hint)}
	}
	return serviceRefusal(err, auth.ReasonState)
}
