package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
)

// How often and after which pause a read is tried again.
const (
	maxAttempts = 4
	firstPause  = 100 * time.Millisecond
)

// retrying bounds each call in time and tries reads again. A write is never
// sent twice: an answer that did not arrive says nothing of what was done.
type retrying struct {
	next    Client
	timeout time.Duration
}

// Invoke implements Client.
func (r *retrying) Invoke(ctx context.Context, method string, request, response proto.Message) error {
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
		jitter := rand.N(pause) // #nosec G404 -- clients of one outage shall come back one by one, no more
		if !wait(ctx, pause/2+jitter) {
			return err
		}
		pause *= 2
	}
}

// Close implements Client.
func (r *retrying) Close() error { return r.next.Close() }

// onlyReads tells whether calling twice is as good as calling once.
func onlyReads(o *handler.Operation) bool {
	return o.Area == handler.AreaEvaluation || len(o.Routes) > 0 && o.Routes[0].Method == http.MethodGet
}

// wait returns false when the context ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
