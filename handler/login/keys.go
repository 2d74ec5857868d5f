package login

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/service"
)

const (
	keyLifetime = 30 * 24 * time.Hour // then the newest key gets a successor
	keysHeld    = time.Minute         // until the keys are read again
	keysPause   = time.Second         // between reads because of an unknown number
)

// KeyOverlap is how long a key is kept after its successor was made.
const KeyOverlap = 2 * 24 * time.Hour

// keys provides the secrets of the database as [loginstate.Keys]. It is safe for concurrent
// use.
type keys struct {
	store service.SecretStore
	now   func() time.Time

	mu     sync.Mutex
	all    []service.Secret
	readAt time.Time // zero if they were not read yet
}

var _ loginstate.Keys = (*keys)(nil)

// Newest implements [loginstate.Keys].
func (k *keys) Newest(ctx context.Context) (loginstate.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.read(ctx, keysHeld); err != nil {
		return loginstate.Key{}, err
	}
	if len(k.all) == 0 || k.now().Sub(k.last().CreatedAt) >= keyLifetime {
		if err := k.renew(ctx); err != nil {
			return loginstate.Key{}, err
		}
	}
	return keyOf(k.last()), nil
}

// Numbered implements [loginstate.Keys].
func (k *keys) Numbered(ctx context.Context, number int64) (loginstate.Key, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, held := range []time.Duration{keysHeld, keysPause} { // an unknown number may be new
		if err := k.read(ctx, held); err != nil {
			return loginstate.Key{}, false, err
		}
		for _, s := range k.all {
			if s.Number == number {
				return keyOf(s), true, nil
			}
		}
	}
	return loginstate.Key{}, false, nil
}

func (k *keys) last() service.Secret { return k.all[len(k.all)-1] }

// read reads the secrets unless they were read more recently than held. k.mu must be held.
func (k *keys) read(ctx context.Context, held time.Duration) error {
	now := k.now()
	if !k.readAt.IsZero() && now.Sub(k.readAt) < held {
		return nil
	}
	all, err := k.store.Secrets(ctx)
	if err == nil {
		k.all, k.readAt = all, now
	}
	return err
}

// renew makes the successor of the newest secret. If another instance has made it, that one
// is used. k.mu must be held.
func (k *keys) renew(ctx context.Context) error {
	var number int64 = 1
	if len(k.all) > 0 {
		number = k.last().Number + 1
	}
	secret := service.Secret{Number: number, CreatedAt: k.now()}
	_, _ = rand.Read(secret.Value[:]) // never fails
	if _, err := k.store.AddSecret(ctx, secret); err != nil {
		return err
	}
	if err := k.read(ctx, 0); err != nil {
		return err
	}
	if len(k.all) == 0 {
		return guidon.Errorf(guidon.Unavailable, "the keys of signing in are not available; try again later")
	}
	return nil
}

func keyOf(s service.Secret) loginstate.Key {
	return loginstate.Key{Number: s.Number, Secret: s.Value}
}
