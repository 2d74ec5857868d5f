package openapi

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/call"
	wireauth "github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// fixedSignIn authenticates every caller as the same person, without a provider.
type fixedSignIn struct{ auth.NoSignIn }

const clientToken = "gdn_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

// session returns the session of the person as clients see it.
func session(method wireauth.Method, subject string) *wireauth.Authentication {
	return &wireauth.Authentication{
		Id: "0f7e2c5a-91d3-4b68-a2e4-7c5d3f1b9a60", Method: method, Client: "browser", Subject: subject,
		CreatedAt: timestamppb.New(now), UpdatedAt: timestamppb.New(now), ExpiresAt: timestamppb.New(now.Add(24 * time.Hour)),
	}
}

func subjectOf(method service.Method) (wireauth.Method, string) {
	if method == service.MethodOIDC {
		return wireauth.Method_METHOD_OIDC, "oidc:google:sub:1234"
	}
	return wireauth.Method_METHOD_CODEHOST, "codehost:github:id:1234"
}

func (fixedSignIn) Describe(method service.Method) (bool, *structpb.Struct) {
	return method != service.MethodToken, nil
}

func (fixedSignIn) AuthorizeURL(_ context.Context, _ *service.Service, method service.Method, _ *wireauth.AuthorizeURLRequest, _ *call.Request) (call.Response, error) {
	page := "https://github.com/login/oauth/authorize?client_id=shop&response_type=code&state=af0ifjsldkj"
	if method == service.MethodOIDC {
		page = "https://accounts.google.com/o/oauth2/v2/auth?client_id=shop&response_type=code&scope=openid&state=af0ifjsldkj"
	}
	return call.Response{Message: &wireauth.AuthorizeURLResponse{AuthorizeUrl: page}}, nil
}

func (fixedSignIn) Callback(_ context.Context, _ *service.Service, _ service.Write, method service.Method, _ *wireauth.CallbackRequest, _ *call.Request) (call.Response, error) {
	return call.Response{Message: &wireauth.CallbackResponse{ClientToken: clientToken, Authentication: session(subjectOf(method))}}, nil
}

func (fixedSignIn) Revoke(context.Context, *service.Service, *call.Call, *wireauth.RevokeRequest, *call.Request) (call.Response, error) {
	return call.Response{Message: &emptypb.Empty{}}, nil
}

func (fixedSignIn) VerifyServiceAccount(context.Context, *service.Service, *call.Call, *wireauth.VerifyServiceAccountRequest, *call.Request) (call.Response, error) {
	a := session(wireauth.Method_METHOD_KUBERNETES, "kubernetes:serviceaccount:shop:checkout")
	a.Client = ""
	return call.Response{Message: &wireauth.VerifyServiceAccountResponse{ClientToken: clientToken, Authentication: a}}, nil
}

func (fixedSignIn) CreateGrant(context.Context, *service.Service, *call.Call, *guidonv1.CreateGrantRequest, *call.Request) (call.Response, error) {
	return call.Response{Message: &guidonv1.CreateGrantResponse{Code: "SplxlOBeZQQYbYS6WxSbIA", ExpiresAt: timestamppb.New(now.Add(time.Minute))}}, nil
}

func (fixedSignIn) ExchangeGrant(context.Context, *service.Service, *call.Call, *guidonv1.ExchangeGrantRequest, *call.Request) (call.Response, error) {
	a := session(subjectOf(service.MethodOIDC))
	a.Client = "cli"
	return call.Response{Message: &guidonv1.ExchangeGrantResponse{ClientToken: clientToken, Authentication: a}}, nil
}
