package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// exchange exchanges the code for tokens. It sends the code once.
func (p *Provider) exchange(ctx context.Context, d *issuer.Document, verifier, code string) (*oauth2.Token, error) {
	config, err := p.oauth(d)
	if err != nil {
		return nil, err
	}
	var options []oauth2.AuthCodeOption
	if p.config.PKCE {
		options = append(options, oauth2.VerifierOption(verifier))
	}
	token, err := config.Exchange(
		context.WithValue(provider.WithKind(ctx, provider.KindToken), oauth2.HTTPClient, p.client.HTTP()), code, options...)
	if err != nil {
		return nil, p.exchangeError(ctx, d.TokenEndpoint, err, []string{code, p.config.ClientSecret, verifier})
	}
	return token, nil
}

// Error codes of token endpoints (RFC 6749 5.2). Others are not repeated in errors.
var (
	clientErrors = []string{"invalid_client", "unauthorized_client"}
	otherErrors  = []string{"invalid_grant", "invalid_request", "invalid_scope", "unsupported_grant_type"}
)

// exchangeError classifies an error of golang.org/x/oauth2, whose text quotes the response.
func (p *Provider) exchangeError(ctx context.Context, endpoint string, err error, secrets []string) error {
	rejected, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return p.exchangeFailed(ctx, endpoint, err)
	}
	status, code := rejected.Response.StatusCode, rejected.ErrorCode
	failure := p.client.Failure(endpoint, status, redact(words(rejected), secrets), nil)
	switch {
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests,
		code == "server_error", code == "temporarily_unavailable":
		return p.client.Unavailable(failure)
	case slices.Contains(clientErrors, code):
		return p.misconfigured(fmt.Errorf("%w: %s", failure, code))
	case code == "" && status == http.StatusUnauthorized:
		return p.misconfigured(failure)
	case slices.Contains(otherErrors, code):
		return p.refuse("the provider rejected the code: %w: %s", failure, code)
	case code != "", status == http.StatusBadRequest, status == http.StatusForbidden:
		return p.refuse("the provider rejected the code: %w", failure)
	}
	return p.client.Unavailable(failure) // no token endpoint answers so
}

// exchangeFailed returns the error for an exchange without a response, or with one of
// success that cannot be used.
func (p *Provider) exchangeFailed(ctx context.Context, endpoint string, err error) error {
	if ctx.Err() != nil {
		return p.client.Failure(endpoint, 0, "", ctx.Err())
	}
	if _, ok := errors.AsType[*url.Error](err); !ok {
		err = errors.New("the response is too large, malformed or without access_token")
	}
	return p.client.Unavailable(p.client.Failure(endpoint, 0, "", err))
}

// words returns the error text of the provider.
func words(e *oauth2.RetrieveError) string {
	if e.ErrorCode == "" {
		return string(e.Body)
	}
	return e.ErrorCode + ": " + e.ErrorDescription
}

// redact removes the secrets, which some providers repeat in their errors.
func redact(text string, secrets []string) string {
	for _, secret := range secrets {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(secret, "/", `\/`)} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[redacted]")
			}
		}
	}
	return text
}

// Check gets the published documents of the provider, and sends the token endpoint an invalid code.
// It returns the URLs that this service must be able to reach; with an error, those that
// are known. An error has the code Internal if the provider rejects our client_id or
// client_secret.
func (p *Provider) Check(ctx context.Context) (urls []string, err error) {
	urls, keysErr := p.keys.Check(ctx)
	d, err := p.keys.Document(ctx)
	if err != nil {
		return urls, err
	}
	urls = slices.Insert(urls, 1, d.TokenEndpoint)
	if d.UserinfoEndpoint != "" && (p.config.Userinfo || p.config.NeedEmail || p.config.NeedGroups) {
		urls = append(urls, d.UserinfoEndpoint)
	}
	if keysErr != nil {
		return urls, keysErr
	}
	return urls, p.checkClient(ctx, d)
}

// checkClient returns an error unless the token endpoint accepts our credentials. It must
// authenticate the client before it rejects the code (RFC 6749 4.1.3).
func (p *Provider) checkClient(ctx context.Context, d *issuer.Document) error {
	_, err := p.exchange(ctx, d, oauth2.GenerateVerifier(), loginstate.NoCode)
	if errors.Is(err, guidon.Unauthenticated) {
		return nil // the code was rejected
	}
	return err
}
