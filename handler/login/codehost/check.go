package codehost

import (
	"context"
	"errors"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// Check sends a request without a token to the API of the host, which must refuse it, and
// returns the URLs that this service must be able to reach.
func (h *Host) Check(ctx context.Context) (urls []string, err error) {
	_, err = h.client.Do(ctx, provider.Request{URL: h.api + "/user"})
	if f, ok := errors.AsType[*provider.Failure](err); ok && f.Status >= 400 && f.Status < 500 {
		err = nil
	}
	return []string{h.oauth.Endpoint.TokenURL, h.api}, err
}
