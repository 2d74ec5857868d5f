package call

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Credentials identify the caller of a request.
type Credentials struct {
	Authorization, Cookie []string    // raw header values
	Capability            *Capability // instead of them: that of a listener
}

// Capability is the credential of a listener that cannot send a header.
type Capability struct {
	Text      string
	Namespace string
	Arrived   time.Time // when the stream was requested
}

// authenticate identifies the caller, and checks that the scope of a token which is
// limited to a namespace covers the request, that the caller has the role, and that it
// does not send too many requests.
func (i *Invoker) authenticate(ctx context.Context, o *Operation, request *Request, call *Call) error {
	if err := i.resolveCaller(ctx, o, request, call); err != nil {
		return err
	}
	a := call.Caller.Authentication
	if a == nil {
		return nil
	}
	if err := checkScope(a, o, request); err != nil {
		return request.orReference(err)
	}
	if err := checkRole(a, o, request); err != nil {
		return request.orReference(err)
	}
	return i.limitRequests(o, request, call)
}

// resolveCaller identifies the caller and records it in call. If no credential is
// needed, credentials are ignored (contract 10.1).
func (i *Invoker) resolveCaller(ctx context.Context, o *Operation, request *Request, call *Call) error {
	if request.Actor != nil {
		call.Caller.Actor = *request.Actor
		return nil
	}
	if !i.Protects(o.AreaOf(request)) {
		return nil
	}
	recognized := call.Caller.Authentication
	call.Caller.Authentication = nil
	a, age, err := i.identifyCaller(ctx, call.Demand, call, request, recognized)
	call.Age = age
	if err != nil {
		return err
	}
	call.Caller.Authentication, call.Caller.Actor = a, a.Actor()
	return nil
}

// Protects reports whether an area needs a credential (operations 1.2).
func (i *Invoker) Protects(area Area) bool {
	config := i.config.Authentication
	switch area {
	case AreaPublic:
		return false
	case AreaManagement:
		return config.Required && !config.ExcludeManagement
	case AreaEvaluation:
		return config.Required && !config.ExcludeEvaluation
	case AreaOFREP:
		return config.Required && !config.ExcludeOFREP
	}
	return config.Required
}

// identifyCaller returns the authentication of the request's credential, and the age of
// the tokens if they are stale. A token that was recognized before is not hashed again.
func (i *Invoker) identifyCaller(
	ctx context.Context, d service.Demand, call *Call, request *Request, recognized *service.Authentication,
) (*service.Authentication, time.Duration, error) {
	c, next := request.Capability, request.about()
	switch {
	case recognized != nil:
		a, age, err := i.service.Reauthenticate(ctx, d, next, recognized)
		return a, age, withReason(err, reasonUnknown)
	case c == nil:
		return i.identify(ctx, request.Credentials, d, next, request.Sender)
	}
	a, age, until, err := i.service.AuthenticateListener(ctx, d, c.Namespace, c.Text, c.Arrived)
	call.Until = until
	return a, age, withReason(err, reasonCapability)
}

// Identify returns the authentication of a token or cookie. It counts one that fails as a
// failure of the sender.
func (i *Invoker) Identify(ctx context.Context, c Credentials, d service.Demand, from Sender) (*service.Authentication, error) {
	a, _, err := i.identify(ctx, c, d, "", from)
	return a, i.limit(ctx, from, err)
}

// identify returns the authentication of a token or cookie, and the age of the tokens if
// they are stale. next is the namespace that will be read next, or "". The caller cannot
// distinguish failures; the reason is only logged (operations 1.1).
func (i *Invoker) identify(
	ctx context.Context, c Credentials, d service.Demand, next string, from Sender,
) (*service.Authentication, time.Duration, error) {
	if i.config.Verifier != nil && len(c.Authorization) > 0 {
		if token, ok := strings.CutPrefix(c.Authorization[0], schemeJWT+" "); ok {
			return i.identifyByProof(ctx, token, d, next, from)
		}
	}
	token, err := i.clientToken(c)
	if err != nil {
		return nil, 0, err
	}
	a, age, err := i.service.Authenticate(ctx, d, next, token)
	if i.config.Verifier != nil && errors.Is(err, guidon.Unauthenticated) && len(c.Authorization) > 0 && strings.Count(token, ".") == 2 {
		return i.identifyByProof(ctx, token, d, next, from)
	}
	return a, age, withReason(err, reasonUnknown)
}

// identifyByProof is identify for a token that is not stored. Verifying one costs more
// than finding a stored one, so it is not done for senders of too many that failed.
func (i *Invoker) identifyByProof(
	ctx context.Context, token string, d service.Demand, next string, from Sender,
) (*service.Authentication, time.Duration, error) {
	identity, known := i.config.Verifier.Remembered(ctx, token)
	if !known {
		if err := i.exhausted(ctx, from); err != nil {
			return nil, 0, err
		}
		var err error
		if identity, err = i.config.Verifier.Verify(ctx, token); err != nil {
			return nil, 0, unproved(err)
		}
	}
	a, age, err := i.service.Recognize(ctx, d, next, identity)
	return a, age, withReason(err, reasonUnknown)
}

// unproved returns the error for a token that proves nothing, with the text of all failed
// credentials and the cause for the log.
func unproved(err error) error {
	if !errors.Is(err, guidon.Unauthenticated) {
		return err
	}
	return FailedCredential(unauthenticated(err))
}

// failure is why a credential identifies no caller, for the log.
type failure string

func (f failure) Error() string { return string(f) }

// The reasons why a credential fails.
const (
	reasonUnknown    failure = "the token is unknown or has expired"
	reasonCapability failure = "the capability, or the token it was issued for, is not valid here"
	reasonMalformed  failure = "the Authorization header is not a bearer token"
)

// withReason returns err, with the reason for the log if it is Unauthenticated.
func withReason(err error, reason failure) error {
	if errors.Is(err, guidon.Unauthenticated) {
		return unauthenticated(reason)
	}
	return err
}

// HasToken reports whether the first value of the Authorization header has a token. No
// browser adds one by itself, unlike the credentials of Basic and Negotiate.
func HasToken(authorization []string) bool {
	if len(authorization) == 0 {
		return false
	}
	scheme, token, _ := strings.Cut(authorization[0], " ")
	return (scheme == schemeBearer || scheme == schemeJWT) && token != ""
}

// The schemes of the Authorization header.
const (
	schemeBearer = "Bearer"
	schemeJWT    = "JWT"
)

// clientToken returns the client token of the credential. The cookie is used only if
// there is no Authorization header at all (contract 10.2).
func (i *Invoker) clientToken(c Credentials) (string, error) {
	if len(c.Authorization) > 0 {
		token, ok := strings.CutPrefix(c.Authorization[0], schemeBearer+" ")
		if !ok || token == "" {
			return "", unauthenticated(reasonMalformed)
		}
		return token, nil
	}
	token, err := i.config.Session.Read(c.Cookie)
	if err == nil && token == "" {
		err = Unauthenticated("no credential in the request")
	}
	return token, err
}

// Unauthenticated returns the error of every failed authentication, with a reason for
// the log.
func Unauthenticated(reason string) error { return unauthenticated(errors.New(reason)) }

func unauthenticated(reason error) error {
	return &guidon.Error{
		Code:    guidon.Unauthenticated,
		Message: guidon.PublicMessage(service.ErrUnauthenticated),
		Err:     reason,
	}
}
