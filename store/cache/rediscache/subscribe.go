package rediscache

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// idleTimeout is how long a subscription may be silent before it is pinged, and then
// before it is given up.
const idleTimeout = 5 * time.Second

// Subscribe calls changed after each acknowledged write, with the key of the namespace
// or [service.AuthenticationsKey]. The first call has the empty key, which stands for
// all earlier writes. Messages can be lost; an error means that from now on all are.
// Subscribe returns nil when ctx has ended.
func (s *Source) Subscribe(ctx context.Context, changed func(key string)) error {
	subscription := s.client.Subscribe(ctx, s.channel())
	closed := context.AfterFunc(ctx, func() { _ = subscription.Close() }) // waiting for a message ignores ctx
	defer func() {
		if closed() {
			_ = subscription.Close()
		}
	}()
	pinged := false
	for {
		message, err := subscription.ReceiveTimeout(ctx, idleTimeout)
		if ctx.Err() != nil {
			return nil
		}
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() && !pinged {
			pinged = true
			err = subscription.Ping(ctx)
			message = nil
		}
		if err != nil {
			return err
		}
		switch message := message.(type) {
		case *redis.Subscription:
			changed("")
		case *redis.Message:
			changed(message.Payload)
		case *redis.Pong:
			pinged = false
		}
	}
}
