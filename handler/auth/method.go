package auth

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// Methods tells which sign-in methods there are.
type Methods struct {
	Token  bool // static tokens can be created
	SignIn SignIn
}

// List returns the sign-in methods (contract 10.4).
func (a Methods) List(context.Context, *service.Service, *call.Call, *emptypb.Empty) (*auth.ListAuthenticationMethodsResponse, error) {
	response := &auth.ListAuthenticationMethodsResponse{}
	for _, method := range service.Methods() {
		info := &auth.MethodInfo{Method: auth.Method(method), SessionCompatible: method.Browser()}
		switch {
		case method == service.MethodToken:
			info.Enabled = a.Token
		default:
			info.Enabled, info.Metadata = a.SignIn.Describe(method)
		}
		if method == service.MethodOIDC && info.GetMetadata() == nil {
			info.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"providers": structpb.NewStructValue(&structpb.Struct{})}}
		}
		response.Methods = append(response.Methods, info)
	}
	return response, nil
}
