package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
)

// proof identifies a transaction by its change records: no other transaction writes
// one with this stamp.
type proof struct {
	namespace string
	revision  guidon.Revision
}

// uncertain is returned when the response to a COMMIT was lost.
type uncertain struct {
	proof     *proof // nil if the caller may repeat the transaction
	cause     error
	committed func() // called if the transaction turns out to be committed
}

func (u *uncertain) Error() string { return u.cause.Error() }
func (u *uncertain) Unwrap() error { return u.cause }

// resolveOutcome determines whether the transaction was committed, and returns nil if
// it was. If it was not and never will be, it returns the cause, marked if running
// again may help. If it cannot find out within d.patience, it returns an Unavailable
// error that says that the outcome is unknown.
func (d *DB) resolveOutcome(ctx context.Context, u *uncertain) error {
	if u.proof == nil {
		return unavailable(messageUnknown, u.cause)
	}
	bounded, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		committed, err := d.wasCommitted(bounded, u.proof)
		switch {
		case err == nil && committed:
			u.committed()
			return nil
		case err == nil:
			return d.markRetryable(ctx, u.cause)
		case clock.Sleep(bounded, clock.Jitter(pause)) != nil:
			return unavailable(messageUnknown, u.cause)
		}
	}
}

// wasCommitted searches for the change record of the proof. The server may still be
// executing the transaction, or its COMMIT may still arrive, so wasCommitted first
// takes the lock that the transaction holds. Once it has the lock, the transaction
// has ended. It stores nothing.
func (d *DB) wasCommitted(ctx context.Context, p *proof) (bool, error) {
	committed := false
	err := d.writeOnce(ctx, func(ctx context.Context, s *session) error {
		n, err := s.exec(ctx, `UPDATE namespaces SET revision = revision + 1 WHERE namespace_key = ?`, p.namespace)
		if err != nil {
			return err
		}
		if n == 0 {
			// The transaction creates the row. This INSERT waits for that one, or blocks
			// it until we roll back.
			_, err := s.exec(ctx, insertNamespace, p.namespace, 0, 0, 1, 0, "{}")
			if err != nil {
				return err
			}
		}
		stored, found, err := s.stampAt(ctx, p.namespace, p.revision.Number)
		committed = found && stored == p.revision
		return cmp.Or(err, errNothingStored)
	})
	if !errors.Is(err, errNothingStored) {
		return false, err
	}
	return committed, nil
}
