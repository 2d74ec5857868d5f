package provider

import (
	"fmt"
	"sync/atomic"
	"time"
)

// MaxAttempts is how many attempts to sign in may wait for a provider at the same time.
const MaxAttempts = 64

// MaxWait is how long one attempt may wait for a provider, with all its requests.
const MaxWait = 10 * time.Second

// attempts counts the attempts that wait for the provider.
type attempts struct{ waiting atomic.Int64 }

// Enter admits an attempt to sign in, before it first waits for the provider. The caller
// must call leave once, when it waits no more. If [MaxAttempts] are waiting already, it
// returns Unavailable.
func (c *Client) Enter() (leave func(), err error) {
	if c.attempts.waiting.Add(1) > MaxAttempts {
		c.attempts.waiting.Add(-1)
		return nil, c.Unavailable(fmt.Errorf("%d attempts are waiting for the provider already", MaxAttempts))
	}
	return func() { c.attempts.waiting.Add(-1) }, nil
}
