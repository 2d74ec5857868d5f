package auth

import (
	"errors"

	"github.com/guidonhq/guidon"
)

// The reasons why an attempt to sign in is refused, for pages, logs and metrics.
const (
	ReasonState         = "state"         // the attempt is not of this browser, too old, or was used already
	ReasonDenied        = "denied"        // the provider or the person denied it
	ReasonInvalid       = "invalid"       // what should prove the identity is not valid
	ReasonNotAdmitted   = "not_admitted"  // known, but not on the allow lists or without a role
	ReasonMisconfigured = "misconfigured" // the provider refuses the credentials of this service
	ReasonLimited       = "limited"       // too many credentials have failed
	ReasonUnavailable   = "unavailable"   // the provider cannot be used now
)

// Reasons are all of them.
var Reasons = []string{ReasonState, ReasonDenied, ReasonInvalid, ReasonNotAdmitted, ReasonMisconfigured, ReasonLimited, ReasonUnavailable}

const messageBeginAgain = "this attempt to sign in is not valid; begin again"

var (
	errTwice       = errors.New("a parameter is there twice")
	errEmptyIssuer = errors.New("the parameter iss is empty")
)

// Refusal is the error of an attempt to sign in that was refused.
type Refusal struct {
	reason string
	err    *guidon.Error
}

// Refuse returns the error of an attempt that is refused for the reason. Clients see the
// message; only logs contain the cause.
func Refuse(reason string, code guidon.Code, message string, cause error) *Refusal {
	return &Refusal{reason, &guidon.Error{Code: code, Message: message, Err: cause}}
}

// Refused returns err, of a provider or of the service, as that of an attempt that is
// refused. Unauthenticated has the given reason.
func Refused(err error, reason string) *Refusal {
	code, message, cause := guidon.CodeOf(err), guidon.PublicMessage(err), err
	if e, ok := err.(*guidon.Error); ok {
		cause = e.Err // the message need not be there twice
	}
	switch code {
	case guidon.Unauthenticated:
	case guidon.PermissionDenied:
		reason = ReasonNotAdmitted
	case guidon.Limited:
		reason = ReasonLimited
	case guidon.Unavailable, guidon.DeadlineExceeded, guidon.Canceled:
		reason = ReasonUnavailable
	default:
		reason = ""
	}
	return Refuse(reason, code, message, cause)
}

// Reason implements [exchange.Reasoned].
func (r *Refusal) Reason() string { return r.reason }

// Error returns the message and the cause.
func (r *Refusal) Error() string { return r.err.Error() }

// Unwrap returns the error with the code and the message.
func (r *Refusal) Unwrap() error { return r.err }

// RetryAfter implements [exchange.Delayed].
func (r *Refusal) RetryAfter() string {
	if r.err.Code == guidon.Unavailable {
		return "5"
	}
	return "1"
}
