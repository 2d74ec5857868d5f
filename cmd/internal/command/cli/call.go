package cli

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/service"
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

// HasChanged reports whether a write was refused because something has changed since it was
// read. The other reason with that code that commands get is [service.ErrAdditions].
func HasChanged(err error) bool {
	return errors.Is(err, guidon.FailedPrecondition) && !strings.Contains(err.Error(), service.ErrAdditions.Error())
}
