// Package client invokes the operations of the service: within the process, over HTTP
// or over gRPC. The commands use it, so that they work with all three.
package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/internal/clock"
)

// Client invokes operations. It is safe for concurrent use.
type Client interface {
	// Invoke invokes the operation with the full gRPC name, such as
	// "/flipt.Flipt/GetFlag", and stores the result in response. If the service
	// returns an error, it is a *[guidon.Error] with the same code. If the service
	// cannot be reached, the code is Unavailable.
	Invoke(ctx context.Context, method string, request, response proto.Message) error
	// Close closes the client. It may be called twice.
	Close() error
}

// Options configures the client of a remote service.
type Options struct {
	Token   string        // sent with every request; "" for none
	Timeout time.Duration // of one call, retries included; default 1 minute
	CAFile  string        // certificates of authorities that the server's may be from, in PEM; "" for those of the system
}

// defaultTimeout is the default of Options.Timeout.
const defaultTimeout = time.Minute

// maxResponse is the maximum size of a response, in bytes. The largest ones are
// namespaces as documents.
const maxResponse = 512 << 20

// maxResponseValues is the maximum number of members and elements in a response.
const maxResponseValues = 40_000_000

// Dial returns a client for the service at the address, whose scheme must be http,
// https, grpc (plaintext) or grpcs (TLS). It connects with the first call. Calls that
// only read are retried a few times if the service is unavailable.
func Dial(address string, options Options) (Client, error) {
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(options.Token, unicode.IsControl) {
		return nil, errors.New("the token contains a line break or another control character")
	}
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	next, err := newClient(u, options)
	if err != nil {
		return nil, err
	}
	return &retryClient{next: next, timeout: options.Timeout}, nil
}

func newClient(u *url.URL, options Options) (Client, error) {
	if isGRPC(u) {
		return newGRPC(u, options)
	}
	return newHTTP(u, options)
}

// unreachable is the hint in errors about a service that cannot be reached.
const unreachable = "check that it is running, and that the port matches the scheme (gRPC has a separate port)"

var operations = sync.OnceValue(handler.Operations)

// operation returns the operation with the full gRPC name.
func operation(method string) (*call.Operation, error) {
	if i := slices.IndexFunc(operations(), func(o *call.Operation) bool { return o.Name == method }); i >= 0 {
		return operations()[i], nil
	}
	return nil, fmt.Errorf("unknown operation %s", method)
}

// Changes reports whether the operation with the full gRPC name changes anything.
func Changes(method string) bool {
	o, err := operation(method)
	return err == nil && o.Changes()
}

// codeOf returns the code for a gRPC status code, or Internal if the service never
// returns that one. For that of both TooLarge and Limited it returns TooLarge.
func codeOf(number uint32) guidon.Code {
	for code := guidon.Internal; code <= guidon.DeadlineExceeded; code++ {
		if call.GRPCCode(code) == number {
			return code
		}
	}
	return guidon.Internal
}

// contextError returns a *[guidon.Error] if the context has ended, or else nil.
func contextError(ctx context.Context, timeout time.Duration) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return guidon.Errorf(guidon.DeadlineExceeded, "no response within %s", clock.Text(timeout))
	case ctx.Err() != nil:
		return &guidon.Error{Code: guidon.Canceled, Message: "interrupted", Err: ctx.Err()}
	}
	return nil
}

// headersKey is the key of the headers in a context.
type headersKey struct{}

// headers returns the headers that the context adds to calls, which may be none.
func headers(ctx context.Context) http.Header {
	added, _ := ctx.Value(headersKey{}).(http.Header)
	return added
}

func withHeader(ctx context.Context, name, value string) context.Context {
	added := http.Header{}
	maps.Copy(added, headers(ctx))
	added.Set(name, value)
	return context.WithValue(ctx, headersKey{}, added)
}

// WithIfMatch returns a context whose writes fail unless the revision is the current one
// of the namespace.
func WithIfMatch(ctx context.Context, revision int64) context.Context {
	return withHeader(ctx, "If-Match", fmt.Sprintf("%q", fmt.Sprint(revision)))
}

// WithMessage returns a context whose writes have the message in their change records.
func WithMessage(ctx context.Context, message string) context.Context {
	return withHeader(ctx, call.MessageHeader, call.EncodeMessage(message))
}

// WithDryRun returns a context whose writes are checked and answered, and not stored. A server
// that does not know dry runs stores them: its /meta/info has no dryRun.
func WithDryRun(ctx context.Context) context.Context {
	return withHeader(ctx, call.DryRunHeader, "true")
}

// The maximum number of attempts of a read, and the first pause between them.
const (
	maxAttempts = 4
	firstPause  = 100 * time.Millisecond
)

// ErrUnanswered is part of the error of a write if the call ended before its response arrived.
var ErrUnanswered = errors.New("the server may have applied the change")

// lostError is the error of a call that was sent, but that the service has not answered.
type lostError struct{ error }

// Unwrap returns the reason.
func (e lostError) Unwrap() error { return e.error }

// retryClient limits the time of each call and retries reads. A write is never sent twice,
// because it may have taken effect even if no response arrived.
type retryClient struct {
	next    Client
	timeout time.Duration
}

// Invoke implements Client.
func (r *retryClient) Invoke(ctx context.Context, method string, request, response proto.Message) error {
	o, err := operation(method)
	if err != nil {
		return err
	}
	if err := call.CheckUTF8(request); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := r.next.Invoke(ctx, method, request, response)
		if _, lost := errors.AsType[lostError](err); err != nil && (lost || ctx.Err() != nil) && o.Changes() {
			return fmt.Errorf("%w; %w", err, ErrUnanswered)
		}
		if err == nil || attempt == maxAttempts || !onlyReads(o) || !errors.Is(err, guidon.Unavailable) {
			return err
		}
		if clock.Sleep(ctx, clock.Jitter(pause)) != nil {
			return err
		}
		pause *= 2
	}
}

// Close implements Client.
func (r *retryClient) Close() error { return r.next.Close() }

// onlyReads reports whether the operation changes nothing and can be retried.
func onlyReads(o *call.Operation) bool {
	return o.Area == call.AreaEvaluation || len(o.Routes) > 0 && o.Routes[0].Method == http.MethodGet
}
