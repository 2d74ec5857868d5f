package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Request is one request to a provider. URL is required.
type Request struct {
	URL    string
	Bearer string // the token of Authorization, or "" for that of [Config]
	JSON   any    // the body of a POST, or nil for a GET
}

// Response is a response with a status of success and a complete body.
type Response struct {
	Header http.Header
	Body   []byte
}

// Do sends the request and reads the response. It returns an error if the status is not
// one of success: Unavailable if the provider is down, too slow, overloaded, or does not
// keep to the limits, else a *[Failure] with the status. If ctx ends first, that is the
// error.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	response, failure := c.do(ctx, r)
	switch {
	case failure == nil:
		return response, nil
	case ctx.Err() != nil:
		failure.Err = ctx.Err()
		return nil, failure
	case failure.temporary():
		return nil, c.Unavailable(failure)
	}
	return nil, failure
}

func (c *Client) do(ctx context.Context, r Request) (*Response, *Failure) {
	failure := &Failure{Provider: c.name, URL: shown(r.URL)}
	request, err := r.http(ctx)
	if err != nil {
		failure.Err = withoutURL(err)
		return nil, failure
	}
	response, err := c.http.Do(request) // #nosec G704 -- URLs are configured or checked by CheckURL
	if err != nil {
		failure.Err = withoutURL(err)
		return nil, failure
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299: // even if the body is not complete
		failure.Status, failure.Said, failure.limited = response.StatusCode, said(body), isLimited(response)
		return nil, failure
	case err != nil:
		failure.Err = bodyError(err)
		return nil, failure
	}
	return &Response{Header: response.Header, Body: body}, nil
}

// bodyError names the limit, which net/http calls that of a request.
func bodyError(err error) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("the body exceeds %d bytes", tooLarge.Limit)
	}
	return fmt.Errorf("cannot read the body: %w", err)
}

func (r Request) http(ctx context.Context) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if r.JSON != nil {
		text, err := json.Marshal(r.JSON)
		if err != nil {
			return nil, fmt.Errorf("cannot encode the request: %w", err)
		}
		method, body = http.MethodPost, bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.URL, body)
	if err != nil {
		return nil, err
	}
	if r.JSON != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Bearer != "" {
		request.Header.Set("Authorization", "Bearer "+r.Bearer)
	}
	return request, nil
}

// Document gets the JSON document at the URL and decodes it into the value. Every error
// but the end of ctx is Unavailable: a provider that does not publish what it must, or
// something else, cannot be used now.
func (c *Client) Document(ctx context.Context, url string, into any) error {
	response, err := c.Do(ctx, Request{URL: url})
	if failure, ok := err.(*Failure); ok && ctx.Err() == nil { // not Unavailable yet
		return c.Unavailable(failure)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(response.Body, into); err != nil {
		cause := fmt.Errorf("%s is not the expected JSON: %w", media(response.Header), err)
		return c.Unavailable(&Failure{Provider: c.name, URL: shown(url), Err: cause})
	}
	return nil
}

// media describes the type of a response for an error.
func media(h http.Header) string {
	if t := h.Get("Content-Type"); t != "" {
		return fmt.Sprintf("the response of type %q", t)
	}
	return "the response without a type"
}

// shown returns the URL without its query, fragment and user.
func shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(malformed URL)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
