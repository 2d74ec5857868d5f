package store

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
)

// proof identifies what a transaction stores: nobody else writes a change record
// with this stamp.
type proof struct {
	namespace string
	revision  guidon.Revision
}

// uncertain is the error of a COMMIT whose answer got lost.
type uncertain struct {
	proof     *proof // nil if the caller may repeat the transaction
	cause     error
	committed func() // called if it turns out to be committed
}

func (u *uncertain) Error() string { return u.cause.Error() }
func (u *uncertain) Unwrap() error { return u.cause }

// resolveOutcome finds out whether the transaction was committed. It returns nil when it
// was, the cause, marked when running again may help, when it was not and never
// will be, and otherwise, within bounds, an Unavailable that says that the
// outcome is unknown.
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
		case sleep(bounded, jitter(pause)) != nil:
			return unavailable(messageUnknown, u.cause)
		}
	}
}

// wasCommitted asks for the change record of the proof. The server may still be
// busy with the transaction, or with a COMMIT that is on its way; so it takes
// the lock that the transaction holds first. Once that is free, the transaction
// is over for good. Nothing of this is stored.
func (d *DB) wasCommitted(ctx context.Context, p *proof) (bool, error) {
	var stamp int64
	var found bool
	err := d.writeOnce(ctx, func(ctx context.Context, s *session) error {
		n, err := s.exec(ctx, `UPDATE namespaces SET revision = revision + 1 WHERE namespace_key = ?`, p.namespace)
		if err != nil {
			return err
		}
		if n == 0 {
			// The transaction would have created the row: a second one waits for
			// it, or takes its place until we roll back.
			_, err := s.exec(ctx, insertNamespace, p.namespace, 0, 0, 1, 0, "{}")
			if err != nil {
				return err
			}
		}
		found, err = s.row(ctx, `SELECT stamp FROM changes WHERE namespace_key = ? AND revision = ? ORDER BY seq LIMIT 1`,
			[]any{p.namespace, p.revision.Number}, &stamp)
		if err != nil {
			return err
		}
		return errNothingStored
	})
	if !errors.Is(err, errNothingStored) {
		return false, err
	}
	return found && stamp == p.revision.Stamp, nil
}
