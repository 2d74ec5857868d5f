package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
)

// MaxAttempts is how many attempts to sign in may wait for a provider at the same time.
const MaxAttempts = 64

// MaxWait is how long one attempt may wait for a provider, with all its requests.
const MaxWait = 10 * time.Second

// Enter admits an attempt to sign in, before it first waits for the provider. The caller
// must call leave once, when it waits no more. If [MaxAttempts] are waiting already, it
// returns Unavailable.
func (c *Client) Enter() (leave func(), err error) {
	if c.waiting.Add(1) > MaxAttempts {
		c.waiting.Add(-1)
		return nil, c.Unavailable(fmt.Errorf("%d attempts are waiting for the provider already", MaxAttempts))
	}
	return func() { c.waiting.Add(-1) }, nil
}

// Wait calls the step of an attempt, which waits for the provider, between [Client.Enter] and
// leave. If the step takes longer than the limit, the error is Unavailable.
func Wait[T any](
	ctx context.Context, c *Client, limit time.Duration, step func(context.Context) (T, error),
) (result T, err error) {
	leave, err := c.Enter()
	if err != nil {
		return result, err
	}
	defer leave()
	tooSlow := fmt.Errorf("the provider did not answer all requests within %v", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooSlow)
	defer cancel()
	result, err = step(ctx)
	if guidon.CodeOf(err) == guidon.DeadlineExceeded && errors.Is(context.Cause(ctx), tooSlow) {
		err = c.Unavailable(fmt.Errorf("%w: %w", tooSlow, err))
	}
	return result, err
}
