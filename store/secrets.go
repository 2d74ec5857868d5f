package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

var _ service.SecretStore = (*DB)(nil)

// Secrets implements [service.SecretStore].
func (d *DB) Secrets(ctx context.Context) ([]service.Secret, error) {
	return readRows(ctx, d, "SELECT secret_number, value, created_at FROM secrets ORDER BY secret_number", nil, scanSecret)
}

func scanSecret(rows *sql.Rows) (secret service.Secret, err error) {
	var value string
	var at int64
	if err := rows.Scan(&secret.Number, &value, &at); err != nil {
		return secret, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(raw) != len(secret.Value) {
		return secret, errors.New("store: malformed secret")
	}
	copy(secret.Value[:], raw)
	secret.CreatedAt = time.UnixMicro(at).UTC()
	return secret, nil
}

// AddSecret implements [service.SecretStore]. Of two callers with the same number, one
// violates the primary key, runs again and finds the secret of the other.
func (d *DB) AddSecret(ctx context.Context, secret service.Secret) (added bool, err error) {
	err = d.write(ctx, func(ctx context.Context, s *session) error {
		var one int
		found, err := s.row(ctx, "SELECT 1 FROM secrets WHERE secret_number = ?", []any{secret.Number}, &one)
		if added = !found; err != nil || found {
			return err
		}
		_, err = s.exec(ctx, "INSERT INTO secrets (secret_number, value, created_at) VALUES (?, ?, ?)",
			secret.Number, base64.RawURLEncoding.EncodeToString(secret.Value[:]), secret.CreatedAt.UnixMicro())
		return err
	})
	return added && err == nil, err
}

// DeleteSecrets implements [service.SecretStore].
func (d *DB) DeleteSecrets(ctx context.Context, number int64) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		_, err := s.exec(ctx, "DELETE FROM secrets WHERE secret_number <= ?", number)
		return err
	})
}

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
