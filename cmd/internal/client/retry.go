package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/internal/clock"
)

// The maximum number of attempts of a read, and the first pause between them.
const (
	maxAttempts = 4
	firstPause  = 100 * time.Millisecond
)

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
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	pause := firstPause
	for attempt := 1; ; attempt++ {
		err := r.next.Invoke(ctx, method, request, response)
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
