package codehost

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// Check sends the API of the host a request without a token, and its token endpoint an
// invalid code, which both must reject. It returns the URLs that this service must be able
// to reach. The error has the code Internal if the host rejects our client_id or
// client_secret.
func (h *Host) Check(ctx context.Context) (urls []string, err error) {
	_, err = h.client.Do(ctx, provider.Request{URL: h.api + "/user"})
	if f, ok := errors.AsType[*provider.Failure](err); ok && f.Status >= 400 && f.Status < 500 {
		err = nil
	}
	if err == nil {
		err = h.checkClient(ctx)
	}
	return []string{h.oauth.Endpoint.TokenURL, h.api}, err
}

// checkClient returns an error unless the code host accepts our credentials, and rejects
// only the code.
func (h *Host) checkClient(ctx context.Context) error {
	a, err := loginstate.Begin(time.Now(), h.Fingerprint(), "")
	if err != nil {
		return err
	}
	if _, err = h.exchange(ctx, a, loginstate.NoCode); errors.Is(err, guidon.Unauthenticated) {
		return nil
	}
	return err
}
