package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/internal/clock"
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
		if clock.Sleep(ctx, clock.Jitter(pause)) != nil {
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
