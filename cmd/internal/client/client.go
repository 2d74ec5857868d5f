// Package client calls the operations of the service: inside the process, over
// HTTP or over gRPC. The commands are written once against it.
package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/store/redact"
)

// Client calls operations. Its methods may be called concurrently.
type Client interface {
	// Invoke calls the operation of the full gRPC name, such as
	// "/flipt.Flipt/GetFlag", and fills response with the answer. A refusal is a
	// *[guidon.Error] of the code that the service gave; a service that cannot be
	// reached is one of code Unavailable.
	Invoke(ctx context.Context, method string, request, response proto.Message) error
	// Close ends the client. It may be called twice.
	Close() error
}

// Options are what the calls to a remote service carry. Zero fields mean none,
// or the default named.
type Options struct {
	Token   string        // presented with every call
	Timeout time.Duration // of one call, retries included; default 1 minute
}

// defaultTimeout bounds a call that is not told otherwise.
const defaultTimeout = time.Minute

// maxAnswer bounds an answer, in bytes: a namespace as a document is the
// largest there is.
const maxAnswer = 512 << 20

// maxAnswerValues bounds the members and elements of an answer.
const maxAnswerValues = 40_000_000

// Dial returns a client of the service at the address, whose scheme says how:
// http, https, grpc (plaintext) or grpcs (TLS). Nothing is sent before the
// first call. Calls that only read are tried again, a few times, when the
// service is not available.
func Dial(address string, options Options) (Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("address %s is not valid; write it as http://host:8080 or grpc://host:9000", shown(address))
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || redact.Check(address) != nil {
		return nil, fmt.Errorf("address %s must hold no user, query or fragment; the token is an option of its own", shown(address))
	}
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	var next Client
	switch u.Scheme {
	case "http", "https":
		next = newHTTP(u, options)
	case "grpc", "grpcs":
		next, err = newGRPC(u, options)
	default:
		err = fmt.Errorf("address %s has an unknown scheme; known are http, https, grpc and grpcs", shown(address))
	}
	if err != nil {
		return nil, err
	}
	return &retrying{next: next, timeout: options.Timeout}, nil
}

// unreachable says what to look at when a service gives no answer of its own.
const unreachable = "check that it runs, and that the port is that of the scheme (gRPC has a port of its own)"

// shown returns the part of an address that may be shown, quoted.
func shown(address string) string {
	if strings.ContainsAny(address, "@?#") {
		address = redact.URL(address) + "…"
	}
	return strconv.Quote(address)
}

// operation returns the operation of the name.
func operation(method string) (*handler.Operation, error) {
	for _, o := range handler.Operations() {
		if o.Name == method {
			return o, nil
		}
	}
	return nil, fmt.Errorf("no operation is called %s", method)
}

// codeOf returns the code of the gRPC number, Internal for one that the service
// never gives.
func codeOf(number uint32) guidon.Code {
	for code := guidon.Internal; code <= guidon.DeadlineExceeded; code++ {
		if handler.GRPCCode(code) == number {
			return code
		}
	}
	return guidon.Internal
}

// contextError returns the error of the context in our terms, where it has ended.
func contextError(ctx context.Context, timeout time.Duration) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return guidon.Errorf(guidon.DeadlineExceeded, "no answer within %s", timeout)
	case ctx.Err() != nil:
		return &guidon.Error{Code: guidon.Canceled, Message: "interrupted", Err: ctx.Err()}
	}
	return nil
}

type ifMatchKey struct{}

// WithIfMatch returns a context whose writes demand that the revision is the
// namespace's current one.
func WithIfMatch(ctx context.Context, revision int64) context.Context {
	return context.WithValue(ctx, ifMatchKey{}, fmt.Sprintf("%q", fmt.Sprint(revision)))
}

// ifMatch returns the header value that the context asks for, or nothing.
func ifMatch(ctx context.Context) string {
	value, _ := ctx.Value(ifMatchKey{}).(string)
	return value
}
