package auth

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// NoSignIn is a [SignIn] with which nobody can sign in: all its operations fail.
type NoSignIn struct{ SignIn }

var errNoSignIn = guidon.Errorf(guidon.Unimplemented, "nobody can sign in")

// Describe implements [SignIn].
func (NoSignIn) Describe(service.Method) (bool, *structpb.Struct) { return false, nil }

// NextURI implements [SignIn].
func (NoSignIn) NextURI(context.Context, *service.Authentication) string { return "" }
