package rediscache

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// idleTimeout is for how long a subscription may say nothing before it is asked
// whether it still stands, and then before it is given up.
const idleTimeout = 5 * time.Second

// Subscribe tells what has been written, by the key of a namespace or
// [guidon.AuthenticationsKey], each time that a write has been acknowledged. The
// empty key, which comes first, stands for what was written before. Messages can
// be lost; an error says that from now on they are. It is nil when ctx has
// ended.
func (s *Source) Subscribe(ctx context.Context, changed func(key string)) error {
	subscription := s.client.Subscribe(ctx, s.channel())
	closed := context.AfterFunc(ctx, func() { _ = subscription.Close() }) // a wait for a message does not heed ctx
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
