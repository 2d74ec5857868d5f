package codehost

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// exchange gets an access token for the code.
func (h *Host) exchange(ctx context.Context, verifier, code string) (*oauth2.Token, error) {
	var options []oauth2.AuthCodeOption
	if h.pkce {
		options = append(options, oauth2.VerifierOption(verifier))
	}
	token, err := h.oauth.Exchange(context.WithValue(provider.WithKind(ctx, provider.KindToken), oauth2.HTTPClient, h.client.HTTP()), code, options...)
	if err != nil {
		return nil, h.exchangeError(ctx, err)
	}
	if token.TokenType != "" && !strings.EqualFold(token.TokenType, "bearer") {
		return nil, h.client.Unavailable(h.failure(0, "", errors.New("the access token is not a bearer token")))
	}
	return token, nil
}

// failure returns the failure of an exchange.
func (h *Host) failure(status int, said string, err error) *provider.Failure {
	return h.client.Failure(h.oauth.Endpoint.TokenURL, status, said, err)
}

// exchangeError returns the error for one of package oauth2, whose text may quote the
// response.
func (h *Host) exchangeError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return h.failure(0, "", ctx.Err())
	}
	response, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return h.client.Unavailable(h.failure(0, "", err))
	}
	said := strings.TrimSuffix(response.ErrorCode+": "+response.ErrorDescription, ": ")
	failure := h.failure(response.Response.StatusCode, said, nil)
	switch {
	case response.ErrorCode == "", isTemporary(response):
		return h.client.Unavailable(failure)
	case h.isMisconfigured(response):
		return misconfigured(failure)
	}
	return refused(failure)
}

// isTemporary reports whether the error response does not decide about the code.
func isTemporary(r *oauth2.RetrieveError) bool {
	switch r.ErrorCode {
	case "server_error", "temporarily_unavailable", "slow_down":
		return true
	}
	return r.Response.StatusCode >= http.StatusInternalServerError || r.Response.StatusCode == http.StatusTooManyRequests
}

// isMisconfigured reports whether the error response is about our registration at the
// host, whatever the code. GitHub has codes of its own, with status 200, and status 404
// for an unknown client.
func (h *Host) isMisconfigured(r *oauth2.RetrieveError) bool {
	switch r.ErrorCode {
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "incorrect_client_credentials", "redirect_uri_mismatch":
		return !slices.Contains(h.kind.refusals, r.ErrorDescription)
	}
	return r.Response.StatusCode == http.StatusNotFound || r.Response.StatusCode == http.StatusUnauthorized
}

// misconfigured returns the error for a host that rejects this service. Only logs contain
// its text.
func misconfigured(failure *provider.Failure) error {
	const message = "the code host rejected this service; check client_id, client_secret, redirect_address and server_url"
	return &guidon.Error{Code: guidon.Internal, Message: message, Err: failure}
}

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
	_, err := h.exchange(ctx, oauth2.GenerateVerifier(), loginstate.NoCode)
	if errors.Is(err, guidon.Unauthenticated) {
		return nil
	}
	return err
}
