package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// httpClient invokes operations over HTTP, with the routes of the operations table.
type httpClient struct {
	address string // without a trailing slash
	options Options
	http    http.Client
}

func newHTTP(u *url.URL, options Options) (*httpClient, error) {
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	config, err := options.TLS()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if config != nil {
		transport.TLSClientConfig = config
	}
	return &httpClient{
		address: strings.TrimRight(u.String(), "/"),
		options: options,
		http: http.Client{
			Transport: transport,
			// A redirect would turn a write into a read, or leak the token.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// dialHTTP returns a client for what only HTTP offers: what says what that is.
func dialHTTP(address string, options Options, what string) (*httpClient, error) {
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	if isGRPC(u) {
		return nil, guidon.Errorf(guidon.InvalidArgument, "%s only over HTTP; use an http:// or https:// address", what)
	}
	return newHTTP(u, options)
}

// Invoke implements Client.
func (c *httpClient) Invoke(ctx context.Context, method string, request, response proto.Message) error {
	o, err := operation(method)
	if err != nil {
		return err
	}
	r, err := c.request(ctx, o, request)
	if err != nil {
		return err
	}
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
	httpResponse, err := c.http.Do(r.WithContext(httptrace.WithClientTrace(ctx, trace)))
	switch {
	case err != nil && sent.Load():
		return lostError{c.failure(ctx, err)}
	case err != nil:
		return c.failure(ctx, err)
	}
	defer httpResponse.Body.Close()
	if document, ok := response.(*guidonv1.Document); ok && httpResponse.StatusCode == http.StatusOK {
		return c.readDocument(ctx, httpResponse.Body, document)
	}
	body, err := io.ReadAll(io.LimitReader(httpResponse.Body, maxResponse+1))
	switch {
	case err != nil:
		return lostError{c.failure(ctx, err)}
	case len(body) > maxResponse:
		return guidon.Errorf(guidon.TooLarge, "the response from %s is larger than %d MiB", c.address, maxResponse>>20)
	case httpResponse.StatusCode != http.StatusOK:
		return c.statusError(httpResponse, body)
	}
	proto.Reset(response)
	if raw, ok := response.(*httpbody.HttpBody); ok {
		raw.ContentType, raw.Data = httpResponse.Header.Get("Content-Type"), body
		return nil
	}
	if err := codec.Unmarshal(body, response, maxResponseValues); err != nil {
		return fmt.Errorf("cannot parse the response from %s: %w", c.address, err)
	}
	return nil
}

// request returns the HTTP request for the call.
func (c *httpClient) request(ctx context.Context, o *call.Operation, m proto.Message) (*http.Request, error) {
	if len(o.Routes) == 0 {
		return nil, fmt.Errorf("%s has no HTTP route; use a grpc:// address", o.Name)
	}
	route := o.Routes[0]
	path, inPath, err := fillPath(route.Pattern, m)
	if err != nil {
		return nil, err
	}
	target, body := c.address+path, io.Reader(nil)
	if o.HasBody(route) {
		if body, err = encode(m); err != nil {
			return nil, err
		}
	} else if query := encodeQuery(m, inPath); query != "" {
		target += "?" + query
	}
	r, err := c.newRequest(ctx, route.Method, target, "application/json", body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(r.Header, headers(ctx))
	return r, nil
}

// newRequest returns a request with the token. accept is the type of the response, or "".
func (c *httpClient) newRequest(ctx context.Context, method, target, accept string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if c.options.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	return r, nil
}

var errSilent = errors.New("no response")

// receive requests the path, and calls read with the body of the response, which may take any time. The
// server may be silent for the timeout, which read extends by the timer. failed returns the reason of an error.
func (c *httpClient) receive(
	ctx context.Context, path, accept string, read func(body io.Reader, silence *time.Timer, failed func(error) error) error,
) error {
	receiving, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(c.options.Timeout, func() { cancel(errSilent) })
	defer silence.Stop()
	failed := func(err error) error { return cmp.Or(context.Cause(receiving), err) }
	request, err := c.newRequest(receiving, http.MethodGet, c.address+path, accept, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return c.failure(ctx, failed(err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // the status is known anyway
		return c.statusError(response, body)
	}
	return read(response.Body, silence, failed)
}

// failure returns the error for a call without a response.
func (c *httpClient) failure(ctx context.Context, err error) error {
	if ended := contextError(ctx, c.options.Timeout); ended != nil {
		return ended
	}
	if e, ok := err.(*url.Error); ok {
		err = e.Err // without the URL, because the message contains the address
	}
	if refused := handshakeError(c.address, err.Error()); refused != nil {
		return refused
	}
	return guidon.Errorf(guidon.Unavailable, "%s is unavailable: %v; %s", c.address, err, unreachable)
}

// statusError returns the error for a response that is not 200 (contract 5.1).
func (c *httpClient) statusError(r *http.Response, body []byte) error {
	var status struct {
		Code    uint32 `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &status) == nil && status.Code != 0 {
		code := codeOf(status.Code)
		if r.StatusCode == http.StatusTooManyRequests {
			code = guidon.Limited
		}
		return &guidon.Error{Code: code, Message: status.Message}
	}
	if location := r.Header.Get("Location"); location != "" {
		return fmt.Errorf("%s redirects to another address (%s); use the final address", c.address, r.Status)
	}
	if r.StatusCode == http.StatusBadRequest && bytes.Contains(body, []byte("HTTP request to an HTTPS server")) {
		return fmt.Errorf("%s uses TLS: use https:// instead of http://", c.address)
	}
	code := guidon.Internal
	if r.StatusCode == http.StatusServiceUnavailable {
		code = guidon.Unavailable
	}
	err := guidon.Errorf(code, "unexpected response %s from %s; is this a Guidon server?", r.Status, c.address)
	if r.StatusCode >= http.StatusInternalServerError { // of a proxy, which does not know what became of it
		return lostError{err}
	}
	return err
}

// Close implements Client.
func (c *httpClient) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Download writes the content at the path of the server to a writer. The scheme of the address
// must be http or https. The timeout of the options limits how long the server may be
// silent, before and while it sends. After an error a part may have been written.
func Download(ctx context.Context, address, path string, options Options, to io.Writer) error {
	c, err := dialHTTP(address, options, "files can be downloaded")
	if err != nil {
		return err
	}
	defer c.Close()
	return c.receive(ctx, path, "", func(body io.Reader, silence *time.Timer, failed func(error) error) error {
		received := readerFunc(func(p []byte) (int, error) {
			n, err := body.Read(p)
			silence.Reset(c.options.Timeout)
			if err != nil && err != io.EOF {
				err = c.failure(ctx, failed(err))
			}
			return n, err
		})
		_, err := io.Copy(to, received)
		return err
	})
}

type readerFunc func(p []byte) (int, error)

// Read implements [io.Reader].
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
