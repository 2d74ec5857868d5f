package rediscache

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
)

// retryPause is the pause between two attempts to announce or conclude a write.
const retryPause = 25 * time.Millisecond

// writing runs a write to the key. Before the write it announces it to Redis, so that
// all readers query the database. Afterwards it concludes the announcement.
func (s *Source) writing(ctx context.Context, key string, write func() error) error {
	nonce := rand.Text()
	if err := s.announce(ctx, key, nonce); err != nil {
		return err
	}
	acknowledged := false
	withdraw := s.renew(ctx, key, nonce)
	defer func() { // also when it panics
		withdraw()
		s.conclude(context.WithoutCancel(ctx), key, nonce, acknowledged)
	}()
	err := write()
	acknowledged = err == nil
	return err
}

// announce announces the write to Redis. An unavailable Redis does not prevent the
// write: once Redis has not responded for the lease, it can no longer return anything
// that it knew, and the write proceeds. The error is that of the context.
func (s *Source) announce(ctx context.Context, key, nonce string) error {
	begun := time.Now()
	for s.announceOnce(ctx, key, nonce) != nil && ended(ctx) == nil {
		silent := max(s.health.failingFor(), time.Since(begun))
		if silent >= lease+margin {
			break
		}
		_ = clock.Sleep(ctx, min(retryPause, lease+margin-silent)) // or until ctx ends
	}
	return ended(ctx)
}

func (s *Source) announceOnce(ctx context.Context, key, nonce string) error {
	_, err := s.runScript(ctx, announceScript,
		run{[]string{s.stateKey(key)}, []any{nonce, milliseconds(announcementTTL), milliseconds(newStateTTL)}})
	return err
}

// renew repeats the announcement until stop is called, because Redis may have lost it.
func (s *Source) renew(ctx context.Context, key, nonce string) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for clock.Sleep(ctx, renewInterval) == nil {
			_ = s.announceOnce(ctx, key, nonce) // retried after the next pause
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

// conclude removes the announcement. For an acknowledged write it returns when Redis
// has done that, or when every older revision in Redis has expired.
func (s *Source) conclude(ctx context.Context, key, nonce string, acknowledged bool) {
	over := time.Now()
	for s.concludeOnce(ctx, key, nonce, acknowledged) != nil && acknowledged {
		left := lease + margin - time.Since(over)
		if left <= 0 {
			return
		}
		_ = clock.Sleep(ctx, min(retryPause, left)) // the same
	}
}

func (s *Source) concludeOnce(ctx context.Context, key, nonce string, acknowledged bool) error {
	return s.roundTrip(ctx, "HDEL", s.stateKey(key), func(ctx context.Context) error {
		pipe := s.client.Pipeline()
		concluded := pipe.HDel(ctx, s.stateKey(key), "writer:"+nonce, "revision", "reader", "asked")
		if acknowledged {
			pipe.Publish(ctx, s.channel(), key)
		}
		if _, err := pipe.Exec(ctx); err != nil && concluded.Err() == nil {
			s.stats.errors.Add(1) // not published: the other instances learn of the change with their next query
		}
		return concluded.Err()
	})
}
