package service

import (
	"context"
	"time"
)

// Secret is a random key that all instances on a database share.
type Secret struct {
	Number    int64 // from 1
	Value     [32]byte
	CreatedAt time.Time
}

// SecretStore keeps secrets, and digests used by attempts to sign in. Its methods are safe
// for concurrent use. Their errors are those of [Store].
type SecretStore interface {
	// Secrets returns all secrets in the order of their numbers.
	Secrets(ctx context.Context) ([]Secret, error)
	// AddSecret stores the secret unless there is one with its number, and reports whether it
	// did.
	AddSecret(ctx context.Context, secret Secret) (added bool, err error)
	// DeleteSecrets deletes the secrets up to the number.
	DeleteSecrets(ctx context.Context, number int64) error

	// Spent reports whether something with the digest was used and is still remembered.
	Spent(ctx context.Context, digest string) (bool, error)
	// Spend records that it is used, as [AuthenticationTx.Spend] does.
	Spend(ctx context.Context, digest string, until time.Time) error
	// DeleteSpent forgets the digests that must be remembered only until an earlier time, and
	// returns their number.
	DeleteSpent(ctx context.Context, now time.Time) (int, error)
}
