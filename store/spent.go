package store

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/guidonhq/guidon"
)

// digestOf returns the SHA-256 of the text in the form in which digests are stored.
func digestOf(text string) string {
	digest := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

func (tx *authenticationTx) Spend(ctx context.Context, digest string, until time.Time) error {
	if tx.dead {
		return errDead
	}
	return tx.s.spend(ctx, digest, until)
}

// spend checks for the row first, because a violation of the primary key would end the
// transaction on some databases. If two transactions get past that, one violates the key, runs again and
// finds the row of the other.
func (s *session) spend(ctx context.Context, digest string, until time.Time) error {
	spent, err := s.isSpent(ctx, digest)
	if err != nil {
		return err
	}
	if spent {
		return guidon.Errorf(guidon.InvalidArgument, "already used")
	}
	_, err = s.exec(ctx, "INSERT INTO spent (digest, expires_at) VALUES (?, ?)", digest, ceilMicro(until))
	return err
}

func (s *session) isSpent(ctx context.Context, digest string) (bool, error) {
	var one int
	return s.row(ctx, "SELECT 1 FROM spent WHERE digest = ?", []any{digest}, &one)
}

// Spent reports whether something with the digest was used and is still remembered. The
// errors are those of [service.Store].
func (d *DB) Spent(ctx context.Context, digest string) (bool, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) (bool, error) { return s.isSpent(ctx, digest) })
}

// Spend is [service.AuthenticationTx.Spend] on its own. The errors are also those of
// [service.Store].
func (d *DB) Spend(ctx context.Context, digest string, until time.Time) error {
	return d.write(ctx, func(ctx context.Context, s *session) error { return s.spend(ctx, digest, until) })
}

// DeleteSpent forgets the digests that must be remembered only until an earlier time, and
// returns their number. The errors are those of [service.Store].
func (d *DB) DeleteSpent(ctx context.Context, now time.Time) (n int, err error) {
	err = d.write(ctx, func(ctx context.Context, s *session) error {
		affected, err := s.exec(ctx, "DELETE FROM spent WHERE expires_at < ?", now.UnixMicro())
		n = int(affected)
		return err
	})
	return n, err
}
