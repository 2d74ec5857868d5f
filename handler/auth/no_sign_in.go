package auth

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// NoSignIn is a [SignIn] that supports no sign-in method. It lacks the operations of methods,
// which are never called.
type NoSignIn struct{ SignIn }

var errNoSignIn = guidon.Errorf(guidon.Unimplemented, "nobody can sign in")

// Describe implements [SignIn].
func (NoSignIn) Describe(service.Method) (bool, *structpb.Struct) { return false, nil }

// CreateGrant implements [SignIn].
func (NoSignIn) CreateGrant(context.Context, *service.Authentication, *guidonv1.CreateGrantRequest) (*guidonv1.CreateGrantResponse, error) {
	return nil, errNoSignIn
}

// ExchangeGrant implements [SignIn].
func (NoSignIn) ExchangeGrant(context.Context, *service.Service, service.Write, *guidonv1.ExchangeGrantRequest) (call.Response, error) {
	return call.Response{}, errNoSignIn
}

// NextURI implements [SignIn].
func (NoSignIn) NextURI(context.Context, *service.Authentication) string { return "" }
