package rediscache

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// retryPause is between two attempts to tell Redis of a write.
const retryPause = 25 * time.Millisecond

// writing runs a write to the key. Redis is told before, so that meanwhile all
// ask the database, and after.
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

// announce tells Redis of the write to come. Redis being away refuses no write:
// when it has been silent for the lease, it answers nobody with anything that it
// knew, and the write goes on. The error is that of the context.
func (s *Source) announce(ctx context.Context, key, nonce string) error {
	begun := time.Now()
	for s.announceOnce(ctx, key, nonce) != nil && ended(ctx) == nil {
		silent := max(s.health.failingFor(), time.Since(begun))
		if silent >= lease+margin {
			break
		}
		pause(ctx, min(retryPause, lease+margin-silent))
	}
	return ended(ctx)
}

func (s *Source) announceOnce(ctx context.Context, key, nonce string) error {
	_, err := s.runScript(ctx, announceScript,
		run{[]string{s.stateKey(key)}, []any{nonce, milliseconds(announcementTTL), milliseconds(newStateTTL)}})
	return err
}

// renew announces the write again and again until the function that it returns
// is called: Redis may have lost what it was told.
func (s *Source) renew(ctx context.Context, key, nonce string) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for pause(ctx, renewInterval) {
			_ = s.announceOnce(ctx, key, nonce) // again after the next pause
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

// conclude tells Redis that the write is over. Who waits for an acknowledged one
// may go on when Redis knows, or when it has forgotten whatever is older.
func (s *Source) conclude(ctx context.Context, key, nonce string, acknowledged bool) {
	over := time.Now()
	for s.concludeOnce(ctx, key, nonce, acknowledged) != nil && acknowledged {
		left := lease + margin - time.Since(over)
		if left <= 0 {
			return
		}
		pause(ctx, min(retryPause, left))
	}
}

func (s *Source) concludeOnce(ctx context.Context, key, nonce string, acknowledged bool) error {
	return s.roundTrip(ctx, s.stateKey(key), func(ctx context.Context) error {
		pipe := s.client.Pipeline()
		concluded := pipe.HDel(ctx, s.stateKey(key), "writer:"+nonce, "revision", "reader", "asked")
		if acknowledged {
			pipe.Publish(ctx, s.channel(), key)
		}
		if _, err := pipe.Exec(ctx); err != nil && concluded.Err() == nil {
			s.stats.errors.Add(1) // nobody has been told of the change: all learn of it when they ask
		}
		return concluded.Err()
	})
}

// pause waits, and tells whether the context has not ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
