package auth

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// NoSignIn is a [SignIn] that supports no sign-in method.
type NoSignIn struct{}

var _ SignIn = NoSignIn{}

var errNoSignIn = guidon.Errorf(guidon.Unimplemented, "nobody can sign in")

// Describe implements [SignIn].
func (NoSignIn) Describe(service.Method) (bool, *structpb.Struct) { return false, nil }

// AuthorizeURL implements [SignIn].
func (NoSignIn) AuthorizeURL(
	context.Context, *service.Service, service.Method, *auth.AuthorizeURLRequest, *call.Request,
) (call.Response, error) {
	return call.Response{}, errNoSignIn
}

// Callback implements [SignIn].
func (NoSignIn) Callback(
	context.Context, *service.Service, service.Write, service.Method, *auth.CallbackRequest, *call.Request,
) (call.Response, error) {
	return call.Response{}, errNoSignIn
}

// Revoke implements [SignIn].
func (NoSignIn) Revoke(context.Context, *service.Service, *call.Call, *auth.RevokeRequest, *call.Request) (call.Response, error) {
	return call.Response{}, errNoSignIn
}

// VerifyServiceAccount implements [SignIn].
func (NoSignIn) VerifyServiceAccount(
	context.Context, *service.Service, *call.Call, *auth.VerifyServiceAccountRequest, *call.Request,
) (call.Response, error) {
	return call.Response{}, errNoSignIn
}

// CreateGrant implements [SignIn].
func (NoSignIn) CreateGrant(context.Context, *service.Service, *call.Call, *guidonv1.CreateGrantRequest, *call.Request) (call.Response, error) {
	return call.Response{}, errNoSignIn
}

// ExchangeGrant implements [SignIn].
func (NoSignIn) ExchangeGrant(context.Context, *service.Service, *call.Call, *guidonv1.ExchangeGrantRequest, *call.Request) (call.Response, error) {
	return call.Response{}, errNoSignIn
}

// Reject implements [SignIn].
func (NoSignIn) Reject(service.Method, *auth.CallbackRequest, error) call.Response {
	return call.Response{}
}

// NextURI implements [SignIn].
func (NoSignIn) NextURI(context.Context, *service.Authentication) string { return "" }

// Remembered implements [call.Verifier].
func (NoSignIn) Remembered(context.Context, string) (*service.Identity, bool) { return nil, false }

// Verify implements [call.Verifier].
func (NoSignIn) Verify(context.Context, string) (*service.Identity, error) {
	return nil, service.ErrUnauthenticated
}
