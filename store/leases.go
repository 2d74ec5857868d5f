package store

import (
	"context"
	"time"
)

// AcquireLease reports whether the holder now has the lease with the name, until ttl
// from now. It gets the lease if it is free, has expired or is the holder's already.
// Expiry is judged by the clocks of the callers, so a lease avoids duplicate work,
// but correctness must not depend on it. AcquireLease returns Unavailable if the
// database cannot be reached or stays too busy.
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
		// If two callers get here concurrently, one violates the primary key, runs
		// again and finds the lease taken.
		_, err = s.exec(ctx, insertLease, name, holder, now.UnixMicro(), now.Add(ttl).UnixMicro())
		acquired = err == nil
		return err
	})
	return acquired && err == nil, err
}

const insertLease = `INSERT INTO leases (lease_name, holder, acquired_at, expires_at) VALUES (?, ?, ?, ?)`

// RenewLease extends the lease until ttl from now. It returns false if the lease is
// no longer the holder's. A lease that has expired can be renewed as long as no other
// holder has acquired it. The errors are those of [DB.AcquireLease].
func (d *DB) RenewLease(ctx context.Context, name, holder string, ttl time.Duration) (renewed bool, err error) {
	err = d.write(ctx, func(ctx context.Context, s *session) error {
		n, err := s.exec(ctx, `UPDATE leases SET expires_at = ? WHERE lease_name = ? AND holder = ?`,
			transactionTime().Add(ttl).UnixMicro(), name, holder)
		renewed = n > 0
		return err
	})
	return renewed && err == nil, err
}

// ReleaseLease releases the lease. It does nothing if the holder does not have it.
// The errors are those of [DB.AcquireLease].
func (d *DB) ReleaseLease(ctx context.Context, name, holder string) error {
	return d.write(ctx, func(ctx context.Context, s *session) error {
		_, err := s.exec(ctx, `DELETE FROM leases WHERE lease_name = ? AND holder = ?`, name, holder)
		return err
	})
}

// lock waits for other transactions that hold the lock with the name, and holds it until this one ends.
func (s *session) lock(ctx context.Context, name string) error {
	found, err := s.exec(ctx, `UPDATE leases SET holder = holder WHERE lease_name = ?`, name)
	if err != nil || found > 0 {
		return err
	}
	// If two transactions get here concurrently, one waits for the other to end. It then
	// violates the primary key and runs again, unless the other has stored nothing.
	_, err = s.exec(ctx, insertLease, name, "", 0, 0)
	return err
}
