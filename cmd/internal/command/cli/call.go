package cli

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/cmd/internal/client"
)

// Call calls an operation and returns the response, which is never nil.
func Call[M any, R interface {
	*M
	proto.Message
}](ctx context.Context, service client.Client, method string, request proto.Message) (R, error) {
	response := R(new(M))
	err := service.Invoke(ctx, method, request, response)
	return response, err
}
