package store

import (
	"context"
	"time"
)

// AcquireLease tells whether the holder has the lease of that name now, until
// ttl has passed: because nobody had it, or it had expired, or it was the
// holder's already. The time is that of the callers' clocks, so a lease saves
// doing a job twice, but nothing may depend on it.
func (d *DB) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (acquired bool, err error) {
	err = d.write(ctx, func(ctx context.Context, s *session) error {
		now := transactionTime()
		n, err := s.exec(ctx, `UPDATE leases SET holder = ?, acquired_at = ?, expires_at = ?
			WHERE lease_name = ? AND (holder = ? OR expires_at <= ?)`,
			holder, now.UnixMicro(), now.Add(ttl).UnixMicro(), name, holder, now.UnixMicro())
		if acquired = n > 0; err != nil || acquired {
			return err
		}
		var other string
		taken, err := s.row(ctx, `SELECT holder FROM leases WHERE lease_name = ?`, []any{name}, &other)
		if err != nil || taken {
			return err
		}
		// Of two that get here at once, one violates the primary key, runs again
		// and finds the lease taken.
		_, err = s.exec(ctx, `INSERT INTO leases (lease_name, holder, acquired_at, expires_at) VALUES (?, ?, ?, ?)`,
			name, holder, now.UnixMicro(), now.Add(ttl).UnixMicro())
		acquired = err == nil
		return err
	})
	return acquired && err == nil, err
}

// RenewLease extends the lease until ttl from now. It returns false when the
// holder does not have it any more.
func (d *DB) RenewLease(ctx context.Context, name, holder string, ttl time.Duration) (renewed bool, err error) {
	err = d.write(ctx, func(ctx context.Context, s *session) error {
		n, err := s.exec(ctx, `UPDATE leases SET expires_at = ? WHERE lease_name = ? AND holder = ?`,
			transactionTime().Add(ttl).UnixMicro(), name, holder)
		renewed = n > 0
		return err
	})
	return renewed && err == nil, err
}

// ReleaseLease gives the lease back. One that the holder does not have is no
// error.
func (d *DB) ReleaseLease(ctx context.Context, name, holder string) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		_, err := s.exec(ctx, `DELETE FROM leases WHERE lease_name = ? AND holder = ?`, name, holder)
		return err
	})
}
