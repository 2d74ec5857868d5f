package generated

import (
	"context"
	"net/http"

	"github.com/guidonhq/guidon/integration/clients/generated/client"
)

// bearer returns what adds the token to a request, unless it is empty.
func bearer(token string) client.RequestEditorFn {
	return func(_ context.Context, request *http.Request) error {
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}
}

// body returns the body of a response for a message.
func body(response interface{ GetBody() []byte }) []byte { return response.GetBody() }
