package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"time"

	"github.com/guidonhq/guidon/service"
)

var _ service.SecretStore = (*DB)(nil)

// Secrets implements [service.SecretStore].
func (d *DB) Secrets(ctx context.Context) ([]service.Secret, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]service.Secret, error) {
		return collect(ctx, s, "SELECT secret_number, value, created_at FROM secrets ORDER BY secret_number", nil, scanSecret)
	})
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
