package migrate

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
)

// lockTable is the table whose only row is the lock.
const lockTable = "schema_lock"

// rowLock is a lock that works on every database and through every connection pooler. It
// is a row that has the name of the holder and a count of its heartbeats. Clocks are not
// compared: a waiting process takes over the lock if it has seen no heartbeat for the
// timeout by its own clock. So a holder that was killed delays others no longer than that.
//
// A holder that was only frozen may continue concurrently with its successor. That is why
// it must be safe to run steps again, and why a step can be recorded only once.
type rowLock struct {
	db       *sql.DB
	dialect  dialect
	holder   string        // a random string, different for each process
	interval time.Duration // between two heartbeats
	timeout  time.Duration // many intervals
}

var errLockLost = errors.New("migration lock lost: not renewed in time, and taken over by another process")

func lockRow(ctx context.Context, db *sql.DB, d dialect) (context.Context, func() error, error) {
	l := &rowLock{db: db, dialect: d, holder: rand.Text(), interval: time.Second, timeout: 15 * time.Second}
	return l.hold(ctx)
}

// hold waits for the lock and renews it until release is called. If the lock is lost, the
// returned context ends with the cause errLockLost.
func (l *rowLock) hold(ctx context.Context) (held context.Context, release func() error, err error) {
	if err := l.retry(ctx, l.prepare); err != nil {
		return nil, nil, err
	}
	if err := l.acquire(ctx); err != nil {
		return nil, nil, err
	}
	held, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.renew(held, cancel)
	}()
	return held, func() error {
		lost := context.Cause(held)
		cancel(nil)
		<-ended
		if errors.Is(lost, errLockLost) {
			return errLockLost
		}
		return l.unlock(context.WithoutCancel(ctx))
	}, nil
}

// prepare creates the table and the row. Another process may do so concurrently, and some
// databases then report that the table exists, even with IF NOT EXISTS. In that case the
// next attempt succeeds.
func (l *rowLock) prepare(ctx context.Context) error {
	names, err := l.dialect.listTables(ctx, l.db)
	if err != nil {
		return err
	}
	if !slices.Contains(names, lockTable) {
		_, err := l.db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS `+lockTable+` (
    lock_name VARCHAR(64) NOT NULL,
    holder    VARCHAR(64) NOT NULL,
    beats     BIGINT      NOT NULL,
    PRIMARY KEY (lock_name)
)`)
		if err != nil {
			return err
		}
	}
	if _, err = l.read(ctx); errors.Is(err, sql.ErrNoRows) {
		_, err = l.db.ExecContext(ctx, `INSERT INTO `+lockTable+` (lock_name, holder, beats) VALUES ('schema', '', 0)`)
	}
	return err
}

// lockState is the content of the row.
type lockState struct {
	holder string // "" if the lock is free
	beats  int64
}

func (l *rowLock) read(ctx context.Context) (s lockState, err error) {
	err = l.db.QueryRowContext(ctx, `SELECT holder, beats FROM `+lockTable+` WHERE lock_name = 'schema'`).Scan(&s.holder, &s.beats)
	return s, err
}

// replace replaces the state if it is unchanged. Both holders are generated here, so the
// query needs no placeholders.
func (l *rowLock) replace(ctx context.Context, was, is lockState) (done bool, err error) {
	result, err := l.db.ExecContext(ctx, fmt.Sprintf(
		`UPDATE `+lockTable+` SET holder = '%s', beats = %d WHERE lock_name = 'schema' AND holder = '%s' AND beats = %d`,
		is.holder, is.beats, was.holder, was.beats)) // #nosec G201 -- letters and numbers
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// acquire waits until the lock is free or has timed out, and takes it.
func (l *rowLock) acquire(ctx context.Context) error {
	var seen lockState
	since := time.Now()
	for {
		var taken bool
		err := l.retry(ctx, func(ctx context.Context) error {
			now, err := l.read(ctx)
			if err != nil {
				return err
			}
			if now != seen {
				seen, since = now, time.Now()
			}
			if now.holder != "" && now.holder != l.holder && time.Since(since) < l.timeout {
				return nil
			}
			taken, err = l.replace(ctx, now, lockState{l.holder, now.beats + 1})
			return err
		})
		if err != nil || taken {
			return err
		}
		if err := clock.Sleep(ctx, clock.Jitter(200*time.Millisecond)); err != nil {
			return err
		}
	}
}

// renew sends heartbeats until ctx ends. It cancels ctx if another process has, or may
// have, taken over the lock.
func (l *rowLock) renew(ctx context.Context, cancel context.CancelCauseFunc) {
	last := time.Now()
	ticker := time.NewTicker(l.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, err := l.read(ctx)
		if err == nil && now.holder == l.holder {
			_, err = l.replace(ctx, now, lockState{l.holder, now.beats + 1})
		}
		switch {
		case err == nil && now.holder != l.holder, time.Since(last) > l.timeout:
			cancel(errLockLost)
			return
		case err == nil:
			last = time.Now()
		}
	}
}

// unlock frees the lock, so that others need not wait for the timeout.
func (l *rowLock) unlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return l.retry(ctx, func(ctx context.Context) error {
		now, err := l.read(ctx)
		if err != nil || now.holder != l.holder {
			return err
		}
		_, err = l.replace(ctx, now, lockState{"", now.beats + 1})
		return err
	})
}

// retry calls attempt until it succeeds, up to ten times. Processes that start together
// collide, and the error of a collision depends on the database.
func (l *rowLock) retry(ctx context.Context, attempt func(ctx context.Context) error) error {
	var err error
	for range 10 {
		if err = attempt(ctx); err == nil || ctx.Err() != nil {
			return err
		}
		if clock.Sleep(ctx, clock.Jitter(100*time.Millisecond)) != nil {
			return err
		}
	}
	return err
}
