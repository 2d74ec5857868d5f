package cli

import (
	"context"
	"errors"
	"fmt"
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

// maxPages limits the pages of a list that a server may make commands read.
const maxPages = 10_000

// Pages calls fetch for each page of a list, until there is no further one.
func Pages(fetch func(token string) (next string, err error)) error {
	token := ""
	for range maxPages {
		next, err := fetch(token)
		if err != nil || next == "" {
			return err
		}
		if next == token {
			return fmt.Errorf("unexpected response: the page after %q is the same again", token)
		}
		token = next
	}
	return fmt.Errorf("unexpected response: more than %d pages", maxPages)
}

// HasChanged reports whether a write was refused because something has changed since it was
// read. The other reason with that code that commands get is [service.ErrAdditions].
func HasChanged(err error) bool {
	return errors.Is(err, guidon.FailedPrecondition) && !strings.Contains(err.Error(), service.ErrAdditions.Error())
}
