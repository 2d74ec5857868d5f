package login

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/auth"
)

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
